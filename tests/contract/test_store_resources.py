"""What every ledger must do with events, other services and reserved capacity."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.charges import Source
from billing.core.fleet import InstanceState
from billing.core.fleet_events import FleetEvent, FleetState, TagEvent
from billing.core.resources import (
    OtherResources,
    Reservation,
    ReservationKind,
    Resource,
    Service,
    ServiceFailure,
)
from billing.core.usage import EndBasis, ResourceKind
from tests.builders import (
    ACCOUNT,
    NOW,
    REGION,
    at,
    make_instance,
    make_observation,
    period,
    usd,
)

if TYPE_CHECKING:
    from datetime import datetime

    from bot.unit_of_work import SqlStore

DAY = period("2026-11-30", "2026-12-01")
LATER = NOW + timedelta(minutes=5)
TRAINING = (ACCOUNT, REGION, Service.TRAINING)
JOB = Resource(
    resource_id="arn:aws:sagemaker:us-east-1:012345678901:training-job/bert",
    kind=ResourceKind.TRAINING_JOB,
    account=ACCOUNT,
    region=REGION,
    shape="ml.p4d.24xlarge",
    started_at=at("2026-11-30T00:00Z"),
    units=2,
    tags={"job-id": "job-9"},
)
BLOCK = Reservation(
    reservation_id="cr-1",
    kind=ReservationKind.CAPACITY_BLOCK,
    account=ACCOUNT,
    region=REGION,
    zone="us-east-1a",
    instance_type="p5.48xlarge",
    count=2,
    available=1,
    state="active",
    starts_at=at("2026-11-29"),
    ends_at=at("2026-12-03"),
    bought_at=at("2026-11-20"),
)


def event(state: FleetState, when: str, name: str = "i-1") -> FleetEvent:
    return FleetEvent(
        resource_id=name, account=ACCOUNT, region=REGION, state=state, at=at(when)
    )


def poll(store: SqlStore, others: OtherResources, when: datetime = NOW) -> None:
    seen = replace(make_observation(observed=when), others=others)
    with store.write() as unit:
        unit.ledger.apply_observation(seen)


def test_events_of_an_instance_nobody_described_are_kept_until_one_is(
    store: SqlStore,
) -> None:
    events = [
        event(FleetState.SHUTTING_DOWN, "2026-11-30T08:40Z"),
        event(FleetState.RUNNING, "2026-11-30T08:30Z"),
    ]
    with store.write() as unit:
        first = unit.ledger.apply_events(events)
        again = unit.ledger.apply_events(events)
    gone = make_instance(launched="2026-11-30T08:29Z", state=InstanceState.TERMINATED)
    with store.write() as unit:
        unit.ledger.apply_observation(make_observation(gone))

    with store.read() as unit:
        (found,) = unit.ledger.intervals(DAY, job="job-123")
        record = unit.ledger.job_record("job-123")
    assert first == again == {"i-1"}
    assert (found.started_at, found.ended_at, found.end_basis) == (
        at("2026-11-30T08:30Z"),
        at("2026-11-30T08:40Z"),
        EndBasis.EXACT,
    )
    assert record is not None


def test_a_known_instance_takes_its_bounds_from_events(store: SqlStore) -> None:
    running = make_instance(launched="2026-11-30T08:00Z")
    with store.write() as unit:
        unit.ledger.apply_observation(make_observation(running))
        unknown = unit.ledger.apply_events(
            [
                event(FleetState.STOPPING, "2026-11-30T09:02Z"),
                event(FleetState.RUNNING, "2026-11-30T08:01Z"),
            ]
        )

    with store.read() as unit:
        (found,) = unit.ledger.intervals(DAY)
    assert unknown == frozenset()
    assert (found.started_at, found.ended_at) == (
        at("2026-11-30T08:01Z"),
        at("2026-11-30T09:02Z"),
    )


def test_a_tag_moves_to_the_instant_of_its_event(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.apply_observation(make_observation(make_instance()))
        unit.ledger.apply_observation(
            make_observation(make_instance(tags={"job-id": "job-b"}), observed=LATER)
        )
        unit.ledger.apply_tag_events(
            [
                TagEvent(
                    resource_id="i-1",
                    account=ACCOUNT,
                    region=REGION,
                    at=at("2026-11-30T09:03Z"),
                    tags={"job-id": "job-b"},
                    changed=frozenset({"job-id"}),
                )
            ]
        )

    with store.read() as unit:
        spans = unit.ledger.tags(["i-1"])
    assert [(one.value, one.valid_from, one.valid_to) for one in spans] == [
        ("job-123", at("2026-11-30T00:00Z"), at("2026-11-30T09:03Z")),
        ("job-b", at("2026-11-30T09:03Z"), None),
    ]


def test_a_training_job_is_kept_with_its_units_and_billed_seconds(
    store: SqlStore,
) -> None:
    poll(store, OtherResources(resources=(JOB,), scanned=(TRAINING,)))
    ended = replace(
        JOB, is_running=False, ended_at=at("2026-11-30T09:01Z"), billed_s=1080
    )
    poll(store, OtherResources(resources=(ended,), scanned=(TRAINING,)), LATER)

    with store.read() as unit:
        (found,) = unit.ledger.intervals(DAY, job="job-9")
        record = unit.ledger.job_record("job-9")
    assert (found.units, found.billed_s) == (2, 1080)
    assert found.ended_at == at("2026-11-30T09:01Z")
    assert record is not None


def test_only_a_service_that_was_read_ends_what_it_no_longer_shows(
    store: SqlStore,
) -> None:
    poll(store, OtherResources(resources=(JOB,), scanned=(TRAINING,)))
    closed = ServiceFailure(
        account=ACCOUNT, region=REGION, service=Service.TRAINING,
        code="AccessDenied", message="AccessDenied: no",
    )  # fmt: skip
    poll(store, OtherResources(failures=(closed,)), LATER)
    with store.read() as unit:
        (kept,) = unit.ledger.open_intervals()
        fresh = {one.source: one for one in unit.ledger.freshness()}
    poll(store, OtherResources(scanned=(TRAINING,)), LATER + timedelta(minutes=5))

    with store.read() as unit:
        assert unit.ledger.open_intervals() == []
    assert kept.resource_id == JOB.resource_id
    assert fresh[Source.RESOURCES].as_of == NOW
    assert "SageMaker training in us-east-1" in fresh[Source.RESOURCES].reason
    assert fresh[Source.INVENTORY].as_of == LATER


def test_a_fee_once_known_stays_known(store: SqlStore) -> None:
    poll(store, OtherResources(reservations=(BLOCK,)))
    with store.write() as unit:
        unit.ledger.set_fee("cr-1", usd("18432"), "configuration")
    poll(store, OtherResources(reservations=(replace(BLOCK, available=0),)), LATER)

    with store.read() as unit:
        (held,) = unit.ledger.reservations()
        sources = unit.ledger.fee_sources()
    assert held == replace(BLOCK, available=0, fee=usd("18432"))
    assert sources == {"cr-1": "configuration"}


def test_a_look_at_some_instances_is_no_poll(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.apply_observation(make_observation(make_instance()))
        unit.ledger.apply_observation(
            make_observation(
                make_instance(resource_id="i-2"), observed=LATER, scanned=()
            )
        )
        # A poll that began before the look still counts.
        unit.ledger.apply_observation(
            make_observation(observed=NOW + timedelta(minutes=1))
        )

    with store.read() as unit:
        (left,) = unit.ledger.open_intervals()
        (fresh,) = unit.ledger.freshness()
    assert left.resource_id == "i-2"
    assert fresh.as_of == NOW + timedelta(minutes=1)
