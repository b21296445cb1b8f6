"""What every ledger must do with polls, tags, prices and requests."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Source
from billing.core.fleet import InstanceState
from billing.core.money import MixedCurrencyError, Money
from billing.core.prices import Purchase
from billing.core.usage import EndBasis
from billing.ledger.meter import SqlRequestMeter
from billing.ports import RequestBudgetError
from tests.builders import (
    ACCOUNT,
    NOW,
    REGION,
    at,
    make_charge,
    make_instance,
    make_key,
    make_observation,
    make_price,
    make_volume,
    period,
    usd,
)
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from billing.core.fleet import FleetObservation
    from bot.unit_of_work import SqlStore

DAY = period("2026-11-30", "2026-12-01")
LATER = NOW + timedelta(minutes=5)


def _observe(store: SqlStore, *observations: FleetObservation) -> None:
    for observation in observations:
        with store.write() as unit:
            unit.ledger.apply_observation(observation)


def test_a_running_instance_opens_one_interval_however_often_it_is_seen(
    store: SqlStore,
) -> None:
    poll = make_observation(make_instance())

    _observe(store, poll, poll, make_observation(make_instance(), observed=LATER))

    with store.read() as unit:
        (interval,) = unit.ledger.open_intervals()
        assert unit.ledger.intervals(DAY) == [interval]
    assert interval.started_at == at("2026-11-30")
    assert interval.last_seen_at == LATER
    assert interval.end_basis is EndBasis.OPEN


def test_a_stopped_instance_ends_its_interval_and_a_restart_opens_another(
    store: SqlStore,
) -> None:
    _observe(
        store,
        make_observation(make_instance(), observed="2026-11-30T01:00Z"),
        make_observation(
            make_instance(state=InstanceState.STOPPED, ended="2026-11-30T02:00Z"),
            observed="2026-11-30T02:03Z",
        ),
        make_observation(
            make_instance(launched="2026-11-30T03:00Z"), observed="2026-11-30T03:04Z"
        ),
    )

    with store.read() as unit:
        first, second = unit.ledger.intervals(DAY)
    assert (first.ended_at, first.end_basis) == (
        at("2026-11-30T02:00Z"),
        EndBasis.EXACT,
    )
    assert (second.started_at, second.ended_at) == (at("2026-11-30T03:00Z"), None)


def test_an_interval_that_ends_where_the_period_starts_is_not_in_it(
    store: SqlStore,
) -> None:
    _observe(
        store,
        make_observation(
            make_instance(launched="2026-11-29T00:00Z"), observed="2026-11-29T01:00Z"
        ),
        make_observation(
            make_instance(
                launched="2026-11-29T00:00Z",
                state=InstanceState.STOPPED,
                ended="2026-11-30T00:00Z",
            ),
            observed="2026-11-30T00:04Z",
        ),
    )

    with store.read() as unit:
        assert unit.ledger.intervals(DAY) == []
        assert len(unit.ledger.intervals(period("2026-11-29", "2026-11-30"))) == 1


def test_a_scope_that_failed_keeps_its_intervals_and_is_stale(store: SqlStore) -> None:
    _observe(
        store,
        make_observation(make_instance()),
        make_observation(observed=LATER, scanned=(), failed=[(ACCOUNT, REGION)]),
    )

    with store.read() as unit:
        assert len(unit.ledger.open_intervals()) == 1
        (fresh,) = unit.ledger.freshness()
        assert unit.ledger.watched_since() == {ACCOUNT: NOW}
    assert (fresh.source, fresh.as_of) == (Source.INVENTORY, NOW)
    assert fresh.reason == f"{REGION}: not allowed to describe instances"


def test_an_older_poll_that_arrives_late_teaches_nothing(store: SqlStore) -> None:
    _observe(
        store,
        make_observation(make_instance(), observed=LATER),
        make_observation(observed=NOW),
    )

    with store.read() as unit:
        (interval,) = unit.ledger.open_intervals()
        (fresh,) = unit.ledger.freshness()
    assert interval.last_seen_at == LATER
    assert fresh.as_of == LATER


def test_a_retagged_resource_belongs_to_both_jobs_one_after_the_other(
    store: SqlStore,
) -> None:
    _observe(
        store,
        make_observation(
            make_instance(tags={"JobId": " Job-A "}), observed="2026-11-30T03:00Z"
        ),
        make_observation(
            make_instance(tags={"JobId": "job-b"}), observed="2026-11-30T05:00Z"
        ),
    )

    with store.read() as unit:
        spans = unit.ledger.tags(["i-1", "i-unknown"])
        for job in ("job-a", "JOB-B"):
            assert len(unit.ledger.intervals(DAY, job=job)) == 1
        assert unit.ledger.intervals(DAY, job="job-c") == []
    assert [(span.value, span.valid_from, span.valid_to) for span in spans] == [
        (" Job-A ", at("2026-11-30"), at("2026-11-30T05:00Z")),
        ("job-b", at("2026-11-30T05:00Z"), None),
    ]


def test_a_volume_is_among_the_intervals_of_its_instances_job(store: SqlStore) -> None:
    _observe(
        store,
        make_observation(
            make_instance(),
            make_instance(resource_id="i-2", tags={}),
            volumes=[
                make_volume(attached_to="i-1"),
                make_volume(resource_id="vol-2", attached_to="i-2"),
            ],
        ),
    )

    with store.read() as unit:
        found = unit.ledger.intervals(DAY, job="job-123")

    assert [interval.resource_id for interval in found] == ["i-1", "vol-1"]


def test_a_tag_of_another_key_with_the_jobs_value_is_not_the_job(
    store: SqlStore,
) -> None:
    _observe(store, make_observation(make_instance(tags={"Name": "job-123"})))

    with store.read() as unit:
        assert unit.ledger.intervals(DAY, job="job-123") == []
        assert unit.ledger.job_record("job-123") is None


def test_tags_of_some_keys_are_asked_for_in_any_spelling(store: SqlStore) -> None:
    tags = {"Job-Id": "job-123", "team": "nlp"}
    _observe(store, make_observation(make_instance(tags=tags)))

    with store.read() as unit:
        (resource,) = (one.resource_id for one in unit.ledger.open_intervals())
        every = unit.ledger.tags([resource])
        (found,) = unit.ledger.tags([resource], keys=["job-id", "JobId"])

    assert {span.key for span in every} == tags.keys()
    assert (found.key, found.value) == ("Job-Id", "job-123")


def test_whose_a_job_is_comes_from_its_newest_tags(store: SqlStore) -> None:
    old = {"job-id": "job-123", "team": "vision", "owner": "mia@example.com"}
    new = {"job-id": "job-123", "team": "Speech", "env": "prod"}
    import_charges(store, [make_charge(on="2026-11-02")])

    _observe(
        store,
        make_observation(
            make_instance(tags=old, launched="2026-11-28T00:00Z"),
            make_instance(resource_id="i-2", tags=new, launched="2026-11-30T00:00Z"),
        ),
    )

    with store.read() as unit:
        record = unit.ledger.job_record("job-123")
    assert record is not None
    assert (record.team, record.environment) == ("speech", "prod")
    assert record.first_seen_at == at("2026-11-02")
    assert record.last_seen_at == NOW


def test_a_tag_that_went_missing_does_not_erase_whose_a_job_is(store: SqlStore) -> None:
    _observe(
        store,
        make_observation(make_instance(tags={"job-id": "job-123", "team": "vision"})),
        make_observation(make_instance(), observed=LATER),
    )

    with store.read() as unit:
        record = unit.ledger.job_record("job-123")
    assert record is not None
    assert record.team == "vision"


def test_costs_are_asked_for_by_team(store: SqlStore) -> None:
    import_charges(
        store,
        [
            make_charge(billed="10"),
            make_charge(job="job-9", billed="5"),
            make_charge(job="", billed="1"),
        ],
    )
    tags = {"job-id": "job-123", "team": "vision"}
    _observe(store, make_observation(make_instance(tags=tags)))

    november = (at("2026-11-01").date(), at("2026-12-01").date())
    with store.read() as unit:
        by_team = {c.key: c.billed for c in unit.ledger.cells("team", *november)}
        mine = unit.ledger.cells("job", *november, team="vision")
        region = unit.ledger.cells("region", *november, team="vision")

    assert by_team == {
        "vision": usd("10"),
        "": usd("5"),
        "bucket:untagged": usd("1"),
    }
    assert [(cell.key, cell.billed) for cell in mine] == [("job-123", usd("10"))]
    assert [(cell.key, cell.billed) for cell in region] == [(REGION, usd("10"))]


# ------------------------------------------------------------------------- prices


def test_the_newest_statement_of_a_price_is_the_latest(store: SqlStore) -> None:
    key, unknown = make_key(), make_key("p6.48xlarge")
    with store.write() as unit:
        unit.ledger.record_prices(
            [make_price(key=key, rate="98.32", as_of="2026-11-02")], NOW
        )
        unit.ledger.record_prices(
            [make_price(key=key, rate="99.32", as_of="2026-11-01")], NOW
        )

    with store.read() as unit:
        latest = unit.ledger.latest_prices([key, unknown])

    assert {found.product: price.rate.text() for found, price in latest.items()} == {
        "p5.48xlarge": "98.32"
    }


def test_the_same_price_again_changes_nothing(store: SqlStore) -> None:
    price = make_price()

    for _ in range(2):
        with store.write() as unit:
            unit.ledger.record_prices([price, price], NOW)

    with store.read() as unit:
        history = unit.ledger.price_history(
            price.key, period("2020-01-01", "2030-01-01")
        )
        (fresh,) = unit.ledger.freshness()
    assert history == [price]
    assert (fresh.source, fresh.as_of) == (Source.PRICES, NOW)


def test_price_history_starts_with_the_price_that_already_held(store: SqlStore) -> None:
    key = make_key(purchase=Purchase.SPOT, zone="us-east-1a")
    prices = [
        make_price(key=key, rate=str(hour), as_of=start, effective_from=start)
        for hour, start in enumerate(
            ("2026-11-28", "2026-11-29", "2026-11-30T12:00Z", "2026-12-01"), start=1
        )
    ]
    with store.write() as unit:
        unit.ledger.record_prices(prices, NOW)

    with store.read() as unit:
        found = unit.ledger.price_history(key, DAY)

    assert [price.rate.text() for price in found] == ["2.00", "3.00"]


# -------------------------------------------------------------------------- meter


def test_requests_are_counted_until_the_days_budget(store: SqlStore) -> None:
    meter = SqlRequestMeter(store.database, usd("0.02"))
    cent = usd("0.01")

    meter.charge("ce:GetCostAndUsage", cent, NOW)
    meter.charge("s3:ListObjectsV2", cent, NOW)
    with pytest.raises(RequestBudgetError, match=r"budget of \$0.02"):
        meter.charge("ce:GetCostAndUsage", cent, NOW)
    meter.charge("ce:GetCostAndUsage", cent, NOW + timedelta(days=1))

    assert meter.spent(NOW.date()) == (2, usd("0.02"))
    assert meter.spent((NOW - timedelta(days=1)).date()) == (0, usd("0"))


def test_requests_without_a_budget_are_only_counted(store: SqlStore) -> None:
    for _ in range(3):
        store.meter.charge("ce:GetCostAndUsage", usd("0.01"), NOW)

    assert store.meter.spent(NOW.date()) == (3, usd("0.03"))


def test_requests_of_another_currency_are_refused(store: SqlStore) -> None:
    with pytest.raises(MixedCurrencyError):
        store.meter.charge("ce:GetCostAndUsage", Money.of("1", "CNY"), NOW)
