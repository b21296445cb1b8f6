"""Ask for, grant, refuse and revoke waivers; remind of their end. All on record."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from datetime import datetime

from billing.core.errors import GpucostError
from billing.core.money import Money
from bot.ports import Store, UnitOfWork
from bot.use_cases.cards import post
from bot.use_cases.shown import shown_names
from bot.views.waivers import waiver_asked, waiver_decided, waiver_ending
from policies.core.facts import Facts
from policies.core.waivers import (
    Waiver,
    WaiverRefusedError,
    WaiverState,
    check_asked,
    check_decided,
    ends_soon,
)


class UnknownWaiverError(GpucostError):
    """There is no waiver of this id."""

    code = "unknown_waiver"
    hint = "`gpucost waiver list` lists them"

    def __init__(self, waiver_id: str) -> None:
        super().__init__(f"no waiver {waiver_id!r} is known")


def ask_waiver(  # noqa: PLR0913 - the keys of a waiver
    store: Store,
    *,
    policy: str,
    subject: str,
    owner: str,
    reason: str,
    until: datetime,
    cap: Money | None,
    channel: str,
    now: datetime,
) -> Waiver:
    """Store what somebody asks for, and tell who may grant it.

    Raises:
        BadWaiverError: It has no reason, or ends too late.
    """
    check_asked(reason=reason, until=until, now=now)
    waiver = Waiver(
        waiver_id=f"wvr-{secrets.token_hex(5)}",
        policy=policy,
        subject=subject.strip().lower(),
        owner=owner,
        reason=reason.strip(),
        until=until,
        cap=cap,
        state=WaiverState.ASKED,
        asked_at=now,
    )
    with store.write() as unit:
        unit.journal.add_waiver(waiver)
        _record(unit, "waiver asked", waiver, by=owner, now=now)
        if channel:
            message = waiver_asked(waiver, shown_names(unit, [owner]))
            unit.outbox.put(post(f"waiver:{waiver.waiver_id}", channel, message), now)
    return waiver


def decide_waiver(
    store: Store,
    waiver_id: str,
    state: WaiverState,
    *,
    by: str,
    admins: Collection[str],
    channel: str,
    now: datetime,
) -> Waiver:
    """Grant, refuse or revoke a waiver as an admin; its owner may revoke it too.

    Raises:
        UnknownWaiverError: There is none of this id.
        WaiverRefusedError: They may not, or somebody else decided first.
    """
    with store.write() as unit:
        waiver = unit.journal.waiver(waiver_id)
        if waiver is None:
            raise UnknownWaiverError(waiver_id)
        is_theirs = state is WaiverState.REVOKED and by == waiver.owner
        if by not in admins and not is_theirs:
            message = "only people of slack.admins decide waivers"
            raise WaiverRefusedError(message)
        check_decided(waiver, by=by, state=state)
        if not unit.journal.decide_waiver(waiver, state, by=by, now=now):
            message = f"waiver {waiver_id!r} was decided meanwhile"
            raise WaiverRefusedError(message)
        _record(unit, f"waiver {state.value}", waiver, by=by, now=now)
        decided = unit.journal.waiver(waiver_id)
        assert decided is not None
        if channel:
            told = waiver_decided(decided, shown_names(unit, [by, waiver.owner]))
            key = f"waiver:{waiver_id}:{state.value}"
            unit.outbox.put(post(key, channel, told), now)
    return decided


def spent_by_job(facts: Facts) -> Mapping[str, Money | None]:
    """Return what each job has cost so far, as waivers with a cap ask."""
    return {one.job.lower(): one.spent for one in facts.jobs}


def remind(unit: UnitOfWork, channel: str, now: datetime) -> None:
    """Tell once of every waiver that ends within a day, but for those of a press."""
    for waiver in unit.journal.waivers(since=now):
        is_of_press = waiver.decided_by == waiver.owner
        if channel and not is_of_press and ends_soon(waiver, now):
            message = waiver_ending(waiver, shown_names(unit, [waiver.owner]), now=now)
            unit.outbox.put(
                post(f"waiver:{waiver.waiver_id}:ending", channel, message), now
            )


def _record(
    unit: UnitOfWork, event: str, waiver: Waiver, *, by: str, now: datetime
) -> None:
    data = {
        "policy": waiver.policy,
        "subject": waiver.subject,
        "until": waiver.until.isoformat(),
        "cap": None if waiver.cap is None else waiver.cap.text(),
    }
    unit.audit.append(event, actor=by, subject=waiver.waiver_id, data=data, now=now)
