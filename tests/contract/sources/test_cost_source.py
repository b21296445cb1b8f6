"""Cost Explorer as a source of the bill: complete, or an error that says what lacks."""

from __future__ import annotations

from decimal import Decimal

import pytest

from billing.core.charges import Bucket, PricingCategory
from billing.core.money import total
from billing.ports import (
    IncompleteAnswerError,
)
from deploy.sandbox.aws.builders import (
    cost,
    gpu_hours,
    other_charge,
    savings_plan_fee,
    savings_plan_use,
    spot_hours,
    volume_cost,
)
from deploy.sandbox.aws.world import Account, CostTag
from tests.builders import usd
from tests.contract.sources.aws import MEMBER, PAYER, Aws, on
from tests.contract.sources.bills import (
    FIRST,
    JOB,
    SECOND,
    TAG,
    THIRD,
    by_bucket,
    detail,
    spend,
)


def test_controls_name_every_day_of_every_account(aws: Aws) -> None:
    aws.serve(
        tags=TAG,
        accounts=[Account(id=MEMBER)],
        costs=[
            cost("2026-04-01", "900"),
            cost("2026-04-02", "300", account=MEMBER),
        ],
    )

    controls = aws.bill().controls(FIRST, THIRD)

    assert [(one.account, one.day, one.billed) for one in controls] == [
        (MEMBER, FIRST, usd("0")),
        (MEMBER, SECOND, usd("300")),
        (PAYER, FIRST, usd("900")),
        (PAYER, SECOND, usd("0")),
    ]  # C024


def test_controls_cost_two_requests_and_charge_two_cents(aws: Aws) -> None:
    sandbox = aws.serve(costs=[cost("2026-04-01", "1")])
    source = aws.bill()

    source.controls(FIRST, THIRD)

    assert sandbox.requests.count("GetCostAndUsage") == 2
    assert aws.charged == [("ce:GetCostAndUsage", usd("0.01"))] * 2
    assert source.spent == (2, usd("0.02"))


def test_controls_are_limited_to_the_configured_accounts(aws: Aws) -> None:
    aws.serve(
        accounts=[Account(id=MEMBER)],
        costs=[cost("2026-04-01", "900"), cost("2026-04-01", "3", account=MEMBER)],
    )

    controls = aws.bill(accounts=(MEMBER,)).controls(FIRST, SECOND)

    assert [(one.account, one.billed) for one in controls] == [(MEMBER, usd("3"))]


def test_a_configured_account_without_cost_is_a_known_zero(aws: Aws) -> None:
    aws.serve(accounts=[Account(id=MEMBER)])

    controls = aws.bill(accounts=(MEMBER,)).controls(FIRST, SECOND)

    assert [(one.account, one.billed) for one in controls] == [(MEMBER, usd("0"))]


def test_a_fingerprint_moves_with_any_figure_of_its_day_only(aws: Aws) -> None:
    costs = [cost("2026-04-01", "5"), cost("2026-04-02", "7")]
    aws.serve(costs=costs)
    before = aws.bill().controls(FIRST, THIRD)
    aws.serve(costs=[costs[0], cost("2026-04-02", "7", quantity="2")])

    after = aws.bill().controls(FIRST, THIRD)

    assert before[0].fingerprint == after[0].fingerprint
    assert before[1].fingerprint != after[1].fingerprint


def test_end_is_exclusive_in_leap_february(aws: Aws) -> None:  # C005
    sandbox = aws.serve(
        costs=[cost(f"2028-02-{n:02d}", "10.00") for n in range(1, 30)],
    )
    sandbox.clock.set("2028-03-10T00:00:00Z")

    controls = aws.bill().controls(on("2028-02-01"), on("2028-03-01"))

    assert len(controls) == 29
    assert total(one.billed for one in controls) == usd("290.00")


def test_an_empty_window_is_never_asked(aws: Aws) -> None:  # C004
    sandbox = aws.serve()

    with pytest.raises(ValueError, match="at least one day"):
        aws.bill().controls(FIRST, FIRST)

    assert sandbox.requests.count("GetCostAndUsage") == 0


