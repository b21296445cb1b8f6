"""What runs and what it costs until the bill comes, as EC2 and the Price List tell it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.estimate import NoPriceError
from billing.core.money import Money, Rate
from billing.core.prices import PriceKey
from bot.use_cases.estimate import plan_of
from bot.use_cases.pricing import price_book
from deploy.sandbox.aws.builders import instance
from deploy.sandbox.aws.world import VolumeSeed
from policies.core.approvals import Person
from tests.builders import at, usd
from tests.builders_policies import policies
from tests.contract.sources.aws import NOW
from tests.contract.sources.bills import JOB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.place import Place

ID = "i-00000000000000001"
APPROVALS = """
- name: approve-large-runs
  kind: approval
  over: $10,000
  approvers: ["@gpu"]
  tiers: [{over: "$100,000", required: 2}]
"""


def product(
    attributes: Mapping[str, str], price: Mapping[str, str], *, family: str
) -> dict[str, Any]:
    """Return one product of the Price List, Linux on demand unless said otherwise."""
    usual = {
        "regionCode": "us-east-1", "location": "US East (N. Virginia)",
        "operatingSystem": "Linux", "preInstalledSw": "NA", "tenancy": "Shared",
        "capacitystatus": "Used", "marketoption": "OnDemand",
        "locationType": "AWS Region", "operation": "RunInstances",
        "licenseModel": "No License required", "servicecode": "AmazonEC2",
    }  # fmt: skip
    dimension = {
        "unit": "Hrs", "pricePerUnit": dict(price), "rateCode": "S.AAA.BBB",
        "appliesTo": [], "beginRange": "0", "endRange": "Inf", "description": "",
    }  # fmt: skip
    terms = {
        "S.AAA": {
            "priceDimensions": {"S.AAA.BBB": dimension}, "sku": "S",
            "offerTermCode": "AAA", "termAttributes": {},
            "effectiveDate": "2026-04-01T00:00:00Z",
        }
    }  # fmt: skip
    return {
        "product": {
            "productFamily": family, "sku": "S", "attributes": usual | {**attributes}
        },
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": terms},
        "version": "1",
        "publicationDate": "2026-04-01T00:00:00Z",
    }  # fmt: skip


def latest(place: Place, shape: str) -> Rate | None:
    with place.store.read() as unit:
        found = unit.ledger.latest_prices([PriceKey(region="us-east-1", product=shape)])
    return next((one.rate for one in found.values()), None)


def test_a_stop_between_polls_ends_when_aws_says_it_ended(place: Place) -> None:  # C147
    place.aws.serve(
        instances=[instance(ID, "p5.48xlarge", launched_at="2026-04-13T09:00",
                            tags=JOB)]
    )  # fmt: skip
    place.at(at("2026-04-13T10:00Z"))
    place.ingest()
    hourly = place.cost("job-123").burn
    place.at(at("2026-04-13T10:05Z"))
    place.aws.sandbox.client("ec2").stop_instances(InstanceIds=[ID])
    place.at(at("2026-04-14T00:00Z"))
    place.ingest("inventory")

    answer = place.cost("job-123")

    assert hourly is not None
    compute = {one.key: one.total for one in answer.by_category}["compute"]
    assert compute == hourly.cost_of(timedelta(minutes=65))
    assert answer.burn == Rate.of("0")


def test_a_stopped_instance_costs_its_disks_and_nothing_else(  # C149
    place: Place,
) -> None:
    made = at("2026-04-01T00:00Z")
    place.aws.serve(
        instances=[
            instance(
                ID,
                "g5.12xlarge",
                launched_at="2026-03-31T00:00",
                tags=JOB,
                state="stopped",
                ended_at=made,
            )
        ],
        volumes=[
            VolumeSeed(
                id="vol-0000000000000000a",
                created_at=made,
                size_gib=2048,
                instance=ID,
            )
        ],
    )
    place.at(made)
    place.ingest()
    place.at(made + timedelta(days=13))
    place.ingest("inventory")

    answer = place.cost("job-123")

    # Thirteen of a month's days at $163.84 a month, beside a small root disk.
    (storage,) = answer.by_category
    assert storage.key == "storage"
    share = storage.total.nanos / usd("163.84").nanos
    assert share == pytest.approx(13 * 24 / 730, rel=0.01)
    assert answer.burn == Rate.of("0")


def test_tags_that_come_after_the_launch_name_the_job_from_its_launch(  # C032
    place: Place,
) -> None:
    place.aws.serve(
        instances=[instance(ID, "p5.48xlarge", launched_at="2026-04-14T06:00")]
    )
    place.at(at("2026-04-14T06:00:30Z"))
    place.ingest()
    untagged = place.plan("- {name: idle, kind: idle}")
    ec2 = place.aws.sandbox.client("ec2")
    ec2.create_tags(Resources=[ID], Tags=[{"Key": "job-id", "Value": "nlp-1"}])
    place.at(at("2026-04-14T06:02Z"))
    place.ingest("inventory")

    answer = place.cost("nlp-1")

    assert (untagged.findings, untagged.unknown) == ((), ())
    assert answer.burn is not None
    compute = {one.key: one.total for one in answer.by_category}["compute"]
    assert compute == answer.burn.cost_of(timedelta(minutes=2))
    assert place.cost(by="job").unattributed == usd("0")


def test_an_instance_that_vanished_is_bounded_and_its_successor_adds_up(  # C150
    place: Place,
) -> None:
    first = instance(ID, "p5.48xlarge", launched_at="2026-04-14T01:00", tags=JOB)
    place.aws.serve(instances=[first])
    place.at(at("2026-04-14T05:00Z"))
    place.ingest()
    second = instance(
        "i-00000000000000002", "p5.48xlarge", launched_at="2026-04-14T05:30", tags=JOB
    )
    place.aws.serve(instances=[second])
    place.at(NOW)
    place.ingest("inventory")

    answer = place.cost("job-123")

    assert answer.burn is not None
    compute = {one.key: one.total for one in answer.by_category}["compute"]
    assert compute == answer.burn.cost_of(timedelta(hours=4, minutes=30))
    assert [line.count for line in answer.running] == [1]


def test_a_bare_metal_type_is_priced_and_runs_at_that_price(  # C037
    place: Place,
) -> None:
    place.aws.serve(
        shipped_prices=False,
        products=[product({"instanceType": "g4dn.metal"}, {"USD": "7.8000000000"},
                          family="Compute Instance (bare metal)")],
        instances=[
            instance(ID, "g4dn.metal", launched_at="2026-04-14T05:00", tags=JOB)
        ],
    )  # fmt: skip
    place.ingest()

    assert latest(place, "g4dn.metal") == Rate.of("7.8")
    assert place.cost("job-123").burn == Rate.of("7.8")


def test_a_price_in_another_currency_is_never_taken_for_dollars(  # C042
    place: Place,
) -> None:
    place.aws.serve(
        shipped_prices=False,
        products=[product({"instanceType": "p5.48xlarge"}, {"CNY": "700.00"},
                          family="Compute Instance")],
        instances=[
            instance(ID, "p5.48xlarge", launched_at="2026-04-14T05:00", tags=JOB)
        ],
    )  # fmt: skip
    place.ingest()

    answer = place.cost("job-123")

    assert latest(place, "p5.48xlarge") == Rate.of("700", "CNY")
    assert "compute" not in {one.key for one in answer.by_category if one.total.nanos}
    assert answer.provisional_unknown[0].startswith("p5.48xlarge on-demand")
    assert answer.burn is None


def test_a_price_of_nothing_is_no_price_and_somebody_must_decide(  # C038
    place: Place,
) -> None:
    place.aws.serve(
        shipped_prices=False,
        products=[product({"instanceType": "p5e.48xlarge"}, {"USD": "0.0000000000"},
                          family="Compute Instance")],
    )  # fmt: skip
    plan = plan_of(
        instance_type="p5e.48xlarge", count=2, hours="72", purchase="on-demand",
        region="us-east-1", job="llm-7", is_time_limit=False,
    )  # fmt: skip
    with place.store.read() as unit:
        known = price_book(unit.ledger, ()).list_price(
            PriceKey(region="us-east-1", product="p5e.48xlarge")
        )
    desk = replace(place.application.desk, policies=lambda: policies(APPROVALS))
    asker = Person(person_id="p-1", slack_id="", email="a@example.com", name="A")

    filed = desk.file(plan, requester=asker, caller="p-1", reason="a run")

    assert known is None
    with pytest.raises(NoPriceError, match="no on-demand price"):
        place.application.estimate(plan)
    assert (filed.state, filed.high) == ("pending", None)
    assert filed.rule is not None
    assert filed.rule.tier.over == Money.of("100000")
