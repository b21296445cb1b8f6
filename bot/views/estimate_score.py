"""Past estimates and how good they were: the document and the text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from billing.core.estimate_history import PastEstimate, score
from bot.views.documents import Document, instant, money
from bot.views.terminal import amount, clean, table

#: Estimates listed; the score counts every one.
LISTED_MAX = 50


def score_document(past: Sequence[PastEstimate]) -> Document:
    """Return the document of ``gpucost estimates``."""
    found = score(past)
    return {
        "score": {
            "judged": found.judged,
            "waiting": found.waiting,
            "within": found.within,
            "coverage": _share(found.coverage),
            "median_error": _share(found.median_error),
        },
        "estimates": [_line(one) for one in past[:LISTED_MAX]],
    }


def _line(one: PastEstimate) -> Document:
    return {
        "job": one.job,
        "request": one.request_id or None,
        "made_at": instant(one.made_at),
        "instance_type": one.instance_type,
        "count": one.count,
        "hours": round(float(one.hours), 6),
        "purchase": one.purchase.value,
        "region": one.region,
        "currency": one.base.currency,
        "low": money(one.low),
        "expected": money(one.expected),
        "high": money(one.high),
        "actual": money(one.actual),
    }


def _share(share: Fraction | None) -> float | None:
    return None if share is None else round(float(share), 4)


def score_text(past: Sequence[PastEstimate]) -> str:
    """Return what ``gpucost estimates`` prints."""
    if not past:
        return "no estimate named a job yet: give `gpucost estimate` --job"
    head = ("job", "made", "run", "low", "expected", "high", "actual")
    rows = [
        (
            one.job, f"{one.made_at:%Y-%m-%d}",
            f"{one.count} x {one.instance_type}, {float(one.hours):g} h",
            str(one.low), str(one.expected), str(one.high),
            amount(one.actual) if one.actual else "not billed yet",
        )
        for one in past[:LISTED_MAX]
    ]  # fmt: skip
    shown = table([head, *rows], right=frozenset({3, 4, 5, 6}))
    return f"{clean(score(past).text)}\n\n{shown}"
