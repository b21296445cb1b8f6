"""Idle GPUs, commitments and checkpoints for a terminal and as JSON; pure."""

from __future__ import annotations

from bot.views.documents import Document, instant, money
from bot.views.facts_values import (
    CheckpointsAnswer,
    CoverageAnswer,
    IdleAnswer,
    IdleItem,
)
from bot.views.facts_words import (
    NO_FAMILIES,
    NO_INSTANCES,
    NO_LOCATIONS,
    idle_headline,
    idle_why,
    pct,
    signal_name,
    steps_text,
)
from bot.views.terminal import amount, clean, table, when
from bot.views.words import binary_size, days_of, duration, plural


def idle_text(answer: IdleAnswer) -> str:
    """Return what `gpucost idle` prints."""
    if not answer.items:
        return NO_INSTANCES
    rows = [
        (
            one.state,
            one.resource_id,
            one.instance_type,
            one.job or "(no job)",
            amount(one.rate),
            idle_why(one),
        )
        for one in answer.items
    ]
    head = ("state", "instance", "type", "job", "costs", "why")
    parts = [idle_headline(answer), table([head, *rows], right=frozenset({4}))]
    parts.append(
        f"quiet means: {_limits(answer.items[0])} for {duration(answer.window)}"
    )
    parts.append("\n".join(clean(f"not read: {one}") for one in answer.failures))
    return "\n\n".join(part for part in parts if part)


def _limits(one: IdleItem) -> str:
    pairs = one.limits.items()
    return ", ".join(f"{signal_name(name)} {limit}" for name, limit in pairs)


def idle_document(answer: IdleAnswer) -> Document:
    """Return the document of `gpucost idle`."""
    return {
        "currency": answer.currency,
        "now": instant(answer.now),
        "as_of": instant(answer.as_of),
        "window_minutes": answer.window.total_seconds() / 60,
        "items": [
            {
                "resource": one.resource_id,
                "account": one.account,
                "region": one.region,
                "instance_type": one.instance_type,
                "purchase": one.lifecycle,
                "job": one.job or None,
                "team": one.team or None,
                "owner": one.owner or None,
                "gpus": one.gpus,
                "state": one.state,
                "signals": [
                    {
                        "name": name,
                        "highest": one.signals.get(name),
                        "limit": limit,
                    }
                    for name, limit in one.limits.items()
                ],
                "busy": [*one.busy],
                "missing": [*one.missing],
                "quiet_minutes": None
                if one.quiet_for is None
                else round(one.quiet_for.total_seconds() / 60, 1),
                "running_since": instant(one.running_since),
                "per_hour": money(one.rate),
            }
            for one in answer.items
        ],
        "not_read": [*answer.failures],
    }


def coverage_text(answer: CoverageAnswer) -> str:
    """Return what `gpucost coverage` prints."""
    if not answer.items and not answer.missing:
        return NO_FAMILIES
    head = ("family", "covered", "of baseline", "used", "not covered", "eligible")
    rows = [
        (
            one.family,
            pct(one.covered_pct),
            pct(one.baseline_covered_pct),
            pct(one.utilization_pct, none="no commitment"),
            str(one.open_),
            str(one.eligible),
        )
        for one in answer.items
    ]
    title = f"commitments, {days_of(answer.since, answer.until)}"
    parts = [title]
    if rows:
        parts.append(table([head, *rows], right=frozenset({1, 2, 3, 4, 5})))
    if answer.missing:
        parts.append(f"no eligible use of {', '.join(answer.missing)} in these days")
    return "\n\n".join(clean_lines(part) for part in parts)


def clean_lines(text: str) -> str:
    """Return lines without control characters."""
    return "\n".join(clean(line) for line in text.split("\n"))


def coverage_document(answer: CoverageAnswer) -> Document:
    """Return the document of `gpucost coverage`."""
    return {
        "currency": answer.currency,
        "since": answer.since.isoformat(),
        "until": answer.until.isoformat(),
        "items": [
            {
                "family": one.family,
                "covered": money(one.covered),
                "eligible": money(one.eligible),
                "not_covered": money(one.open_),
                "covered_pct": _rounded(one.covered_pct),
                "baseline_covered_pct": _rounded(one.baseline_covered_pct),
                "utilization_pct": _rounded(one.utilization_pct),
            }
            for one in answer.items
        ],
        "no_data": [*answer.missing],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def checkpoints_text(answer: CheckpointsAnswer) -> str:
    """Return what `gpucost checkpoints` prints."""
    if not answer.locations:
        return NO_LOCATIONS
    where = ", ".join(answer.locations)
    head = ("job", "checkpoints", "size", "per month", "steps", "newest")
    rows = [
        (
            one.job or "(no job)",
            f"{one.checkpoints:,}",
            binary_size(one.size_bytes),
            amount(one.per_month),
            steps_text(one.first_step, one.last_step),
            when(one.newest_at),
        )
        for one in answer.items
    ]
    size = binary_size(sum(one.size_bytes for one in answer.items))
    count = sum(one.checkpoints for one in answer.items)
    parts = [f"{plural(count, 'checkpoint')}, {size}, in {where}"]
    if rows:
        parts.append(table([head, *rows], right=frozenset({1, 2, 3})))
        parts.append(f"per month: {answer.price}\nother storage classes are unknown")
    parts.append("\n".join(f"not read whole: {one}" for one in answer.failures))
    return "\n\n".join(clean_lines(part) for part in parts if part)


def checkpoints_document(answer: CheckpointsAnswer) -> Document:
    """Return the document of `gpucost checkpoints`."""
    return {
        "currency": answer.currency,
        "price": answer.price,
        "locations": [*answer.locations],
        "items": [
            {
                "location": one.location,
                "folder": one.folder,
                "job": one.job or None,
                "checkpoints": one.checkpoints,
                "objects": one.objects,
                "bytes": one.size_bytes,
                "storage_classes": dict(one.classes),
                "per_month": money(one.per_month),
                "first_step": one.first_step,
                "last_step": one.last_step,
                "oldest_at": instant(one.oldest_at),
                "newest_at": instant(one.newest_at),
                "complete": one.is_complete,
            }
            for one in answer.items
        ],
        "not_read": [*answer.failures],
    }
