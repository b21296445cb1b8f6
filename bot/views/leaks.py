"""Where the money of a run went, as JSON, for a terminal and for Slack; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from billing.core.leaks import LeakFound, LeakReport
from billing.core.money import Money
from bot.views.answers import CostAnswer
from bot.views.documents import cost_document, money
from bot.views.terminal import AT_LEAST, UNKNOWN, brief_text, clean, table


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakAnswer:
    """What a run cost, and what of it was avoidable.

    Attributes:
        cost: The answer about cost; its groups are the leaks and what is none.
        commitment_unused: What commitments nobody used cost in the window, which is no
            job's.
    """

    cost: CostAnswer
    report: LeakReport
    commitment_unused: Money

    @property
    def leaks(self) -> tuple[LeakFound, ...]:
        """Return every leak, known or not."""
        return self.report.leaks

    @property
    def is_at_least(self) -> bool:
        """Tell whether more may be avoidable than is known."""
        return any(one.missing for one in self.leaks)


def leaks_document(answer: LeakAnswer) -> dict[str, Any]:
    """Return the document of `gpucost cost JOB --by leak`."""
    return {
        **cost_document(answer.cost),
        "avoidable": money(answer.report.avoidable),
        "avoidable_is_at_least": answer.is_at_least,
        "leaks": [
            {
                "leak": one.leak.value,
                "amount": money(one.amount),
                "missing": one.missing or None,
                "evidence": [*one.evidence],
                "fix": one.fix or None,
            }
            for one in answer.leaks
        ],
        "commitment_unused": money(answer.commitment_unused),
    }


def leaks_text(answer: LeakAnswer) -> str:
    """Return what `gpucost cost JOB --by leak` prints."""
    known = [one for one in answer.leaks if one.amount is not None and one.amount.nanos]
    brief = replace(answer.cost, groups=())
    parts = [
        brief_text(brief),
        _groups(answer),
        clean(avoidable_line(answer)),
        "\n\n".join("\n".join(_known(one)) for one in known),
        _unknown([one for one in answer.leaks if one.missing]),
        _commitments(answer),
    ]
    return "\n\n".join(part for part in parts if part)


def _groups(answer: LeakAnswer) -> str:
    """Return what it was for: what was needed first, then the leaks."""
    leaks = {one.leak.value for one in answer.leaks}
    groups = sorted(answer.cost.groups, key=lambda one: one.key in leaks)
    rows = [
        (
            group.key,
            str(group.total),
            str(group.billed),
            UNKNOWN if group.provisional is None else str(group.provisional),
            "avoidable" if group.key in leaks else "",
        )
        for group in groups
    ]
    head = ("what for", "total", "billed", "provisional", "")
    return table([head, *rows], right=frozenset({1, 2, 3}))


def avoidable_line(answer: LeakAnswer) -> str:
    """Return the one line: ``of which avoidable at least $1,200.00 (12 %)``."""
    avoidable, total = answer.report.avoidable, answer.cost.total
    least = AT_LEAST if answer.is_at_least else ""
    if not avoidable.nanos:
        if answer.is_at_least:
            return "what of it was avoidable is not known"
        return "of which nothing was avoidable"
    share = Fraction(100 * avoidable.nanos, total.nanos) if total.nanos > 0 else None
    told = "" if share is None else f" ({_percent(share)})"
    return f"of which avoidable {least}{avoidable}{told}"


def _percent(share: Fraction) -> str:
    return f"{float(share):.1f} %" if share < 10 else f"{round(share)} %"  # noqa: PLR2004 - digits that matter


def _known(one: LeakFound) -> Iterable[str]:
    least = AT_LEAST if one.missing else ""
    yield clean(f"{one.leak.value}: {least}{one.amount}")
    if one.evidence:
        yield clean(f"  {'; '.join(one.evidence)}")
    yield clean(f"  fix: {one.fix}")


def _unknown(missing: list[LeakFound]) -> str:
    if not missing:
        return ""
    rows = [(f"  {one.leak.value}", one.missing) for one in missing]
    return f"what is not known\n{table(rows)}"


def _commitments(answer: LeakAnswer) -> str:
    if not answer.commitment_unused.nanos:
        return ""
    return (
        f"beside it, commitments nobody used cost {answer.commitment_unused} in this"
        " time; they are no job's"
    )
