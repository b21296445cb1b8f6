"""Events are read as AWS writes them; anything else is refused without repeating it."""

from __future__ import annotations

import json

import pytest

from billing.core.event_messages import EventKind, UnreadableEventError, read_event
from billing.core.fleet_events import FleetEvent, FleetState, TagEvent
from tests.builders import at
from tests.builders_events import (
    ACCOUNT,
    AT,
    INSTANCE,
    REGION,
    event_body,
    interruption_body,
    state_body,
    tags_body,
)


@pytest.mark.parametrize(
    "state",
    ["pending", "running", "stopping", "stopped", "shutting-down", "terminated"],
)
def test_a_state_change_is_a_fact_about_the_instance(state: str) -> None:
    found = read_event(state_body(state))

    assert found.kind is EventKind.STATE
    assert found.fact == FleetEvent(
        resource_id=INSTANCE,
        account=ACCOUNT,
        region=REGION,
        state=FleetState(state),
        at=at(AT),
    )


def test_a_spot_warning_says_when_the_instance_goes() -> None:
    found = read_event(interruption_body())

    assert found.kind is EventKind.INTERRUPTION
    assert found.state == "terminate"
    assert found.until == at("2026-04-14T06:02:00Z")
    assert isinstance(found.fact, FleetEvent)
    assert found.fact.state is FleetState.INTERRUPTION_WARNING


def test_hibernation_begins_with_its_warning() -> None:
    assert read_event(interruption_body(action="hibernate")).until == at(AT)


def test_a_reservation_that_is_taken_back_names_its_own_time() -> None:
    detail = {
        "instance-id": INSTANCE,
        "instance-action": "terminate",
        "instance-termination-time": "2026-04-14T06:05:00Z",
    }
    name = "EC2 Interruptible Capacity Reservation Instance Interruption Warning"

    found = read_event(event_body(name, detail))

    assert found.kind is EventKind.INTERRUPTION
    assert found.until == at("2026-04-14T06:05:00Z")


def test_a_tag_change_holds_every_tag_and_which_of_them_changed() -> None:
    found = read_event(tags_body({"job-id": "job-9", "team": "nlp"}, ["job-id", "x"]))

    assert found.fact == TagEvent(
        resource_id=INSTANCE,
        account=ACCOUNT,
        region=REGION,
        at=at(AT),
        tags={"job-id": "job-9", "team": "nlp"},
        changed=frozenset({"job-id", "x"}),
    )


def test_tags_of_another_service_teach_nothing() -> None:
    detail = {"changed-tag-keys": ["a"], "tags": {}, "service": "s3"}

    found = read_event(event_body("Tag Change on Resource", detail, source="aws.tag"))

    assert found.kind is EventKind.TAGS
    assert found.fact is None


def test_a_rebalance_recommendation_is_no_interruption() -> None:
    name = "EC2 Instance Rebalance Recommendation"

    found = read_event(event_body(name, {"instance-id": INSTANCE}))

    assert found.kind is EventKind.REBALANCE
    assert found.fact is None


def test_a_capacity_block_that_ends_is_read_in_the_spelling_of_its_guide() -> None:
    body = json.dumps(
        {
            "customer_event_id": "cr-1-approaching-expiry",
            "detail_type": "Capacity Block Reservation Expiration Warning",
            "source": "aws.ec2",
            "account": ACCOUNT,
            "time": AT,
            "resources": [
                "arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-1"
            ],
            "detail": {
                "capacity-reservation-id": "cr-1",
                "end-date": "2026-04-14T06:40:00Z",
            },
        }
    )

    found = read_event(body)

    assert (found.event_id, found.kind) == (
        "cr-1-approaching-expiry",
        EventKind.CAPACITY,
    )
    assert (found.resource_id, found.state) == ("cr-1", "expiring")
    assert found.until == at("2026-04-14T06:40:00Z")


def test_training_jobs_and_clusters_tell_their_state() -> None:
    training = event_body(
        "SageMaker Training Job State Change",
        {"TrainingJobName": "llm-7", "TrainingJobStatus": "Stopped"},
        source="aws.sagemaker",
    )
    cluster = event_body(
        "SageMaker HyperPod Cluster State Change",
        {"ClusterName": "pod", "ClusterStatus": "InService"},
        source="aws.sagemaker",
    )
    node = event_body(
        "SageMaker HyperPod Cluster Event",
        {"EventDetails": {"ClusterName": "pod", "EventLevel": "Error"}},
        source="aws.sagemaker",
    )

    found = [read_event(body) for body in (training, cluster, node)]

    assert [(one.kind, one.resource_id, one.state) for one in found] == [
        (EventKind.TRAINING, "llm-7", "Stopped"),
        (EventKind.CLUSTER, "pod", "InService"),
        (EventKind.CLUSTER, "pod", "Error"),
    ]


def test_an_event_of_no_known_kind_is_of_no_use_and_no_error() -> None:
    found = read_event(event_body("AWS Health Event", {}, source="aws.health"))

    assert (found.kind, found.fact) == (EventKind.OTHER, None)


def test_a_time_without_a_zone_is_utc() -> None:
    assert read_event(state_body("running", at="2026-04-14T06:00:00")).at == at(AT)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("", "not JSON"),
        ("{secret", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('["secret"]', "no JSON object"),
        ('{"id": "secret"}', "no "),
        (state_body("running", account="secret"), "12 digits"),
        (state_body("running", at="secret"), "no time"),
        (state_body("secret"), "none of EC2's"),
        (state_body("interruption-warning"), "none of EC2's"),
        (state_body("running", instance="<!channel> secret"), "instance id"),
        (state_body("running", event_id=""), "no id"),
        (event_body("AWS Health Event", []), "no detail"),  # type: ignore[arg-type]
        (interruption_body(action=""), "instance-action"),
        (tags_body({"a": "b"}, [3]), "no texts"),  # type: ignore[list-item]
    ],
)
def test_what_is_no_event_is_refused_without_repeating_it(body: str, why: str) -> None:
    with pytest.raises(UnreadableEventError, match=why) as refused:
        read_event(body)

    assert "secret" not in str(refused.value)
