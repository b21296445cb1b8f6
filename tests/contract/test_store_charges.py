"""What every bill ledger must do with imports and questions, on each database."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import (
    Bucket,
    Source,
)
from billing.core.money import MixedCurrencyError, Money
from billing.ledger.imports import (
    STAGING_MAX_AGE,
    ForeignChargeError,
    ImportSupersededError,
)
from billing.ledger.swap import ImbalanceError
from billing.ports import ImportReport
from tests.builders import ACCOUNT, NOW, day, make_charge, usd
from tests.builders_store import (
    CE,
    begin,
    controls_of,
    import_charges,
    off_by,
)

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

NOVEMBER = (date(2026, 11, 1), date(2026, 12, 1))
OTHER = "111111111111"


def _sums(store: SqlStore, by: str = "job", **filters: Any) -> dict[str, str]:
    """Sum cells of November over days, credits included."""
    sums: dict[str, Money] = {}
    with store.read() as unit:
        for cell in unit.ledger.cells(by, *NOVEMBER, **filters):
            sums[cell.key] = sums.get(cell.key, Money.zero()) + cell.billed
    return {key: amount.text() for key, amount in sums.items()}


def _report(state: str, message: str = "") -> ImportReport:
    return ImportReport(
        source=CE,
        account=ACCOUNT,
        since=NOVEMBER[0],
        until=NOVEMBER[1],
        charges=0,
        total=usd("0"),
        control_total=None,
        difference=None,
        requests=2,
        request_cost=usd("0.02"),
        state=state,
        message=message,
    )


def test_an_empty_ledger_has_no_currency_and_no_days(store: SqlStore) -> None:
    with store.read() as unit:
        assert unit.ledger.currency() is None
        assert unit.ledger.stored_days(CE, *NOVEMBER) == []
        assert unit.ledger.cells("job", *NOVEMBER) == []


def test_imported_charges_are_summed_by_job_and_bucket(store: SqlStore) -> None:
    charges = [
        make_charge(job="job-1", billed="10.50"),
        make_charge(job="job-1", billed="0.000000001", on="2026-11-02"),
        make_charge(job="", billed="4"),
        make_charge(job="", bucket=Bucket.OVERHEAD, billed="1", record_type="Tax"),
    ]

    report = import_charges(store, charges)

    assert (report.state, report.charges) == ("done", 4)
    assert report.difference == usd("0")
    assert _sums(store) == {
        "job-1": "10.500000001",
        "bucket:untagged": "4.00",
        "bucket:overhead": "1.00",
    }


def test_the_same_import_again_changes_nothing(store: SqlStore) -> None:
    charges = [make_charge(billed="10"), make_charge(job="", billed="250.00")]
    import_charges(store, charges)
    before = _sums(store)

    import_charges(store, charges)

    assert _sums(store) == before


def test_an_untagged_row_is_stored_once_however_often_it_is_read(
    store: SqlStore,
) -> None:  # C129
    charges = [make_charge(job="", billed="250.00", on="2026-11-03")]

    for _ in range(3):
        import_charges(store, charges)

    with store.read() as unit:
        (cell,) = unit.ledger.cells("job", *NOVEMBER)
    assert (cell.key, cell.billed, cell.charges) == (
        "bucket:untagged",
        usd("250.00"),
        1,
    )


def test_a_restated_day_replaces_the_old_one_and_leaves_the_others(
    store: SqlStore,
) -> None:
    import_charges(
        store,
        [make_charge(billed="10"), make_charge(billed="20", on="2026-11-02")],
    )

    import_charges(store, [make_charge(job="job-9", billed="12", on="2026-11-02")])

    assert _sums(store) == {"job-123": "10.00", "job-9": "12.00"}


def test_a_restatement_leaves_the_old_total_on_record(store: SqlStore) -> None:
    from sqlmodel import select

    from billing.ledger.tables import DayVersionRow

    import_charges(store, [make_charge(billed="10")])
    import_charges(store, [make_charge(billed="10")])
    import_charges(store, [make_charge(billed="11")])

    with store.read() as unit:
        rows = unit.session.exec(select(DayVersionRow)).all()
    assert [(row.old_billed, row.new_billed) for row in rows] == [
        (None, usd("10").nanos),
        (usd("10").nanos, usd("11").nanos),
    ]


def test_a_day_that_became_free_loses_its_charges(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="10")])

    import_charges(store, [], days=[day("2026-11-01")])

    assert _sums(store) == {}
    with store.read() as unit:
        (stored,) = unit.ledger.stored_days(CE, *NOVEMBER)
    assert stored.billed == usd("0")


def test_another_account_of_the_same_day_is_left_alone(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="10")])
    import_charges(store, [make_charge(billed="5", account=OTHER)], account=OTHER)

    import_charges(store, [make_charge(billed="11")])

    assert _sums(store, "account") == {ACCOUNT: "11.00", OTHER: "5.00"}
    assert _sums(store, "job", account=OTHER) == {"job-123": "5.00"}


def test_another_source_of_the_same_day_takes_the_place_of_the_first(
    store: SqlStore,
) -> None:
    import_charges(store, [make_charge(billed="10")])

    import_charges(store, [make_charge(billed="10.01")], source=Source.EXPORTS)

    assert _sums(store) == {"job-123": "10.01"}
    with store.read() as unit:
        assert unit.ledger.stored_days(CE, *NOVEMBER) == []


def test_staged_charges_are_invisible_until_they_are_swapped_in(
    store: SqlStore,
) -> None:
    charges = [make_charge(billed="10")]
    import_id = begin(store, controls_of(charges))

    with store.write() as unit:
        unit.ledger.stage(import_id, charges)

    assert _sums(store) == {}
    with store.read() as unit:
        assert unit.ledger.staged_totals(import_id) == {
            day("2026-11-01"): (usd("10"), usd("10"))
        }


@pytest.mark.parametrize(
    ("nanos", "is_accepted"),
    [(0, True), (4_999_999, True), (5_000_000, False), (-5_000_000, False)],
    ids=["equal", "within-a-cent", "a-cent-over", "a-cent-under"],
)
def test_sums_must_equal_the_control_to_the_cent(
    store: SqlStore, nanos: int, *, is_accepted: bool
) -> None:
    import_charges(store, [make_charge(billed="7")])
    charges = [make_charge(billed="10")]
    controls = [off_by(control, nanos) for control in controls_of(charges)]

    if is_accepted:
        import_charges(store, charges, controls=controls)
        assert _sums(store) == {"job-123": "10.00"}
    else:
        with pytest.raises(ImbalanceError, match=r"sum to 10\.00 USD"):
            import_charges(store, charges, controls=controls)
        assert _sums(store) == {"job-123": "7.00"}


def test_a_staged_day_without_a_control_is_refused(store: SqlStore) -> None:
    charges = [make_charge(billed="0"), make_charge(billed="0", on="2026-11-02")]
    controls = controls_of(charges)
    import_id = begin(store, controls)
    with store.write() as unit:
        unit.ledger.stage(import_id, charges)

    with pytest.raises(ImbalanceError), store.write() as unit:
        unit.ledger.swap(import_id, controls[:1], NOW)


def test_a_charge_of_another_account_is_refused(store: SqlStore) -> None:
    import_id = begin(store, controls_of([make_charge()]))

    with pytest.raises(ForeignChargeError, match=OTHER), store.write() as unit:
        unit.ledger.stage(import_id, [make_charge(account=OTHER)])


def test_a_newer_import_of_the_account_stops_the_older_one(store: SqlStore) -> None:
    charges = [make_charge(billed="10")]
    controls = controls_of(charges)
    old = begin(store, controls)
    with store.write() as unit:
        unit.ledger.stage(old, charges)

    new = begin(store, controls)

    with pytest.raises(ImportSupersededError), store.write() as unit:
        unit.ledger.stage(old, charges)
    with pytest.raises(ImportSupersededError), store.write() as unit:
        unit.ledger.swap(old, controls, NOW)
    with store.write() as unit:
        unit.ledger.stage(new, charges)
        unit.ledger.swap(new, controls, NOW)
    assert _sums(store) == {"job-123": "10.00"}


def test_a_superseded_import_that_closes_says_nothing_of_freshness(
    store: SqlStore,
) -> None:
    controls = controls_of([make_charge()])
    old = begin(store, controls)
    begin(store, controls)

    with store.write() as unit:
        unit.ledger.close_import(_report("failed", "superseded"), old, NOW)

    with store.read() as unit:
        assert unit.ledger.freshness() == []


def test_leftovers_of_long_dead_imports_are_cleared(store: SqlStore) -> None:
    charges = [make_charge(account=OTHER)]
    dead = begin(store, controls_of(charges, account=OTHER), account=OTHER)
    with store.write() as unit:
        unit.ledger.stage(dead, charges)

    begin(
        store,
        controls_of([make_charge()]),
        now=NOW + STAGING_MAX_AGE + timedelta(minutes=1),
    )

    with store.read() as unit:
        assert unit.ledger.staged_totals(dead) == {}


def test_two_accounts_may_be_imported_at_once(store: SqlStore) -> None:
    mine, theirs = [make_charge(billed="1")], [make_charge(billed="2", account=OTHER)]
    first = begin(store, controls_of(mine))
    second = begin(store, controls_of(theirs, account=OTHER), account=OTHER)

    with store.write() as unit:
        unit.ledger.stage(first, mine)
        unit.ledger.stage(second, theirs)
        unit.ledger.swap(second, controls_of(theirs, account=OTHER), NOW)
        unit.ledger.swap(first, controls_of(mine), NOW)

    assert _sums(store, "account") == {ACCOUNT: "1.00", OTHER: "2.00"}


def test_a_second_currency_is_refused_and_nothing_changes(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="10")])

    with pytest.raises(MixedCurrencyError, match="CNY") as refused:
        import_charges(store, [make_charge(billed="70", currency="CNY")])

    assert "database of its own" in refused.value.hint
    assert _sums(store) == {"job-123": "10.00"}
    with store.read() as unit:
        assert unit.ledger.currency() == "USD"


def test_a_ledger_of_another_currency_answers_in_it(store: SqlStore) -> None:
    import_charges(store, [make_charge(billed="70", currency="CNY")])

    with store.read() as unit:
        (cell,) = unit.ledger.cells("", *NOVEMBER)
    assert cell.billed == Money.of("70", "CNY")


def test_a_rejected_import_keeps_the_data_and_the_age_and_says_why(
    store: SqlStore,
) -> None:
    import_charges(store, [make_charge(billed="10")])
    import_id = begin(store, controls_of([make_charge()]))

    with store.write() as unit:
        unit.ledger.stage(import_id, [make_charge(billed="99")])
        unit.ledger.close_import(_report("rejected", "off by $1"), import_id, NOW)

    assert _sums(store) == {"job-123": "10.00"}
    with store.read() as unit:
        (fresh,) = unit.ledger.freshness()
        assert unit.ledger.staged_totals(import_id) == {}
    assert (fresh.as_of, fresh.reason) == (NOW, "off by $1")


def test_an_import_that_found_nothing_new_makes_the_facts_fresh(
    store: SqlStore,
) -> None:
    later = NOW + timedelta(hours=6)
    import_charges(store, [make_charge()])
    import_id = begin(store, controls_of([make_charge()]))

    with store.write() as unit:
        unit.ledger.close_import(_report("unchanged"), import_id, later)

    with store.read() as unit:
        (fresh,) = unit.ledger.freshness()
    assert (fresh.source, fresh.account) == (CE, ACCOUNT)
    assert (fresh.as_of, fresh.reason) == (later, "")


def test_equal_readings_are_counted_and_a_moved_day_starts_again(
    store: SqlStore,
) -> None:
    charges = [make_charge(billed="10")]
    import_charges(store, charges)
    moved = controls_of(charges, mark="moved")

    with store.write() as unit:
        unit.ledger.note_equal_reads(CE, controls_of(charges), NOW)
        unit.ledger.note_equal_reads(CE, moved, NOW)
    counts = [_equal_reads(store)]
    import_charges(store, charges, controls=moved)
    counts.append(_equal_reads(store))

    assert counts == [1, 0]


def _equal_reads(store: SqlStore) -> int:
    with store.read() as unit:
        (stored,) = unit.ledger.stored_days(CE, *NOVEMBER)
    return stored.equal_reads


def test_stored_days_keep_what_the_source_said(store: SqlStore) -> None:
    charges = [make_charge(billed="10", effective="8", is_estimated=True)]
    (control,) = controls_of(charges)

    import_charges(store, charges)

    with store.read() as unit:
        (stored,) = unit.ledger.stored_days(CE, *NOVEMBER)
        assert unit.ledger.stored_days(CE, date(2026, 10, 1), NOVEMBER[0]) == []
    assert (stored.account, stored.day) == (ACCOUNT, control.day)
    assert (stored.billed, stored.effective) == (usd("10"), usd("8"))
    assert stored.fingerprint == control.fingerprint
    assert stored.is_estimated
    assert stored.read_at == NOW
