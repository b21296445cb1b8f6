"""Managed services, storage and network, from AWS to the answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from billing.core.fleet_events import FleetEvent, FleetState
from billing.core.money import Money, Rate
from bot.use_cases.learn import learn
from deploy.sandbox.aws.builders import (
    instance,
    savings_plan_use,
    spot_series,
)
from deploy.sandbox.aws.world import CostTag, SpotSeed
from deploy.sandbox.aws.world_services import (
    ClusterGroupSeed,
    ClusterSeed,
    EndpointSeed,
    FileSystemSeed,
    NatGatewaySeed,
    NodeSeed,
    NotebookSeed,
    Services,
)
from tests.builders import usd
from tests.contract.sources.aws import NOW, PAYER

if TYPE_CHECKING:
    from tests.cases.place import Place

from tests.cases.resources import P5, PRODUCTS, TAGS, TODAY, categories, job, look


def test_a_job_pays_for_every_kind_of_resource_by_category(place: Place) -> None:
    place.aws.serve(
        products=PRODUCTS,
        services=Services(
            training_jobs=[job(count=2)],
            clusters=[
                ClusterSeed(
                    name="pod", created_at=TODAY, tags=TAGS,
                    groups=[
                        ClusterGroupSeed(
                            name="w", instance_type=P5,
                            nodes=[NodeSeed(id="i-0a", launched_at=TODAY)],
                        )
                    ],
                )
            ],
            endpoints=[EndpointSeed(name="chat", created_at=TODAY, tags=TAGS)],
            notebooks=[NotebookSeed(name="nb", created_at=TODAY, tags=TAGS)],
            file_systems=[
                FileSystemSeed(id="fs-0123456789abcdef0", created_at=TODAY, tags=TAGS)
            ],
            nat_gateways=[
                NatGatewaySeed(id="nat-0123456789abcdef0", created_at=TODAY, tags=TAGS)
            ],
        ),
    )  # fmt: skip
    look(place, NOW)

    answer = place.cost("job-1")

    # Six hours of 2 x $40 + $100 + $2 + $3, of a gateway, and of 1,200 GiB.
    found = categories(answer)
    assert found["managed service"] == usd("1110.00")
    assert found["network"] == usd("0.27")
    lustre = Rate(round(usd("0.145").nanos / 730))
    assert found["storage"] == Money(lustre.nanos * 1200 * 6)
    assert answer.provisional_unknown == ()
    assert answer.total == answer.provisional


def test_an_ended_spot_job_costs_its_billable_seconds(place: Place) -> None:  # C154
    ended = TODAY + timedelta(hours=1)
    place.aws.serve(
        products=PRODUCTS,
        services=Services(
            training_jobs=[job(count=2, ended_at=ended, billable_s=1080, spot=True)]
        ),
    )
    look(place, NOW)

    assert place.cost("job-1").total == usd("24.00")


def test_a_spot_job_that_runs_is_named_and_priced_when_it_ends(place: Place) -> None:
    ended = NOW + timedelta(hours=1)
    place.aws.serve(
        products=PRODUCTS,
        services=Services(
            training_jobs=[job(ended_at=ended, billable_s=3600, spot=True)]
        ),
    )
    look(place, NOW)
    running = place.cost("job-1")
    look(place, ended + timedelta(minutes=5))

    ended_answer = place.cost("job-1")

    assert "managed spot" in running.provisional_unknown[0]
    assert ended_answer.provisional_unknown == ()
    assert ended_answer.total == usd("40.00")


def test_a_warm_pool_is_paid_after_its_job(place: Place) -> None:
    ended = TODAY + timedelta(hours=2)
    place.aws.serve(
        products=PRODUCTS,
        services=Services(
            training_jobs=[
                job(ended_at=ended, warm_until=ended + timedelta(minutes=30))
            ]
        ),
    )
    look(place, NOW)

    assert place.cost("job-1").total == usd("100.00")


def test_an_endpoint_that_scales_costs_its_instances_over_time(place: Place) -> None:
    first = EndpointSeed(name="chat", created_at=TODAY, tags=TAGS)
    place.aws.serve(products=PRODUCTS, services=Services(endpoints=[first]))
    look(place, TODAY + timedelta(hours=2))
    grown = EndpointSeed(
        name="chat", created_at=TODAY, modified_at=TODAY + timedelta(hours=3),
        variants=[type(first.variants[0])(count=4)], tags=TAGS,
    )  # fmt: skip
    place.aws.sandbox.world.services.endpoints[:] = [grown]
    look(place, NOW)

    # $2 until the last look at one instance (02:00), $8 from the change (03:00) on.
    assert place.cost("job-1").total == usd("28.00")


def test_a_service_that_is_closed_is_named_and_ec2_goes_on(place: Place) -> None:
    place.aws.serve(
        products=PRODUCTS,
        instances=[
            instance("i-00000000000000001", "p5.48xlarge",
                     launched_at="2026-04-14T05:00", tags=TAGS)
        ],
        services=Services(training_jobs=[job()]),
    )  # fmt: skip
    look(place, NOW - timedelta(minutes=5))
    place.aws.sandbox.faults.add(kind="deny", operation="ListTrainingJobs")
    place.at(NOW)

    outcome = place.ingest("inventory")
    answer = place.cost("job-1")

    assert [one.source for one in outcome.errors] == ["resources"]
    assert "SageMaker training" in outcome.errors[0].message
    # The job runs on in our eyes, as of the last look; EC2 is fresh.
    assert answer.total == usd("240.00") + usd("55.04")
    (stale,) = answer.stale
    assert stale.source.value == "resources"
    assert "SageMaker training in us-east-1" in stale.reason
    checks = {one.name: one for one in place.application.doctor()}
    assert checks[f"last resources {PAYER}"].ok is False
    assert checks[f"last inventory {PAYER}"].ok is True


def test_hours_are_priced_at_the_share_of_list_price_that_was_paid(
    place: Place,
) -> None:
    covered = [
        line
        for day in range(1, 12)
        for line in savings_plan_use(
            f"2026-04-{day:02}", "p5.48xlarge", on_demand="1320.96",
            effective="1056.768", hours="24", tags=TAGS,
        )
    ]  # fmt: skip
    place.aws.serve(
        tags=[CostTag(key="job-id")],
        costs=covered,
        instances=[
            instance("i-00000000000000001", "p5.48xlarge",
                     launched_at="2026-04-14T00:00", tags=TAGS)
        ],
        estimated_days=1,
    )  # fmt: skip
    look(place, NOW - timedelta(minutes=10), NOW)

    answer = place.cost("job-1", since="2026-04-12")

    assert answer.provisional == Money(usd("55.04").nanos * 6 * 8 // 10)
    (basis,) = answer.provisional_basis
    assert "80 % of list price, as billed 2026-04-06 to 2026-04-12" in basis


def test_without_a_recent_bill_list_price_is_taken_and_said(place: Place) -> None:
    place.aws.serve(
        instances=[
            instance("i-00000000000000001", "p5.48xlarge",
                     launched_at="2026-04-14T00:00", tags=TAGS)
        ]
    )  # fmt: skip
    look(place, NOW)

    answer = place.cost("job-1")

    assert answer.provisional == usd("330.24")
    assert "list price, as no recent bill" in answer.provisional_basis[0]


def test_spot_is_priced_by_the_hour_in_its_own_zone(place: Place) -> None:
    place.aws.serve(
        instances=[
            instance("i-00000000000000001", "p5.48xlarge", zone="us-east-1b",
                     launched_at="2026-04-14T00:00", lifecycle="spot", tags=TAGS)
        ],
        spot=[
            SpotSeed(at=TODAY - timedelta(hours=5), instance_type="p5.48xlarge",
                     zone="us-east-1b", price="10"),
            SpotSeed(at=TODAY + timedelta(hours=2), instance_type="p5.48xlarge",
                     zone="us-east-1b", price="20"),
            *spot_series("p5.48xlarge", "us-east-1a", ["40"], start="2026-04-13"),
        ],
    )  # fmt: skip
    look(place, NOW)

    assert place.cost("job-1").total == usd("100.00")


def test_an_instance_between_two_polls_is_billed_by_its_events(place: Place) -> None:
    name = "i-00000000000000001"
    place.aws.serve()
    look(place, NOW - timedelta(minutes=30))
    born = NOW - timedelta(minutes=20)
    died = NOW - timedelta(minutes=10)
    place.aws.sandbox.reset(_world(name, born - timedelta(minutes=1), died))
    place.at(NOW - timedelta(minutes=9))
    events = [_event(name, FleetState.SHUTTING_DOWN, died),
              _event(name, FleetState.RUNNING, born)]  # fmt: skip

    for one in (*events, *events):
        learn(place.store, place.application.aws.fleet().describe, [one], now=place.now)
    look(place, NOW)

    # Ten minutes at $55.04, though launched a minute before and never seen running.
    assert place.cost("job-1").total == Money(round(usd("55.04").nanos / 6))


def _world(name: str, launched: datetime, ended: datetime) -> Any:
    from deploy.sandbox.aws import World

    seed = instance(
        name, "p5.48xlarge", launched_at=launched.isoformat(), tags=TAGS,
        state="terminated", ended_at=ended + timedelta(seconds=30),
    )  # fmt: skip
    return World(instances=[seed])


def _event(name: str, state: FleetState, when: datetime) -> FleetEvent:
    return FleetEvent(
        resource_id=name, account=PAYER, region="us-east-1", state=state, at=when
    )


def test_a_stopped_instance_still_pays_for_its_disk(place: Place) -> None:  # C149
    from deploy.sandbox.aws.world import VolumeSeed

    name = "i-00000000000000001"
    place.aws.serve(
        instances=[
            instance(name, "g5.12xlarge", launched_at="2026-04-13T00:00",
                     state="stopped", ended_at=TODAY - timedelta(hours=20), tags=TAGS)
        ],
        volumes=[
            VolumeSeed(id="vol-00000000000000001", created_at=TODAY, size_gib=2048,
                       instance=name)
        ],
    )  # fmt: skip
    look(place, NOW)

    found = categories(place.cost("job-1", since="2026-04-14"))

    assert found == {"storage": Money(109589 * 2048 * 6)}


def test_a_refused_service_is_a_failure_unless_it_is_said_to_be_unused(
    place: Place,
) -> None:
    sandbox = place.aws.serve()
    sandbox.faults.add(kind="deny", service="sagemaker")

    refused = place.ingest("inventory")
    del place.application  # Settings are read anew.
    place.config["aws"] = {"services": ["snapshots"]}
    unused = place.ingest("inventory")

    assert refused.errors
    assert all("SageMaker" in one.message for one in refused.errors)
    assert unused.errors == ()