def test_pages_of_one_day_are_added_up(aws: Aws) -> None:  # C001
    sandbox = aws.serve(
        tags=TAG,
        page_size=1,
        costs=[spend("alpha", "100"), spend("beta", "50")],
    )

    charges = detail(aws.bill(), FIRST, SECOND)

    assert by_bucket(charges) == {"alpha": usd("100"), "beta": usd("50")}
    first, second = sandbox.requests.of("GetCostAndUsage")[:2]
    token = {"NextPageToken": second.parameters["NextPageToken"]}
    assert dict(first.parameters) | token == dict(second.parameters)


def test_detail_reaches_the_control_whatever_the_record_types(aws: Aws) -> None:
    aws.serve(
        tags=TAG,
        costs=[
            gpu_hours("2026-04-01", "p5.48xlarge", hours="24", price="60", tags=JOB),
            spot_hours("2026-04-01", "g5.xlarge", hours="5", price="0.4"),
            volume_cost("2026-04-01", "12.345678901"),
            *savings_plan_use(
                "2026-04-01", "p5.48xlarge", on_demand="3.00", effective="2.10",
                hours="1", tags=JOB,
            ),
            savings_plan_fee("2026-04-01", "2.25", used="2.10"),
            other_charge("2026-04-01", "Tax", "7.7"),
            other_charge("2026-04-01", "Support", "100"),
            other_charge("2026-04-01", "Credit", "-340.00"),
            other_charge("2026-04-01", "Refund", "-120.50"),
        ],
    )  # fmt: skip
    source = aws.bill()

    (control,) = source.controls(FIRST, SECOND)
    charges = detail(source, FIRST, SECOND)

    assert total(one.billed for one in charges) == control.billed
    assert total(one.effective for one in charges) == control.effective
    assert by_bucket(charges) == {
        "job-123": usd("1443"),
        "untagged": usd("2") + usd("12.345678901"),
        "commitment-unused": usd("-0.75"),
        "overhead": usd("107.7"),
        "credits": usd("-460.5"),
    }
    unused = [one for one in charges if one.bucket is Bucket.COMMITMENT_UNUSED]
    assert total(one.effective for one in unused) == usd("0.15")  # C045


def test_charges_carry_what_the_usage_type_tells(aws: Aws) -> None:
    aws.serve(
        tags=TAG,
        costs=[
            spot_hours(
                "2026-04-01", "p5.48xlarge", hours="3", price="20",
                region="us-west-2", tags=JOB,
            )
        ],
    )  # fmt: skip

    (charge,) = detail(aws.bill(), FIRST, SECOND)

    assert (charge.region, charge.usage_type) == (
        "us-west-2",
        "USW2-SpotUsage:p5.48xlarge",
    )
    assert charge.pricing is PricingCategory.DYNAMIC
    assert (charge.quantity, charge.unit) == (Decimal(3), "Hrs")
    assert charge.list_cost is None
    assert charge.is_estimated


def test_exponents_are_read_exactly(aws: Aws) -> None:  # C015
    amounts = ("1.2E-7", "0E-10", "-3.0E-7", "19.99")
    aws.serve(tags=TAG, costs=[spend(f"j{n}", a) for n, a in enumerate(amounts)])

    charges = detail(aws.bill(), FIRST, SECOND)

    assert total(one.billed for one in charges) == usd("19.98999982")


def test_aliases_take_what_earlier_keys_leave_and_nothing_twice(aws: Aws) -> None:
    sandbox = aws.serve(
        tags=[CostTag(key="job-id"), CostTag(key="JobId")],
        costs=[
            cost("2026-04-01", "1", tags={"job-id": "a"}),
            cost("2026-04-01", "2", tags={"JobId": "b"}),
            cost("2026-04-01", "4", tags={"job-id": "a", "JobId": "wrong"}),
            cost("2026-04-01", "8"),
        ],
    )

    charges = detail(aws.bill(keys=("job-id", "JobId", "job_id")), FIRST, SECOND)

    assert by_bucket(charges) == {
        "a": usd("5"),
        "b": usd("2"),
        "untagged": usd("8"),
    }
    assert sandbox.requests.count("GetCostAndUsage") == 3


