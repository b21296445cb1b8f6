"""Waivers: somebody's word that a policy leaves a subject alone, for a time and an amount.

A waiver names one policy and one subject, ends by itself, and may end earlier when the
subject has cost more than it allows. While it holds, its findings are recorded and
shown, and nobody is told and nothing is done. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from billing.core.errors import GpucostError
from billing.core.money import Money
from policies.core.finding import Evaluation, Finding
from policies.core.quantities import duration_text

#: No waiver lasts longer; what needs to is a change of the policy.
WAIVER_MAX = timedelta(days=90)
#: Its owner is reminded this long before the end.
REMIND_BEFORE = timedelta(hours=24)
REASON_MAX = 500


class WaiverState(StrEnum):
    """Where a waiver stands; asked for, then granted or refused, then over."""

    ASKED = "asked"
    GRANTED = "granted"
    REFUSED = "refused"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """One exception.

    Attributes:
        subject: Job, instance, team or location, as findings name it, lower case.
        owner: Pseudonym of who asked for it.
        cap: What the subject may cost in all while it is waived; None for no cap.
        decided_by: Pseudonym of who granted, refused or revoked it; "" before.
    """

    waiver_id: str
    policy: str
    subject: str
    owner: str
    reason: str
    until: datetime
    cap: Money | None
    state: WaiverState
    asked_at: datetime
    decided_at: datetime | None = None
    decided_by: str = ""


class BadWaiverError(GpucostError, ValueError):
    """What was asked for cannot be a waiver."""

    code = "bad_waiver"
    exit_code = 2


class WaiverRefusedError(GpucostError):
    """Somebody may not decide a waiver."""

    code = "waiver_refused"
    exit_code = 3


def check_asked(*, reason: str, until: datetime, now: datetime) -> None:
    """Refuse a waiver that ends too late or gives no reason.

    Raises:
        BadWaiverError: With what was expected.
    """
    if not reason.strip() or len(reason) > REASON_MAX:
        message = f"a waiver needs a reason of 1 to {REASON_MAX} characters"
        raise BadWaiverError(message)
    if not now < until <= now + WAIVER_MAX:
        message = (
            f"a waiver ends after now and within {duration_text(WAIVER_MAX)}, "
            f"got {until.isoformat()}"
        )
        raise BadWaiverError(message)


def check_decided(waiver: Waiver, *, by: str, state: WaiverState) -> None:
    """Refuse a decision that is not theirs, or that comes too late.

    Raises:
        WaiverRefusedError: With the reason.
    """
    if by == waiver.owner and state is WaiverState.GRANTED:
        message = "nobody grants a waiver that they asked for"
        raise WaiverRefusedError(message)
    wanted = WaiverState.GRANTED if state is WaiverState.REVOKED else WaiverState.ASKED
    if waiver.state is not wanted:
        message = f"waiver {waiver.waiver_id!r} is {waiver.state} already"
        raise WaiverRefusedError(message)


def holds(waiver: Waiver, *, spent: Money | None, now: datetime) -> bool:
    """Tell whether a waiver counts right now; an unknown cost passes no cap."""
    if waiver.state is not WaiverState.GRANTED or now >= waiver.until:
        return False
    if waiver.cap is None:
        return True
    if spent is None or spent.currency != waiver.cap.currency:
        return False
    return spent <= waiver.cap


def waive(
    evaluation: Evaluation,
    waivers: Iterable[Waiver],
    spent: Mapping[str, Money | None],
) -> Evaluation:
    """Mark the findings that a waiver covers; they keep everything but their actions.

    Args:
        evaluation: What was found.
        waivers: Any waivers; those that do not hold change nothing.
        spent: Cost so far by job.
    """
    live = {
        (one.policy, one.subject): one
        for one in waivers
        if holds(one, spent=spent.get(one.subject), now=evaluation.now)
    }
    if not live:
        return evaluation
    findings = tuple(_waived(one, live) for one in evaluation.findings)
    return replace(evaluation, findings=findings)


def _waived(finding: Finding, live: Mapping[tuple[str, str], Waiver]) -> Finding:
    names = (finding.subject.id.lower(), finding.job.lower())
    found = [live[key] for name in names if (key := (finding.policy, name)) in live]
    if not found:
        return finding
    return replace(finding, waiver=found[0].waiver_id, actions=())


def ends_soon(waiver: Waiver, now: datetime) -> bool:
    """Tell whether the owner of a live waiver should hear that it ends."""
    left = waiver.until - now
    return waiver.state is WaiverState.GRANTED and timedelta() < left <= REMIND_BEFORE
