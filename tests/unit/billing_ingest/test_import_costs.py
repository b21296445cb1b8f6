"""Importing a bill: replaced whole, checked against its totals, each account alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest

from billing.core.charges import Bucket, Charge, ChargeCategory, Source
from billing.core.money import Money
from billing.ingest import IngestResult, import_costs
from billing.ports import (
    AnswerChangedError,
    IncompleteAnswerError,
    SourceUnavailableError,
    TagKeyStatus,
)
from tests.builders import NOW, at, day, make_charge, usd
from tests.fakes.ledger import InMemoryLedgerStore
from tests.fakes.sources import InMemoryCostSource

ACCOUNT = "012345678901"
OTHER = "222222222222"
SINCE, UNTIL = day("2026-11-01"), day("2026-12-01")


def run(
    source: InMemoryCostSource,
    store: InMemoryLedgerStore,
    *,
    now: datetime = NOW,
    full: bool = False,
) -> IngestResult:
    source.read_at = now
    return import_costs(source, store, since=SINCE, until=UNTIL, now=now, full=full)


def denied(where: str) -> Callable[[str], SourceUnavailableError | None]:
    def fail(place: str) -> SourceUnavailableError | None:
        if not place.startswith(where):
            return None
        return SourceUnavailableError("cost-explorer", "denied", cause="AccessDenied")

    return fail


def once(
    where: str, error: SourceUnavailableError
) -> Callable[[str], SourceUnavailableError | None]:
    left = [error]

    def fail(place: str) -> SourceUnavailableError | None:
        return left.pop() if place == where and left else None

    return fail


def billed(store: InMemoryLedgerStore, account: str = ACCOUNT) -> dict[date, Money]:
    sums = store.ledger.sums()
    return {d: one for (owner, d), one in sums.items() if owner == account if one.nanos}


@pytest.fixture
def store() -> InMemoryLedgerStore:
    return InMemoryLedgerStore()


def test_a_first_import_stores_every_day_and_reaches_the_control(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource(
        [
            make_charge(on="2026-11-01", billed="60"),
            make_charge(on="2026-11-01", billed="40", job="job-7"),
            make_charge(on="2026-11-02", billed="5.50"),
        ]
    )

    result = run(source, store)

    assert billed(store) == {
        day("2026-11-01"): usd("100"),
        day("2026-11-02"): usd("5.50"),
    }
    (report,) = result.imports
    assert (report.state, report.total, report.difference) == (
        "done",
        usd("105.50"),
        usd("0"),
    )
    assert report.requests == len(source.requests)
    assert report.request_cost == Money.of("0.01") * len(source.requests)


def test_a_refresh_in_which_nothing_moved_costs_two_requests(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge()])
    run(source, store)
    before = dict(store.ledger.rows)
    source.requests.clear()

    (report,) = run(source, store, now=NOW + timedelta(hours=6)).imports

    assert source.requests == ["controls", "controls by account"]
    assert (report.state, report.requests) == ("unchanged", 2)
    assert store.ledger.rows == before


def test_a_restated_day_replaces_the_old_one_and_only_it_is_read(
    store: InMemoryLedgerStore,
) -> None:  # C010
    source = InMemoryCostSource(
        [
            make_charge(on="2026-11-05", billed="80.00", is_estimated=True),
            make_charge(on="2026-11-20", billed="1.00"),
        ]
    )
    run(source, store)
    source.bill[0] = make_charge(on="2026-11-05", billed="112.40")

    (report,) = run(source, store).imports

    assert billed(store)[day("2026-11-05")] == usd("112.40")
    assert (report.since, report.until) == (day("2026-11-05"), day("2026-11-06"))
    stored = store.ledger.days[Source.COST_EXPLORER, ACCOUNT, day("2026-11-05")]
    assert not stored.is_estimated


@pytest.mark.parametrize(
    "failing", ["controls", "tags", f"charges {ACCOUNT} 0", f"charges {ACCOUNT} 1"]
)
def test_a_failure_at_any_request_leaves_the_old_day(
    store: InMemoryLedgerStore, failing: str
) -> None:  # C002
    source = InMemoryCostSource([make_charge(billed="900")])
    run(source, store)
    before = dict(store.ledger.rows)
    source.bill = [make_charge(billed="100") for _ in range(4)]
    source.fails = denied(failing)

    result = run(source, store)

    assert store.ledger.rows == before
    assert [one.code for one in result.errors] == ["AccessDenied"]
    assert [one.state for one in result.imports] == ["failed"]
    assert store.ledger.imports == {}


def test_a_failure_of_the_controls_after_the_detail_changes_nothing(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge(billed="900")])
    run(source, store)
    source.bill = [make_charge(billed="100")]
    source.after = lambda place: setattr(
        source, "fails", denied("controls" if place.startswith("charges") else "-")
    )

    result = run(source, store)

    assert billed(store) == {day("2026-11-01"): usd("900")}
    assert [one.state for one in result.imports] == ["failed"]


def test_pages_that_changed_are_read_once_more_from_the_start(
    store: InMemoryLedgerStore,
) -> None:  # C002
    source = InMemoryCostSource([make_charge(billed="10") for _ in range(4)])
    source.fails = once(
        f"charges {ACCOUNT} 1", AnswerChangedError("cost-explorer", "changed")
    )

    (report,) = run(source, store).imports

    assert (report.state, report.charges, report.total) == ("done", 4, usd("40"))


def test_an_account_that_fails_does_not_stop_the_others(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge(), make_charge(account=OTHER)])
    source.fails = denied(f"charges {ACCOUNT}")

    result = run(source, store)

    assert [(one.account, one.state) for one in result.imports] == [
        (ACCOUNT, "failed"),
        (OTHER, "done"),
    ]
    assert billed(store, OTHER) == {day("2026-11-01"): usd("10")}
    assert [(one.account, one.code) for one in result.errors] == [
        (ACCOUNT, "AccessDenied")
    ]


def test_detail_that_misses_the_control_is_rejected_and_says_by_how_much(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge(billed="900")])
    run(source, store)
    source.bill = [make_charge(billed="700"), make_charge(billed="300", job="job-7")]
    source.lose = lambda one: one.job == "job-7"

    result = run(source, store)

    assert billed(store) == {day("2026-11-01"): usd("900")}
    (report,) = result.imports
    assert (report.state, report.difference) == ("rejected", usd("-300"))
    assert "$700.00" in report.message
    assert "$1,000.00" in report.message


@pytest.mark.parametrize(
    ("lost", "state"),
    [
        pytest.param("0.004999999", "done", id="just-under-half-a-cent"),
        pytest.param("0.005", "rejected", id="half-a-cent"),
    ],
)
def test_sums_must_reach_the_control_to_the_cent(
    store: InMemoryLedgerStore, lost: str, state: str
) -> None:
    source = InMemoryCostSource([make_charge(), make_charge(billed=lost, job="dust")])
    source.lose = lambda one: one.job == "dust"

    (report,) = run(source, store).imports

    assert report.state == state


def test_effective_cost_must_reach_its_control_too(store: InMemoryLedgerStore) -> None:
    source = InMemoryCostSource(
        [make_charge(), make_charge(billed="0", effective="3", job="plan")]
    )
    source.lose = lambda one: one.job == "plan"

    (report,) = run(source, store).imports

    assert report.state == "rejected"
    assert "effective" in report.message


def test_a_day_that_moves_while_it_is_read_is_read_again(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge(billed="10")])
    moves = ["20"]

    def move(place: str) -> None:
        if place.startswith("charges") and moves:
            source.bill = [make_charge(billed=moves.pop())]

    source.after = move

    (report,) = run(source, store).imports

    assert (report.state, report.total) == ("done", usd("20"))
    assert billed(store) == {day("2026-11-01"): usd("20")}


def test_a_day_that_never_rests_is_rejected_after_two_more_readings(
    store: InMemoryLedgerStore,
) -> None:
    source = InMemoryCostSource([make_charge(billed="10")])
    readings = []

    def move(place: str) -> None:
        if place.startswith("charges"):
            readings.append(place)
            source.bill = [make_charge(billed=str(10 + len(readings)))]

    source.after = move

    (report,) = run(source, store).imports

    assert report.state == "rejected"
    assert len(readings) == 3
    assert billed(store) == {}


def test_a_changed_tag_activation_reads_every_day_again(
    store: InMemoryLedgerStore,
) -> None:  # C031
    source = InMemoryCostSource(
        [
            make_charge(on="2026-11-01", job="", billed="700"),
            make_charge(on="2026-11-20", job="", billed="5"),
        ]
    )
    run(source, store)
    source.keys = [
        TagKeyStatus(key="job-id", state="active", active_since=day("2026-11-25"))
    ]
    source.bill = [
        make_charge(on="2026-11-01", job="nlp", billed="700"),
        make_charge(on="2026-11-20", job="", billed="6"),
    ]

    run(source, store)

    (row,) = store.ledger.rows[Source.COST_EXPLORER, ACCOUNT, day("2026-11-01")]
    assert row.job == "nlp"


def test_everything_is_read_again_once_a_week(store: InMemoryLedgerStore) -> None:
    source = InMemoryCostSource([make_charge(job="", billed="700")])
    run(source, store)
    source.bill = [make_charge(job="nlp", billed="700")]

    run(source, store, now=NOW + timedelta(days=6, hours=23))
    early = store.ledger.rows[Source.COST_EXPLORER, ACCOUNT, day("2026-11-01")]
    run(source, store, now=NOW + timedelta(days=7))
    late = store.ledger.rows[Source.COST_EXPLORER, ACCOUNT, day("2026-11-01")]

    assert ([one.job for one in early], [one.job for one in late]) == ([""], ["nlp"])


def test_another_currency_is_refused(store: InMemoryLedgerStore) -> None:  # C051
    source = InMemoryCostSource([make_charge(billed="100")])
    run(source, store)
    source.bill = [make_charge(billed="700", currency="CNY")]

    (error,) = run(source, store).errors

    assert f"{ACCOUNT} is in CNY" in error.message
    assert billed(store) == {day("2026-11-01"): usd("100")}


def test_credits_stay_rows_of_their_own(store: InMemoryLedgerStore) -> None:  # C012
    credit = make_charge(
        job="",
        billed="-340",
        bucket=Bucket.CREDITS,
        category=ChargeCategory.CREDIT,
        record_type="Credit",
    )
    source = InMemoryCostSource([make_charge(billed="340"), credit])

    (report,) = run(source, store).imports

    rows = store.ledger.rows[Source.COST_EXPLORER, ACCOUNT, day("2026-11-01")]
    assert [one.billed for one in rows] == [usd("340"), usd("-340")]
    assert report.state == "done"


def test_billed_through_moves_over_final_days_and_never_back(
    store: InMemoryLedgerStore,
) -> None:
    def bill(estimated_from: str) -> list[Charge]:
        return [
            make_charge(
                on=f"2026-11-{n:02d}",
                is_estimated=f"2026-11-{n:02d}" >= estimated_from,
            )
            for n in range(1, 31)
        ]

    source = InMemoryCostSource(bill("2026-11-11"))
    soon = at("2026-11-11T12:00Z")
    run(source, store, now=soon)
    first = store.ledger.through[ACCOUNT]
    source.bill = bill("2026-11-06")
    run(source, store, now=soon)

    assert first == at("2026-11-11")
    assert store.ledger.through[ACCOUNT] == first


def test_days_of_a_short_gap_are_read_along(store: InMemoryLedgerStore) -> None:
    source = InMemoryCostSource(
        [make_charge(on=f"2026-11-{n:02d}") for n in (1, 2, 3, 4, 20)]
    )
    run(source, store)
    for place in (0, 3):
        source.bill[place] = replace(source.bill[place], billed=usd("11"))
    source.requests.clear()

    run(source, store)

    reads = [one for one in source.requests if one == f"charges {ACCOUNT} 0"]
    assert len(reads) == 1


def test_an_incomplete_answer_is_not_retried_for_ever(
    store: InMemoryLedgerStore,
) -> None:  # C158
    source = InMemoryCostSource([make_charge()])
    source.fails = lambda place: (
        IncompleteAnswerError("cost-explorer", "no ResultsByTime")
        if place.startswith("charges")
        else None
    )

    result = run(source, store)

    assert [one.code for one in result.errors] == ["incomplete_answer"]
    assert source.requests.count(f"charges {ACCOUNT} 0") == 2
