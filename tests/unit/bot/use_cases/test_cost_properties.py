"""Whatever a ledger holds: every cent once, in every breakdown the same."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from billing.core.charges import Bucket, ChargeCategory, CostCategory
from billing.core.fleet import InstanceState
from billing.core.money import Money, total
from billing.core.periods import DAY, start_of
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import ACCOUNT, REGION, at, day
from tests.builders_store import AUDIT_KEY
from tests.builders_use_cases import OTHER_ACCOUNT, Company, costs, rate, runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from billing.core.charges import Charge
    from billing.core.fleet import Instance
    from bot.views.answers import CostAnswer

FIRST = day("2026-11-24")
DAYS = 6
NOW = start_of(FIRST) + timedelta(days=DAYS - 1, hours=9)
HOURS = DAYS * 24 - 15
POLL_HOURS = 12
ACCOUNTS = (ACCOUNT, OTHER_ACCOUNT)
SCOPES = [(account, REGION) for account in ACCOUNTS]
JOBS = ("job-a", "job-b", "")


@dataclass(frozen=True)
class Bill:
    """One charge of the random bill."""

    account: str
    day: int
    job: str
    nanos: int
    is_storage: bool
    is_credit: bool
    hours: int


@dataclass(frozen=True)
class Run:
    """One instance of the random fleet, in hours after the first day's start."""

    account: str
    job: str
    start: int
    length: int | None
    then: str | None


bills = st.builds(
    Bill,
    account=st.sampled_from(ACCOUNTS),
    day=st.integers(0, DAYS - 1),
    job=st.sampled_from(JOBS),
    nanos=st.integers(1, 10**12),
    is_storage=st.booleans(),
    is_credit=st.booleans(),
    hours=st.integers(0, 60),
)
fleet = st.builds(
    Run,
    account=st.sampled_from(ACCOUNTS),
    job=st.sampled_from(JOBS),
    start=st.integers(0, HOURS - 1),
    length=st.none() | st.integers(1, 40),
    then=st.none() | st.sampled_from(JOBS),
)


@dataclass(frozen=True)
class World:
    """Bill, fleet, when each account is billed through, and since when watched."""

    bills: tuple[Bill, ...]
    fleet: tuple[Run, ...]
    through: tuple[int | None, int | None]
    watched: int | None


worlds = st.builds(
    World,
    bills=st.lists(bills, max_size=8).map(tuple),
    fleet=st.lists(fleet, max_size=4).map(tuple),
    through=st.tuples(*[st.none() | st.integers(0, DAYS - 1)] * 2),
    watched=st.none() | st.integers(0, HOURS),
)


def _hour(number: int) -> datetime:
    return start_of(FIRST) + timedelta(hours=number)


def _charge(one: Bill, number: int) -> Charge:
    sign = "-" if one.is_credit else ""
    return costs(
        str(FIRST + one.day * DAY),
        sign + Money(one.nanos).text(),
        job=one.job,
        account=one.account,
        bucket=Bucket.CREDITS if one.is_credit and not one.job else None,
        category=ChargeCategory.CREDIT if one.is_credit else ChargeCategory.USAGE,
        cost_category=CostCategory.STORAGE if one.is_storage else CostCategory.COMPUTE,
        # Two charges of one key are one row of the bill: number them apart.
        usage_type=f"{number}-BoxUsage:p5.48xlarge",
        quantity=str(one.hours),
    )


def _seen(world: World, hour: int) -> list[Instance]:
    """Return the fleet as a poll sees it at an hour."""
    seen = []
    for number, one in enumerate(world.fleet):
        end = None if one.length is None else one.start + one.length
        if one.start > hour or (end is not None and end <= hour - POLL_HOURS):
            continue  # Not yet, or ended before the poll before this one.
        has_ended = end is not None and end <= hour
        is_second = one.then is not None and hour >= (one.start + hour) // 2 + 1
        seen.append(
            runs(
                f"i-{number}",
                job=one.then if is_second and one.then is not None else one.job,
                since=_hour(one.start),
                account=one.account,
                state=InstanceState.TERMINATED if has_ended else InstanceState.RUNNING,
                ended=_hour(end) if has_ended and end is not None else None,
            )
        )
    return seen


