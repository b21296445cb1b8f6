"""The bill as Cost Explorer tells it, read, stored and asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from billing.core.charges import Metric
from deploy.sandbox.aws.builders import (
    EC2_OTHER,
    SAVINGS_PLANS,
    cost,
    gpu_hours,
    instance,
    other_charge,
    volume_cost,
)
from deploy.sandbox.aws.world import CostTag
from tests.builders import usd
from tests.contract.sources.aws import on
from tests.contract.sources.bills import JOB, TAG

if TYPE_CHECKING:
    from tests.cases.place import Place

UNAPPROVED = """
- name: approve-large-runs
  kind: approval
  over: $300
  approvers: ["@finance"]
"""


def test_a_fee_paid_ahead_is_no_cost_of_the_day_it_was_paid(  # C046
    place: Place,
) -> None:
    place.aws.serve(
        tags=TAG,
        costs=[
            cost(
                "2026-04-01", "8760.00", amortized="0", net_amortized="0",
                service=SAVINGS_PLANS, usage_type="ComputeSP:1yrAllUpfront",
                operation="No Operation", purchase_type="Savings Plans",
                record_type="SavingsPlanUpfrontFee",
            ),
            cost(
                "2026-04-01", "72.00", amortized="24.00", net_amortized="24.00",
                record_type="SavingsPlanCoveredUsage", quantity="24", tags=JOB,
            ),
            cost(
                "2026-04-01", "-72.00", amortized="0", net_amortized="0",
                record_type="SavingsPlanNegation",
            ),
        ],
    )  # fmt: skip
    place.ingest("cost-explorer")
    days = {"since": "2026-04-01", "until": "2026-04-02"}

    assert place.cost(**days).total == usd("24")
    assert place.cost(**days, metric=Metric.BILLED).total == usd("8760")
    assert place.cost("job-123", **days).total == usd("24")


def test_credits_do_not_hide_what_a_job_burns_from_its_policy(  # C012
    place: Place,
) -> None:
    place.aws.serve(
        tags=TAG,
        costs=[
            gpu_hours("2026-04-13", "g5.xlarge", hours="10", price="34", tags=JOB),
            other_charge("2026-04-13", "Credit", "-340.00", tags=JOB),
        ],
        instances=[
            instance("i-00000000000000001", "g5.xlarge",
                     launched_at="2026-04-14T05:00", tags=JOB),
        ],
    )  # fmt: skip
    place.ingest()

    everything = place.cost()
    (finding,) = place.plan(UNAPPROVED).findings

    assert everything.total > usd("340")
    assert everything.credits == usd("-340")
    assert "It has cost $34" in finding.explanation[0]


def test_a_hosts_disks_and_gateways_are_part_of_its_cost(place: Place) -> None:
    place.aws.serve(
        tags=TAG,
        costs=[
            gpu_hours("2026-04-01", "p5.48xlarge", hours="10", price="90", tags=JOB),
            volume_cost("2026-04-01", "50.10", tags=JOB),
            cost("2026-04-01", "11.20", service=EC2_OTHER, tags=JOB,
                 usage_type="NatGateway-Bytes", operation="NatGateway", unit="GB"),
        ],
    )  # fmt: skip
    place.ingest("cost-explorer")

    shown = place.slack("job-123 2026-04-01")

    # C021: compute is named compute, and the whole is the whole
    answer = place.cost("job-123", since="2026-04-01", until="2026-04-02")
    assert {one.key: one.total.text() for one in answer.by_category} == {
        "compute": "900.00", "storage": "50.10", "network": "11.20",
    }  # fmt: skip
    assert "$961.30" in shown


def test_days_before_a_key_was_activated_are_said_and_read_again(  # C031
    place: Place,
) -> None:
    tag = CostTag(
        key="job-id",
        activated_on=on("2026-04-10"),
        backfilled_at=datetime(2026, 4, 20, tzinfo=UTC),
    )
    place.aws.serve(
        tags=[tag],
        costs=[
            cost("2026-04-02", "700", tags=JOB),
            cost("2026-04-02", "300"),
        ],
    )
    first = place.ingest("cost-explorer")
    before = place.cost(since="2026-04-02", until="2026-04-03", by="job")
    place.at(datetime(2026, 4, 21, 6, tzinfo=UTC))

    place.ingest("cost-explorer")  # Everything is read again once a week.

    after = place.cost(since="2026-04-02", until="2026-04-03", by="job")
    assert any("'job-id' was not active before 2026-04-10" in n for n in first.notes)
    assert before.unattributed == usd("1000")
    assert {one.key: one.total.text() for one in after.groups} == {
        "job-123": "700.00", "bucket:untagged": "300.00",
    }  # fmt: skip
