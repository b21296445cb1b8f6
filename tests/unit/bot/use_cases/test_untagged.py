"""Untagged cost: listed by kind, with whose it probably is; given to a job by a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.money import Money, total
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.explain import Explainer
from bot.use_cases.pricing import price_book
from bot.use_cases.untagged import untagged_items
from bot.use_cases.untagged_confirm import (
    Outcome,
    TakenItemError,
    UnknownItemError,
    UnknownNumberError,
    confirm,
    confirmations,
    target_of,
    undo,
)
from tests.builders import ACCOUNT, at, usd
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from billing.core.fleet import Instance
    from bot.views.untagged_values import UntaggedAnswer, UntaggedItem

ITEM = f"{ACCOUNT}/us-east-1/p5.48xlarge"


def node(
    resource_id: str,
    job: str = "job-123",
    *,
    since: str = "2026-11-30T00:00Z",
    instance_type: str = "p5.48xlarge",
    **tags: str,
) -> Instance:
    return runs(
        resource_id, job=job, since=since, instance_type=instance_type, tags=tags
    )


def listed(company: Company) -> UntaggedAnswer:
    with company.store.read() as unit:
        explainer = Explainer(
            ledger=unit.ledger,
            prices=price_book(unit.ledger, company.own),
            keys=company.keys,
            stale=(),
            now=company.now,
        )
        return untagged_items(explainer, None, None, confirmed=confirmations(unit))


def only(company: Company) -> UntaggedItem:
    (item,) = listed(company).items
    return item


def gives(company: Company, item: str = ITEM, job: str = "job-123") -> Outcome:
    answer = listed(company)
    with company.store.read() as unit:
        what = target_of(unit, item, answer, company.now)
    return confirm(company.store, what, job, by="p-mia", reason="hers", now=company.now)


def seen(company: Company, **tags: str) -> None:
    """Let a tagged and an untagged instance run; `tags` are those of the second."""
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", since="2026-11-30T01:00Z", Name="trainer-1", owner="mia"),
        node("i-2", job="", since="2026-11-30T02:30Z", **tags),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")


def test_the_items_sum_to_what_is_untagged(company: Company) -> None:
    company.bills(
        costs("2026-11-26", "80", job="", usage_type="BoxUsage:g5.xlarge"),
        costs("2026-11-26", "20", job="", usage_type="USE1-NatGateway-Bytes"),
        costs("2026-11-27", "5", job="", usage_type="NatGateway-Bytes"),
        costs("2026-11-26", "7"),
        through="2026-11-29",
    )

    answer = listed(company)

    assert [(one.what, one.total.text()) for one in answer.items] == [
        ("g5.xlarge", "80.00"),
        ("NatGateway-Bytes", "25.00"),
    ]
    assert answer.total == usd("105") == total(one.total for one in answer.items)
    assert answer.share_of == usd("112")


def test_on_demand_spot_and_running_time_of_one_type_are_one_item(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "10", job=""),
        costs("2026-11-26", "4", job="", usage_type="SpotUsage:p5.48xlarge"),
    )
    seen(company)

    item = only(company)

    assert (item.item, item.pattern) == (ITEM, "*Usage:p5.48xlarge")
    assert (item.billed, item.provisional) == (usd("14"), usd("25"))
    assert [one.resource_id for one in item.resources] == ["i-2"]


def test_signs_add_up_and_are_stated(company: Company) -> None:
    seen(company, Name="trainer-9", owner="mia")

    found = only(company).suggestion

    assert found is not None
    assert (found.job, found.score) == ("job-123", 85)
    assert [(one.text, one.points) for one in found.reasons] == [
        ("named 'trainer' like its instances", 30),
        ("same owner 'mia'", 25),
        ("the only job that ran p5.48xlarge in us-east-1 then", 30),
    ]


def test_same_group_and_launch_minute_are_signs(company: Company) -> None:
    group = {"aws:ec2:fleet-id": "fleet-1"}
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", since="2026-11-30T01:00:05Z", **group),
        node("i-2", job="job-9", since="2026-11-30T01:30Z"),
        node("i-3", job="", since="2026-11-30T01:00:50Z", **group),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")

    found = only(company).suggestion

    assert found is not None
    assert (found.job, found.score) == ("job-123", 90)


def test_a_sign_that_fits_two_jobs_suggests_nobody(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", job="job-a", owner="mia", Name="train-1"),
        node("i-2", job="job-b", owner="mia", Name="train-2"),
        node("i-3", job="", owner="mia", Name="train-3"),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")

    item = only(company)

    assert item.suggestion is None
    assert item.unknown == "job-a and job-b fit equally well"
    assert [one.job for one in item.others] == ["job-a", "job-b"]


def test_an_owner_alone_is_too_little(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", owner="mia", instance_type="g5.xlarge"),
        node("i-2", job="", owner="mia"),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")

    item = only(company)

    assert item.suggestion is None
    assert "nothing that was seen" in item.unknown


def test_a_name_that_only_begins_like_a_job_is_no_sign(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", job="job-1", instance_type="g5.xlarge"),
        node("i-2", job="", Name="job-12"),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")

    assert only(company).suggestion is None


def test_different_jobs_are_suggested_for_each_resource(company: Company) -> None:
    company.is_billed_through("2026-11-30")
    company.is_watched(
        node("i-1", job="job-a", instance_type="g5.xlarge"),
        node("i-2", job="job-b", instance_type="g5.xlarge"),
        node("i-3", job="", Name="job-a worker"),
        node("i-4", job="", Name="job-b worker"),
        at_="2026-11-30T05:00Z",
    )
    company.now = at("2026-11-30T05:00Z")

    item = only(company)

    assert item.suggestion is None
    assert {
        one.resource_id: one.suggestion.job for one in item.resources if one.suggestion
    } == {"i-3": "job-a", "i-4": "job-b"}


def test_without_resources_the_only_job_on_the_bill_is_suggested(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-29",
    )  # fmt: skip

    found = only(company).suggestion

    assert found is not None
    assert (found.job, found.score) == ("job-123", 30)


def test_a_confirmed_item_is_the_jobs_back_in_time_and_sums_hold(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-29",
    )  # fmt: skip

    outcome = gives(company)

    assert (outcome.again, outcome.days) == (False, 1)
    assert company.ask("job-123").total == usd("87")
    assert company.ask().total == usd("87")
    assert listed(company).items == ()
    with company.store.read() as unit:
        (kept,) = confirmations(unit)
        assert unit.audit.verify() == []
        assert unit.audit.head()[0] == 1
    assert (kept.item, kept.job, kept.by) == (ITEM, "job-123", "p-mia")


def test_confirming_twice_changes_nothing_the_second_time(company: Company) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-29",
    )  # fmt: skip
    answer = listed(company)
    with company.store.read() as unit:
        what = target_of(unit, ITEM, answer, company.now)

    first = confirm(company.store, what, "job-123", by="p", reason="", now=company.now)
    again = confirm(company.store, what, "job-123", by="p", reason="", now=company.now)

    assert (first.again, again.again) == (False, True)
    with company.store.read() as unit:
        assert len(confirmations(unit)) == 1
        assert unit.audit.head()[0] == 1


def test_another_job_must_wait_until_the_first_word_is_taken_back(
    company: Company,
) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        costs("2026-11-26", "7", job="job-9"), through="2026-11-29",
    )  # fmt: skip
    answer = listed(company)
    with company.store.read() as unit:
        what = target_of(unit, ITEM, answer, company.now)
    confirm(company.store, what, "job-123", by="p", reason="", now=company.now)

    with pytest.raises(TakenItemError) as refused:
        confirm(company.store, what, "job-9", by="p", reason="", now=company.now)

    assert "untagged undo" in refused.value.hint
    assert company.ask("job-9").total == usd("7")


def test_taking_it_back_makes_the_cost_untagged_again(company: Company) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-29",
    )  # fmt: skip
    gives(company)

    undo(company.store, ITEM, by="p-rae", now=company.now)

    assert company.ask("job-123").total == usd("7")
    assert only(company).total == usd("80")
    with company.store.read() as unit:
        assert confirmations(unit) == ()
        assert unit.audit.head()[0] == 2
    with pytest.raises(UnknownNumberError):
        undo(company.store, ITEM, by="p-rae", now=company.now)


def test_one_resource_can_be_confirmed_by_its_id(company: Company) -> None:
    seen(company)

    outcome = gives(company, "i-2")

    assert outcome.assignment.resource_id == "i-2"
    assert company.ask("job-123").total == usd("65")
    assert company.ask().total == usd("65")


def test_unknown_item_and_job_change_nothing(company: Company) -> None:
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-29",
    )  # fmt: skip

    with pytest.raises(UnknownItemError) as unknown:
        gives(company, ITEM.replace("p5", "p6"))
    with pytest.raises(UnknownJobError):
        gives(company, job="job-1234")

    assert unknown.value.suggestions == (ITEM,)
    assert company.ask("job-123").total == usd("7")
    with company.store.read() as unit:
        assert unit.audit.head()[0] == 0


def test_nothing_is_given_to_a_job_by_itself(company: Company) -> None:
    seen(company, Name="job-123 worker", owner="mia")

    listed(company)

    assert company.ask("job-123").total == usd("40")
    assert company.ask().total - company.ask("job-123").total == usd("25")
    assert Money.zero() < only(company).total