def test_a_tag_without_a_value_is_untagged_and_not_lost(aws: Aws) -> None:
    aws.serve(
        tags=[CostTag(key="job-id"), CostTag(key="JobId")],
        costs=[
            cost("2026-04-01", "1", tags={"job-id": "  "}),
            cost("2026-04-01", "2", tags={"JobId": "b"}),
            cost("2026-04-01", "4", tags={"job-id": "a"}),
            cost("2026-04-01", "8"),
        ],
    )

    charges = detail(aws.bill(keys=("job-id", "JobId")), FIRST, SECOND)

    assert by_bucket(charges) == {"a": usd("4"), "b": usd("2"), "untagged": usd("9")}


def test_an_alias_that_does_not_add_up_is_refused(aws: Aws) -> None:
    sandbox = aws.serve(
        tags=[CostTag(key="job-id"), CostTag(key="JobId")],
        costs=[cost("2026-04-01", "2", tags={"JobId": "b"}), cost("2026-04-01", "8")],
    )
    sandbox.faults.add(
        kind="change-data", operation="GetCostAndUsage", skip=1, times=1,
        costs=[cost("2026-04-01", "3")],
    )  # fmt: skip

    with pytest.raises(IncompleteAnswerError, match="2026-04-01"):
        detail(aws.bill(keys=("job-id", "JobId")), FIRST, SECOND)


def test_job_ids_that_differ_in_case_and_spaces_are_one(aws: Aws) -> None:  # C028
    aws.serve(
        tags=TAG, costs=[spend("nlp", "1"), spend("NLP ", "2"), spend("Nlp", "4")]
    )

    charges = detail(aws.bill(), FIRST, SECOND)

    assert by_bucket(charges) == {"nlp": usd("7")}


def test_untagged_cost_is_a_bucket_and_no_job(aws: Aws) -> None:  # C026
    aws.serve(tags=TAG, costs=[spend("", "250"), spend("untagged", "750")])

    charges = detail(aws.bill(), FIRST, SECOND)

    assert {(one.bucket, one.job) for one in charges} == {
        (Bucket.UNTAGGED, ""),
        (Bucket.JOB, "untagged"),
    }


def test_a_key_in_the_wrong_case_is_named_and_not_grouped_by(aws: Aws) -> None:  # C025
    sandbox = aws.serve(
        tags=[CostTag(key="team")], costs=[cost("2026-04-01", "21400.95")]
    )
    source = aws.bill(keys=("Team",))

    charges = detail(source, FIRST, SECOND)

    assert by_bucket(charges) == {"untagged": usd("21400.95")}
    assert [(one.state, one.suggestions) for one in source.tag_keys()] == [
        ("unknown", ("team",))
    ]
    assert any("Team" in note and "team" in note for note in source.notes)
    asked = sandbox.requests.of("GetCostAndUsage")[0].parameters
    assert all(group["Type"] == "DIMENSION" for group in asked["GroupBy"])


def test_an_activation_date_and_an_inactive_key_are_told(aws: Aws) -> None:  # C031
    aws.serve(
        tags=[
            CostTag(key="job-id", activated_on=on("2026-04-05")),
            CostTag(key="JobId", status="Inactive"),
        ]
    )

    keys = aws.bill(keys=("job-id", "JobId")).tag_keys()

    assert [(one.state, one.active_since) for one in keys] == [
        ("active", on("2026-04-05")),
        ("inactive", None),
    ]


def test_a_member_account_that_may_not_list_keys_uses_them_unchecked(aws: Aws) -> None:
    sandbox = aws.serve(tags=TAG, costs=[spend("", "5")])
    sandbox.faults.add(kind="deny", operation="ListCostAllocationTags")
    source = aws.bill()

    charges = detail(source, FIRST, SECOND)

    assert by_bucket(charges) == {"untagged": usd("5")}
    assert [one.state for one in source.tag_keys()] == ["unchecked"]
    assert any("returned no values" in note for note in source.notes)