@contextmanager
def _company(template: Path, world: World) -> Iterator[Company]:
    with TemporaryDirectory() as folder:
        path = shutil.copy(template, Path(folder) / "store.sqlite")
        store = SqlStore.open(f"sqlite:///{path}", StoreSettings(audit_key=AUDIT_KEY))
        try:
            company = Company(store, now=NOW)
            _fill(company, world)
            yield company
        finally:
            store.close()


def _fill(company: Company, world: World) -> None:
    company.is_priced(rate("10"))
    for account, through in zip(ACCOUNTS, world.through, strict=True):
        mine = [
            _charge(one, number)
            for number, one in enumerate(world.bills)
            if one.account == account
        ]
        if mine:
            company.bills(*mine, account=account)
        if through is not None:
            company.is_billed_through(str(FIRST + through * DAY), account=account)
    if world.watched is not None:
        for hour in sorted({*range(world.watched, HOURS, POLL_HOURS), HOURS}):
            company.is_watched(
                *_seen(world, hour), at_=min(_hour(hour), NOW), scanned=SCOPES
            )


def _sum(answer: CostAnswer) -> Money:
    return total(group.total for group in answer.groups)


@settings(max_examples=20)
@given(world=worlds)
def test_every_breakdown_adds_up_to_the_same_total(
    sqlite_template: Path, world: World
) -> None:
    with _company(sqlite_template, world) as company:
        since = str(FIRST)
        whole = company.ask(since=since)
        by = {
            name: company.ask(since=since, by=name)
            for name in ("job", "team", "category", "account", "day", "region")
        }
        jobs = {
            group.key: company.ask(group.key, since=since)
            for group in by["job"].groups
            if not group.key.startswith("bucket:")
        }

    assert whole.total == whole.billed + whole.provisional
    for name, answer in by.items():
        assert _sum(answer) == whole.total, name
        assert (answer.billed, answer.provisional) == (whole.billed, whole.provisional)
        assert answer.credits == whole.credits
    # What the question about one job says is what the breakdown says of it.
    for group in by["job"].groups:
        if group.key in jobs:
            answer = jobs[group.key]
            assert (answer.billed, answer.provisional) == (
                group.billed,
                group.provisional,
            )
            assert total(one.total for one in answer.by_category) == answer.total
            assert total(amount for _, amount, _ in answer.by_day) == answer.total


@settings(max_examples=20)
@given(world=worlds)
def test_a_day_of_an_account_is_billed_or_provisional_and_days_add_up(
    sqlite_template: Path, world: World
) -> None:
    with _company(sqlite_template, world) as company:
        whole = company.ask(since=str(FIRST))
        days = [FIRST + number * DAY for number in range(DAYS)]
        answers = {
            (account, one): company.ask(
                account=account, since=str(one), until=str(one + DAY)
            )
            for account in ACCOUNTS
            for one in days
        }

    for (account, one), answer in answers.items():
        assert not (answer.billed.nanos and answer.provisional.nanos)
        _is_what_decides(world, account, one, answer)
    assert total(one.total for one in answers.values()) == whole.total
    assert total(one.provisional for one in answers.values()) == whole.provisional


def _is_what_decides(world: World, account: str, on: date, answer: CostAnswer) -> None:
    """Hold one account and day against a reading of the rule written apart."""
    through = world.through[ACCOUNTS.index(account)]
    number = (on - FIRST).days
    bill = total(
        Money(one.nanos)
        for one in world.bills
        if (one.account, one.day) == (account, number) and not one.is_credit
    )
    hours = 0
    for one in world.fleet:
        end = HOURS if one.length is None else min(one.start + one.length, HOURS)
        was_seen = world.watched is not None and end > world.watched - POLL_HOURS
        if one.account == account and was_seen:
            start = max(one.start, number * 24)
            hours += max(0, min(end, (number + 1) * 24) - start)
    if through is not None and number < through:
        assert (answer.billed, answer.provisional) == (bill, Money.zero())
    elif world.watched is not None and number * 24 >= world.watched:
        assert answer.provisional == Money.of("10") * hours
    else:
        billed_hours = sum(
            one.hours
            for one in world.bills
            if (one.account, one.day) == (account, number)
        )
        is_stored = any(
            (one.account, one.day) == (account, number) for one in world.bills
        )
        uses_bill = is_stored and billed_hours >= hours
        expected = bill if uses_bill else Money.of("10") * hours
        assert answer.provisional == expected


def test_the_world_of_these_tests_ends_where_they_think() -> None:
    assert _hour(HOURS) == NOW == at("2026-11-29T09:00Z")
