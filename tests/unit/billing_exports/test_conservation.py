"""Random bills: no cent is lost, doubled or moved to another day or account."""

from __future__ import annotations

import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.core.charges import Bucket
from billing.core.money import NANOS_PER_UNIT
from tests.builders_exports import (
    ACCOUNT_A,
    ACCOUNT_B,
    LATER,
    aged,
    charges_in,
    cur_row,
    focus_row,
    ingest,
    write_csv,
)
from tests.fakes.ledger import InMemoryLedgerStore

if TYPE_CHECKING:
    from billing.core.charges import Charge

Row = dict[str, str]

_AMOUNTS = st.decimals(
    min_value=-(10**6), max_value=10**6, places=12, allow_nan=False
).map(lambda amount: f"{amount:f}")
_DAYS = st.integers(1, 30).map(lambda day: f"2026-09-{day:02}")
_ACCOUNTS = st.sampled_from([ACCOUNT_A, ACCOUNT_B])
_FOCUS = st.builds(
    lambda day, billed, effective, **over: focus_row(
        day, BilledCost=billed, EffectiveCost=effective, **over
    ),
    _DAYS,
    _AMOUNTS,
    _AMOUNTS,
    SubAccountId=_ACCOUNTS,
    ChargeCategory=st.sampled_from(
        ["Usage", "Usage", "Purchase", "Tax", "Credit", "Adjustment"]
    ),
    ChargeClass=st.sampled_from(["", "", "Correction"]),
    CommitmentDiscountStatus=st.sampled_from(["", "", "Used", "Unused"]),
    Tags=st.sampled_from(["", '{"job-id": "job-1"}', '{"JobId": "job-2"}', "{}"]),
    RegionId=st.sampled_from(["us-east-1", ""]),
)
_SLOW = [HealthCheck.too_slow]


def _nanos(rows: list[Row], column: str, *keys: str) -> Counter[tuple[str, ...]]:
    sums: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        key = tuple(row[name][:10] if "Start" in name else row[name] for name in keys)
        sums[key] += Fraction(Decimal(row[column])) * NANOS_PER_UNIT  # type: ignore[assignment] # exact
    return sums


def _charged(charges: list[Charge], part: str) -> Counter[tuple[str, ...]]:
    sums: Counter[tuple[str, ...]] = Counter()
    for one in charges:
        sums[one.account, one.day.isoformat()] += getattr(one, part).nanos
    return sums


@settings(max_examples=25, suppress_health_check=_SLOW)
@given(rows=st.lists(_FOCUS, min_size=1, max_size=12))
def test_days_of_accounts_sum_to_their_rows(rows: list[Row]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        charges = charges_in(write_csv(Path(folder) / "a.csv", rows))

    for column, part in (("BilledCost", "billed"), ("EffectiveCost", "effective")):
        wanted = _nanos(rows, column, "SubAccountId", "ChargePeriodStart")
        found = _charged(charges, part)
        # Each line is rounded once: half a nano-unit apart for each of them at most.
        assert {
            key for key in wanted if abs(wanted[key] - found[key]) * 2 > len(rows)
        } == set()
        assert {key for key in found if found[key]} <= set(wanted)
    assert all((one.bucket is Bucket.JOB) == bool(one.job) for one in charges)


@settings(max_examples=15, suppress_health_check=_SLOW)
@given(
    fees=st.lists(
        st.tuples(_AMOUNTS, st.integers(1, 30), st.integers(1, 30), _ACCOUNTS),
        min_size=1,
        max_size=6,
    )
)
def test_spread_fees_sum_to_what_was_not_used(
    fees: list[tuple[str, int, int, str]],
) -> None:
    rows = [
        cur_row("RIFee", f"2026-09-{min(one, two):02}") | {
            "lineItem/UsageAccountId": account,
            "lineItem/UsageEndDate": f"2026-09-{max(one, two):02}T23:59:59Z",
            "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": amount,
            "reservation/UnusedRecurringFee": "0",
        }
        for amount, one, two, account in fees
    ]  # fmt: skip
    store = InMemoryLedgerStore()
    with tempfile.TemporaryDirectory() as folder:
        path = aged(write_csv(Path(folder) / "a.csv", rows), LATER)
        found = ingest(store, path)

    assert found.errors == ()
    stored = [one for charges in store.ledger.rows.values() for one in charges]
    column = "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod"
    wanted = sum(_nanos(rows, column).values())
    assert abs(sum(one.effective.nanos for one in stored) - wanted) * 2 <= len(rows)
    for key, control in store.ledger.days.items():
        charges = store.ledger.rows[key]
        apart = control.effective.nanos - sum(one.effective.nanos for one in charges)
        assert abs(apart) <= 2 * len(rows)
