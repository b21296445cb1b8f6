"""Who is told what about findings, and what they resolve; pure, it does none of it.

Call it with the findings as they were stored *before* this evaluation is recorded.
A finding is told once, again when it got worse, and once a day while it lasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from policies.core.document import Mode
from policies.core.finding import Evaluation, Finding, Severity

REMINDER_AFTER = timedelta(days=1)
#: A finding that comes back sooner than this after it was resolved is not news.
FLAPPING = timedelta(minutes=30)
#: Cost at stake must have grown by half, and an hour passed, to be worth repeating.
WORSE_FACTOR = Fraction(3, 2)
WORSE_AFTER = timedelta(hours=1)
NOTICES_MAX = 50
_LOUDNESS = {Severity.INFO: 0, Severity.WARNING: 1, Severity.CRITICAL: 2}


class Stored(Protocol):
    """A finding as the journal holds it, as much of it as decides."""

    @property
    def finding(self) -> Finding:
        """Return the finding as it was last seen."""

    @property
    def resolved_at(self) -> datetime | None:
        """Return when it stopped to hold; None while open."""

    @property
    def notified_at(self) -> datetime | None:
        """Return when its owner was last told; None when never."""


S = TypeVar("S", bound=Stored)


class Why(StrEnum):
    """Why somebody is told."""

    NEW = "new"
    WORSE = "worse"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One finding to tell its owner about."""

    finding: Finding
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions(Generic[S]):
    """What follows from one evaluation.

    Attributes:
        notices: What to post, the loudest and costliest first.
        left_out: Notices beyond the limit of one evaluation; they come up again.
        record: Findings to pass to the journal: those found, and open ones whose
            subject could not be judged, which therefore stay open.
        resolved: Open findings that no longer hold.
    """

    notices: tuple[Notice, ...]
    left_out: int
    record: tuple[Finding, ...]
    resolved: tuple[S, ...]


def decide(
    evaluation: Evaluation,
    stored: Sequence[S],
    now: datetime,
    *,
    notices_max: int = NOTICES_MAX,
) -> Decisions[S]:
    """Decide what to tell and what has ended.

    Args:
        evaluation: What was found.
        stored: Open findings; recently resolved ones may be among them.
        now: The instant of the decision.
        notices_max: Most notices of one evaluation.
    """
    known = {one.finding.fingerprint: one for one in stored}
    found = {finding.fingerprint: finding for finding in evaluation.findings}
    notices = [
        Notice(finding=finding, why=why)
        for fingerprint, finding in found.items()
        if (why := _why(finding, known.get(fingerprint), now)) is not None
    ]
    notices.sort(key=_loudest_first)
    kept, resolved = _rest(evaluation, found, stored)
    return Decisions(
        notices=tuple(notices[:notices_max]),
        left_out=max(0, len(notices) - notices_max),
        record=(*evaluation.findings, *kept),
        resolved=resolved,
    )


def _why(finding: Finding, stored: Stored | None, now: datetime) -> Why | None:
    """Return why a finding is told now; None when it is not."""
    if finding.mode == Mode.OBSERVE or finding.severity is Severity.INFO:
        return None
    if finding.waiver:
        return None
    if stored is None or stored.notified_at is None:
        return Why.NEW
    since = now - stored.notified_at
    if stored.resolved_at is not None:
        is_flapping = now - stored.resolved_at < FLAPPING and since < REMINDER_AFTER
        return None if is_flapping else Why.NEW
    if _is_louder(finding, stored.finding):
        return Why.WORSE
    if since >= WORSE_AFTER and _costs_more(finding, stored.finding):
        return Why.WORSE
    return Why.REMINDER if since >= REMINDER_AFTER else None


def _is_louder(finding: Finding, before: Finding) -> bool:
    return _LOUDNESS[finding.severity] > _LOUDNESS[before.severity]


def _costs_more(finding: Finding, before: Finding) -> bool:
    at_stake, was = finding.cost_at_stake, before.cost_at_stake
    if at_stake is None or was is None or at_stake.currency != was.currency:
        return False
    return at_stake.nanos > was.nanos * WORSE_FACTOR


def _loudest_first(notice: Notice) -> tuple[object, ...]:
    finding = notice.finding
    at_stake = finding.cost_at_stake.nanos if finding.cost_at_stake else 0
    return (-_LOUDNESS[finding.severity], -at_stake, finding.policy, finding.subject)


def _rest(
    evaluation: Evaluation,
    found: Mapping[str, Finding],
    stored: Sequence[S],
) -> tuple[tuple[Finding, ...], tuple[S, ...]]:
    """Split open findings not found again: not judged now, or resolved."""
    unknown = {(one.policy, one.subject) for one in evaluation.unknown}
    kept: list[Finding] = []
    resolved: list[S] = []
    for one in sorted(stored, key=lambda each: each.finding.fingerprint):
        finding = one.finding
        is_open = one.resolved_at is None and finding.policy in evaluation.judged
        if not is_open or finding.fingerprint in found:
            continue
        if (finding.policy, finding.subject) in unknown:
            kept.append(finding)
        else:
            resolved.append(one)
    return tuple(kept), tuple(resolved)
