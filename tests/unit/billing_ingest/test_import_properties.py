"""What holds for the import whatever the bill does and wherever it fails."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from billing.core.charges import Charge
from billing.core.money import total
from billing.ingest import import_costs
from billing.ports import SourceUnavailableError
from tests.builders import NOW, day, make_charge
from tests.fakes.ledger import InMemoryLedgerStore
from tests.fakes.sources import InMemoryCostSource

SINCE, UNTIL = day("2026-11-01"), day("2026-11-06")

rows = st.builds(
    make_charge,
    on=st.sampled_from([f"2026-11-0{n}" for n in range(1, 6)]),
    account=st.sampled_from(["012345678901", "222222222222"]),
    job=st.sampled_from(["", "job-1", "job-2"]),
    billed=st.decimals("-500", "5000", places=9).map(str),
    is_estimated=st.booleans(),
)
bills = st.lists(rows, max_size=12)


def read(source: InMemoryCostSource, store: InMemoryLedgerStore, step: int) -> None:
    now = NOW + timedelta(hours=step)
    import_costs(source, store, since=SINCE, until=UNTIL, now=now)


def expected(bill: list[Charge]) -> dict[tuple[str, str], int]:
    keys = {(one.account, one.day.isoformat()) for one in bill}
    return {
        key: nanos
        for key in keys
        if (
            nanos := total(
                one.billed for one in bill if (one.account, one.day.isoformat()) == key
            ).nanos
        )
    }


def stored(
    store: InMemoryLedgerStore, accounts: set[str]
) -> dict[tuple[str, str], int]:
    return {
        (account, one.isoformat()): amount.nanos
        for (account, one), amount in store.ledger.sums().items()
        if amount.nanos and account in accounts
    }


@settings(max_examples=50)
@given(st.lists(bills, min_size=1, max_size=5))
def test_restated_days_always_end_at_the_last_control(
    versions: list[list[Charge]],
) -> None:
    source, store = InMemoryCostSource(), InMemoryLedgerStore()

    for step, bill in enumerate(versions):
        source.bill = bill
        read(source, store, step)

    named = {one.account for one in versions[-1]}
    assert stored(store, named) == expected(versions[-1])


@settings(max_examples=50)
@given(bills, bills, st.integers(0, 12))
def test_a_failure_at_any_request_leaves_each_account_old_or_new(
    old: list[Charge], new: list[Charge], at_request: int
) -> None:
    source, store = InMemoryCostSource(old), InMemoryLedgerStore()
    read(source, store, 0)
    before = stored(store, {"012345678901", "222222222222"})
    source.bill = new
    first = len(source.requests) + at_request
    source.fails = lambda _: (
        SourceUnavailableError("cost-explorer", "cut")
        if len(source.requests) > first
        else None
    )

    read(source, store, 1)

    after = stored(store, {"012345678901", "222222222222"})
    for account in ("012345678901", "222222222222"):
        mine = {key: v for key, v in after.items() if key[0] == account}
        was = {key: v for key, v in before.items() if key[0] == account}
        will = {key: v for key, v in expected(new).items() if key[0] == account}
        assert mine in (was, will)


@settings(max_examples=50)
@given(bills)
def test_running_twice_changes_nothing(bill: list[Charge]) -> None:
    source, store = InMemoryCostSource(bill), InMemoryLedgerStore()
    read(source, store, 0)
    first = dict(store.ledger.rows)

    read(source, store, 1)

    assert store.ledger.rows == first
