"""The commands on tokens, leaks and comparisons, as typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import CostCategory
from tests.builders_use_cases import costs

if TYPE_CHECKING:
    from tests.builders_cli import Office
    from tests.builders_use_cases import Company

MAKE = ("token", "create", "--for", "Mia@Example.com", "--scope", "costs:read")


def test_a_token_is_shown_once_and_listed_without_its_secret(office: Office) -> None:
    made = office.json(*MAKE, "--scope", "estimates,admission", "--expires", "90d")

    assert re.fullmatch(r"gpucost_[0-9a-f]{10}_[0-9a-f]{64}", made["token"])
    assert made["scopes"] == ["admission", "costs:read", "estimates"]
    assert (made["for"], made["created_by"]) == ("mia@example.com", "mia@example.com")
    listed = office.json("token", "list")
    assert [one["id"] for one in listed["tokens"]] == [made["id"]]
    secret = made["token"].split("_")[2]
    assert secret not in str(listed)
    assert secret not in office.run("token", "list").out


def test_the_table_says_that_it_is_shown_once(office: Office) -> None:
    told = office.run(*MAKE).out

    assert told.splitlines()[0].startswith("gpucost_")
    assert "it is shown this once: keep it now" in told
    assert "expires  never" in told


def test_a_revoked_token_is_listed_as_revoked(office: Office) -> None:
    token_id = office.json(*MAKE)["id"]

    assert (
        office.run("token", "revoke", token_id).out == f"token {token_id} was revoked\n"
    )

    assert "revoked" in office.run("token", "list").out
    again = office.run("token", "revoke", token_id)
    assert (again.code, "no token" in again.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--scope", "cost:read"), "costs:read"),
        (("--scope", " , "), "at least one scope"),
        (("--scope", "estimates", "--expires", "soon"), "--expires"),
        (("--scope", "estimates", "--expires", "2020-01-01T00:00:00Z"), "lie ahead"),
        (("--scope", "estimates", "--expires", "9999999999999d"), "--expires"),
    ],
)
def test_a_wrong_option_makes_no_token(
    office: Office, options: tuple[str, ...], told: str
) -> None:
    ran = office.run("token", "create", "--for", "mia@example.com", *options)

    assert ran.code == 2
    assert told in ran.err
    assert office.run("token", "list").out == "no tokens\n"


def test_making_and_revoking_stand_in_the_chain(office: Office) -> None:
    token_id = office.json(*MAKE)["id"]
    office.run("token", "revoke", token_id)

    verified = office.json("audit", "verify")

    assert (verified["events"], verified["problems"]) == (2, [])


@pytest.fixture
def ran_twice(office: Office, company: Company) -> Office:
    company.bills(
        costs("2026-11-28", "240", quantity="24"),
        costs("2026-11-28", "30", usage_type="NatGateway-Bytes",
              cost_category=CostCategory.NETWORK),
        costs("2026-11-28", "120", job="job-9", quantity="12"),
        through="2026-11-30",
        mark="again",
    )  # fmt: skip
    return office


def test_leaks_of_a_job_sum_to_its_cost(ran_twice: Office) -> None:
    found = ran_twice.json("cost", "job-123", "--by", "leak")

    assert found["by"] == "leak"
    nanos = sum(round(float(one["total"]) * 100) for one in found["groups"])
    assert nanos == round(float(found["total"]) * 100)
    assert found["avoidable"] == "30.00"
    assert found["avoidable_is_at_least"] is True
    assert "NAT gateways" in ran_twice.run("cost", "job-123", "--by", "leak").out


def test_leaks_of_everything_are_those_of_every_job(ran_twice: Office) -> None:
    found = ran_twice.json("cost", "--by", "leak")

    keys = {one["key"]: one["total"] for one in found["groups"]}
    assert keys["NAT gateways"] == "30.00"
    assert (found["job"], found["avoidable"]) == (None, "30.00")
    assert "job-123 $30.00" in ran_twice.run("cost", "--by", "leak").out


def test_two_runs_side_by_side(ran_twice: Office) -> None:
    found = ran_twice.json("compare", "job-123", "job-9")

    assert [one["job"] for one in found["items"]] == ["job-123", "job-9"]
    assert found["items"][1]["total"] == "120.00"
    assert found["scaling"] is None
    told = ran_twice.run("compare", "job-123", "job-9").out
    assert told.splitlines()[0].split() == ["job-123", "job-9"]


@pytest.mark.parametrize(
    ("jobs", "code"), [(("job-123", "job-123"), 2), (("job-123", "job-8"), 1)]
)
def test_a_comparison_of_nothing_is_refused(
    ran_twice: Office, jobs: tuple[str, str], code: int
) -> None:
    assert ran_twice.run("compare", *jobs).code == code
