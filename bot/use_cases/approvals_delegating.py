"""Hand one's approvals to somebody else while absent, and take them back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from billing.core.errors import GpucostError
from bot.ports import Directory, Store, UnitOfWork
from bot.use_cases.cards import post
from bot.views.approval_events import delegated
from policies.core.approvals import Person, is_no_voter
from policies.core.delegations import LONGEST, Delegation, Standing


class BadDelegationError(GpucostError, ValueError):
    """This cannot be handed over so; nothing changed."""

    code = "bad_delegation"
    exit_code = 2


def delegate(
    store: Store,
    absent: Person,
    to: Person,
    *,
    since: datetime,
    until: datetime,
    channel: str,
    now: datetime,
) -> Delegation:
    """Let somebody else speak for an approver; what was handed over before ends.

    Raises:
        BadDelegationError: To themselves, to nobody who may vote, or without a fair end.
    """
    why = _unfit(absent, to, since, until)
    if why:
        raise BadDelegationError(why)
    made = Delegation(
        delegation_id=f"dlg-{secrets.token_hex(5)}",
        from_id=absent.person_id,
        to_id=to.person_id,
        since=since,
        until=until,
    )
    with store.write() as unit:
        unit.journal.end_delegations(absent.person_id, now)
        unit.journal.add_delegation(made)
        _audit(unit, "approval_delegated", made, now)
        if channel:
            names = {one.person_id: one.slack_id or one.email for one in (absent, to)}
            told = delegated(made, people=names)
            unit.outbox.put(
                post(f"delegation:{made.delegation_id}", channel, told), now
            )
    return made


def _unfit(absent: Person, to: Person, since: datetime, until: datetime) -> str | None:
    if absent.person_id == to.person_id:
        return "expected somebody else to delegate to, got yourself"
    if until <= since:
        return f"expected an end after {since:%Y-%m-%d %H:%M} UTC"
    if until - since > LONGEST:
        return (
            f"a delegation ends within {LONGEST.days} days; change the policy instead"
        )
    why = is_no_voter(to)
    return (
        f"nothing can be handed to {to.email or to.slack_id!r}: {why}" if why else None
    )


def undelegate(store: Store, person_id: str, now: datetime) -> int:
    """Take one's approvals back; return how many delegations ended."""
    with store.write() as unit:
        mine = [
            one
            for one in unit.journal.delegations(now, person_id)
            if one.from_id == person_id
        ]
        for one in mine:
            _audit(unit, "approval_delegation_ended", one, now)
        return unit.journal.end_delegations(person_id, now)


def standing_of(
    store: Store, directory: Directory, person: Person, now: datetime
) -> Standing:
    """Return what delegations make of somebody, absent people as the directory has them."""
    with store.read() as unit:
        held = _active(unit, person, now)
        known = {one.from_id: unit.people.lookup(one.from_id) or {} for one in held}
    absent = [
        _found(directory, known[one.from_id])
        for one in held
        if one.to_id == person.person_id
    ]
    stands_for = [one for one in absent if one is not None]
    away = [one.until for one in held if one.from_id == person.person_id]
    return Standing(away_until=max(away, default=None), stands_for=tuple(stands_for))


def _found(directory: Directory, known: Mapping[str, str]) -> Person | None:
    """Return somebody as the directory knows them at this moment."""
    slack_id, email = known.get("slack_id", ""), known.get("email", "")
    found = directory.person(slack_id) if slack_id else None
    return found or (directory.person_by_email(email) if email else None)


def still_standing(
    unit: UnitOfWork, person: Person, standing: Standing, now: datetime
) -> Standing:
    """Return what is left of it when the transaction has begun."""
    held = _active(unit, person, now)
    away = [one.until for one in held if one.from_id == person.person_id]
    absent = {one.from_id for one in held}
    kept = tuple(one for one in standing.stands_for if one.person_id in absent)
    return replace(standing, away_until=max(away, default=None), stands_for=kept)


def _active(unit: UnitOfWork, person: Person, now: datetime) -> Sequence[Delegation]:
    if not person.person_id:
        return ()
    found = unit.journal.delegations(now, person.person_id)
    return [one for one in found if one.is_active(now)]


def _audit(unit: UnitOfWork, event: str, one: Delegation, now: datetime) -> None:
    unit.audit.append(
        event,
        actor=one.from_id,
        subject=one.delegation_id,
        data={"to": one.to_id, "since": str(one.since), "until": str(one.until)},
        now=now,
    )
