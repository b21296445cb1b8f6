"""Keep what a person says of untagged cost, and take it back; on the record.

The cost moves back in time: the days that the word reaches are computed anew. Who may
say it is looked up by who calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.assignments import Assignment
from billing.core.attribution import nearest, normalise_job
from billing.core.errors import GpucostError
from billing.core.periods import Period, day_of, days_between
from bot.ports import Store, UnitOfWork
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.untagged import kind_of_pattern, pattern_of
from bot.views.untagged_values import Confirmed, UntaggedAnswer

#: How far back a resource is looked for by its id.
LOOK_BACK = timedelta(days=400)
#: Days computed at once; later ones are left to the schedule, which knows they are due.
DAYS_AT_ONCE = 62
SUGGESTIONS_MAX = 3
MICROSECOND = timedelta(microseconds=1)


class UnknownItemError(GpucostError):
    """No such item is untagged in these days; nothing was changed."""

    code = "unknown_item"
    hint = "`gpucost untagged` lists the items there are"

    def __init__(self, item: str, known: Sequence[str]) -> None:
        super().__init__(f"nothing untagged is called {item!r}")
        self.suggestions = nearest(item, known, SUGGESTIONS_MAX)


class TakenItemError(GpucostError):
    """Somebody gave this item to another job before; nothing was changed."""

    code = "item_taken"

    def __init__(self, held: Assignment) -> None:
        super().__init__(f"{item_of(held)!r} was given to {held.job!r} before")
        self.hint = (
            f"`gpucost untagged undo {held.assignment_id}` takes that back first"
        )


class UnknownNumberError(GpucostError):
    """No confirmation of this number or item holds; nothing was changed."""

    code = "unknown_confirmation"
    hint = "`gpucost untagged` lists what was confirmed, with its number"

    def __init__(self, number: str) -> None:
        super().__init__(f"no confirmation {number!r} holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is given to a job: one resource, or one kind of usage in some days."""

    account: str
    region: str
    since: datetime
    until: datetime | None
    resource_id: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it.

    Attributes:
        days: How many days were computed anew.
        again: True when the same was kept before: nothing was changed.
    """

    assignment: Assignment
    days: int
    again: bool = False


def target_of(
    unit: UnitOfWork, item: str, listed: UntaggedAnswer, now: datetime
) -> Target:
    """Return what an item names: one of the list, or a resource by its id.

    Raises:
        UnknownItemError: With the nearest names.
    """
    for one in listed.items:
        if one.item.lower() == item.strip().lower():
            since = datetime.combine(
                one.since, datetime.min.time(), listed.since.tzinfo
            )
            until = datetime.combine(
                one.until, datetime.min.time(), listed.since.tzinfo
            )
            return Target(
                account=one.account,
                region=one.region,
                since=since,
                until=until,
                pattern=pattern_of(one.what),
            )
    found = [
        one
        for one in unit.ledger.intervals(Period(now - LOOK_BACK, now))
        if one.resource_id == item.strip()
    ]
    if not found:
        raise UnknownItemError(item, [one.item for one in listed.items])
    return Target(
        account=found[0].account,
        region="",
        since=min(one.started_at for one in found),
        until=None,
        resource_id=found[0].resource_id,
    )


def confirm(
    store: Store, target: Target, job: str, *, by: str, reason: str, now: datetime
) -> Outcome:
    """Give an item to a job, once; `by` is a pseudonym.

    Raises:
        UnknownJobError: With the nearest names.
        TakenItemError: It was given to another job.
    """
    name = normalise_job(job)
    with store.write() as unit:
        if unit.ledger.job_record(name) is None:
            raise UnknownJobError(job, unit.ledger.job_names())
        held = _held(unit, target)
        if held is not None and held.job == name:
            return Outcome(assignment=held, days=0, again=True)
        if held is not None:
            raise TakenItemError(held)
        kept = Assignment(
            job=name,
            account=target.account,
            since=target.since,
            until=target.until,
            by=by,
            at=now,
            resource_id=target.resource_id,
            usage_type=target.pattern,
            region=target.region,
            reason=reason,
        )
        number = unit.ledger.assign(kept, now)
        unit.audit.append(
            "untagged_confirmed",
            actor=by,
            subject=item_of(kept),
            data={"number": number, "job": name, "reason": reason, **_span(kept)},
            now=now,
        )
    return _applied(store, kept, number, now)


def undo(store: Store, number: str, *, by: str, now: datetime) -> Outcome:
    """Take a confirmation back, by its number or its item.

    Raises:
        UnknownNumberError: None of it holds.
    """
    with store.write() as unit:
        held = _named(unit, number)
        if held is None or held.assignment_id is None:
            raise UnknownNumberError(number)
        unit.ledger.end_assignment(held.assignment_id, by=by, now=now)
        unit.audit.append(
            "untagged_undone",
            actor=by,
            subject=item_of(held),
            data={"number": held.assignment_id, "job": held.job, **_span(held)},
            now=now,
        )
    return _applied(store, held, held.assignment_id, now)


def named(unit: UnitOfWork, number: str) -> Assignment:
    """Return a confirmation by its number or its item.

    Raises:
        UnknownNumberError: None of it holds.
    """
    held = _named(unit, number)
    if held is None:
        raise UnknownNumberError(number)
    return held


def confirmations(unit: UnitOfWork) -> tuple[Confirmed, ...]:
    """Return what people confirmed and still holds, newest first."""
    return tuple(confirmed_of(unit, one) for one in reversed(unit.ledger.assignments()))


def confirmed_of(unit: UnitOfWork, one: Assignment) -> Confirmed:
    """Return a confirmation with the name of who said it."""
    known = unit.people.lookup(one.by) or {}
    return Confirmed(
        number=one.assignment_id or 0,
        item=item_of(one),
        job=one.job,
        since=one.since,
        until=one.until,
        by=known.get("email") or known.get("name") or one.by,
        at=one.at,
    )


def item_of(one: Assignment) -> str:
    """Return an assignment as the item that it was."""
    if one.resource_id:
        return one.resource_id
    return f"{one.account}/{one.region or '-'}/{kind_of_pattern(one.usage_type)}"


def _held(unit: UnitOfWork, target: Target) -> Assignment | None:
    """Return a confirmation of the same thing whose days meet the target's."""
    for one in unit.ledger.assignments(account=target.account):
        same = (one.resource_id, one.usage_type, one.region) == (
            target.resource_id,
            target.pattern,
            target.region,
        )
        ends = one.until is not None and one.until <= target.since
        begins = target.until is not None and one.since >= target.until
        if same and not ends and not begins:
            return one
    return None


def _named(unit: UnitOfWork, number: str) -> Assignment | None:
    wanted = number.strip().lower().removeprefix("#")
    held = [*unit.ledger.assignments()]
    found = [
        one for one in held if wanted in {str(one.assignment_id), item_of(one).lower()}
    ]
    return found[-1] if found else None


def _span(one: Assignment) -> dict[str, str | None]:
    until = one.until.isoformat() if one.until else None
    return {"since": one.since.isoformat(), "until": until}


def _applied(store: Store, kept: Assignment, number: int, now: datetime) -> Outcome:
    """Compute the newest days it reaches anew, now; the others are due."""
    last = min(now, kept.until - MICROSECOND) if kept.until else now
    days = [*days_between(day_of(kept.since), day_of(last) + timedelta(days=1))]
    some = days[-DAYS_AT_ONCE:]
    with store.write() as unit:
        unit.ledger.reattribute(kept.account, some, now)
        stored = {
            one.assignment_id: one
            for one in unit.ledger.assignments(account=kept.account)
        }
    found = stored.get(number, kept)
    return Outcome(assignment=found, days=len(some))
