"""Untagged cost for a terminal, and as the JSON document of `gpucost untagged`; pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.documents import Document, instant, money
from bot.views.terminal import clean, table, when
from bot.views.untagged_values import (
    Confirmed,
    Suggestion,
    UntaggedAnswer,
    UntaggedItem,
)
from bot.views.untagged_words import (
    reasons_text,
    resources_text,
    suggestion_text,
)
from bot.views.words import days_of, plural, share, window

NOTHING = "no cost without a job in these days"


def untagged_text(answer: UntaggedAnswer, *, limit: int) -> str:
    """Return what `gpucost untagged` prints."""
    part = share(answer.total, answer.share_of)
    of = f" ({part} of all cost)" if part and answer.items else ""
    period = window(answer.since, answer.until)
    parts = [f"untagged: {answer.total}{of}, {period}"]
    if not answer.items:
        parts.append(NOTHING)
    parts += [_item(item) for item in answer.items[:limit]]
    left = len(answer.items) - limit
    if left > 0:
        parts.append(f"and {plural(left, 'more item')}: --limit {len(answer.items)}")
    parts.append(_confirmed(answer.confirmed))
    parts.append("\n".join(clean(f"not priced: {one}") for one in answer.unknown))
    if answer.items:
        parts.append("`gpucost untagged confirm ITEM --job JOB` gives an item to a job")
    return "\n\n".join(part for part in parts if part)


def _item(item: UntaggedItem) -> str:
    lines = [
        f"{item.total}  {item.item}",
        (
            f"  {days_of(item.since, item.until)}, {item.billed} billed,"
            f" {item.provisional} provisional"
        ),
    ]
    resources = resources_text(item)
    if resources:
        lines.append(f"  {resources}")
    if item.suggestion:
        lines.append(f"  probably {suggestion_text(item.suggestion)}")
        lines += [f"    {one.text} ({one.points})" for one in item.suggestion.reasons]
    else:
        lines.append(f"  unknown: {item.unknown}")
    lines += [
        f"  or {suggestion_text(one)}: {reasons_text(one)}" for one in item.others
    ]
    if item.suggestion is None:
        lines += [
            f"  {one.resource_id}: probably {suggestion_text(one.suggestion)}"
            for one in item.resources
            if one.suggestion
        ]
    return "\n".join(clean(line) for line in lines)


def _confirmed(confirmed: Sequence[Confirmed]) -> str:
    if not confirmed:
        return ""
    rows = [
        (
            f"  {one.number}",
            one.item,
            one.job,
            f"by {one.by}",
            f"{one.at:%Y-%m-%d}",
        )
        for one in confirmed
    ]
    return f"confirmed (`gpucost untagged undo NUMBER` takes one back)\n{table(rows)}"


def confirmed_text(one: Confirmed, *, moved: int, again: bool) -> str:
    """Return what `gpucost untagged confirm` prints."""
    if again:
        return clean(
            f"{one.item} was given to {one.job} before, as number {one.number}"
        )
    until = f"to {when(one.until)}" if one.until else "on"
    days = f"{plural(moved, 'day')} computed anew"
    second = f"from {when(one.since)} {until}; confirmation {one.number}; {days}"
    return f"{clean(f'{one.item} belongs to {one.job}')}\n{second}"


def undone_text(one: Confirmed, *, moved: int) -> str:
    """Return what `gpucost untagged undo` prints."""
    days = f"{plural(moved, 'day')} computed anew"
    return clean(f"{one.item} is no longer given to {one.job}; {days}")


def untagged_document(answer: UntaggedAnswer, *, limit: int | None) -> Document:
    """Return the document of `gpucost untagged`."""
    return {
        "currency": answer.currency,
        "since": instant(answer.since),
        "until": instant(answer.until),
        "total": money(answer.total),
        "all_cost": money(answer.share_of),
        "items_total": len(answer.items),
        "items": [_item_document(item) for item in answer.items[:limit]],
        "confirmed": [confirmed_document(one) for one in answer.confirmed],
        "unknown": [*answer.unknown],
        "stale": [one.source.value for one in answer.stale],
    }


def _item_document(item: UntaggedItem) -> Document:
    return {
        "item": item.item,
        "account": item.account,
        "region": item.region or None,
        "what": item.what,
        "usage_types": item.pattern,
        "total": money(item.total),
        "billed": money(item.billed),
        "provisional": money(item.provisional),
        "since": item.since.isoformat(),
        "until": item.until.isoformat(),
        "resources": [
            {
                "id": one.resource_id,
                "hours": one.hours,
                "started_at": instant(one.started_at),
                "suggestion": _suggestion(one.suggestion),
            }
            for one in item.resources
        ],
        "suggestion": _suggestion(item.suggestion),
        "others": [_suggestion(one) for one in item.others],
        "reason_unknown": item.unknown or None,
    }


def _suggestion(found: Suggestion | None) -> Document | None:
    if found is None:
        return None
    return {
        "job": found.job,
        "score": found.score,
        "reasons": [{"text": one.text, "points": one.points} for one in found.reasons],
    }


def confirmed_document(one: Confirmed) -> Document:
    """Return one confirmation that holds."""
    return {
        "number": one.number,
        "item": one.item,
        "job": one.job,
        "since": instant(one.since),
        "until": instant(one.until),
        "by": one.by,
        "at": instant(one.at),
    }
