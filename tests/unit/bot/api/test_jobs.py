"""Progress, placements and cost of jobs over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from billing.core.progress import Counter
from bot.use_cases.tokens import Scope
from tests.builders_use_cases import costs

if TYPE_CHECKING:
    from tests.builders_http import Site

AT = "2026-11-30T08:00:00Z"


def _reported(site: Site, job: str = "job-123") -> list[tuple[str, str, int]]:
    with site.application.store.read() as unit:
        found = unit.ledger.progress_reports(job)
    return [(one.counter.value, one.at.isoformat()[11:16], one.value) for one in found]


def _post(site: Site, body: Any, job: str = "job-123") -> Any:
    return site.post(
        f"/v1/jobs/{job}/progress", body, token=site.token(Scope.PROGRESS_WRITE)
    )


def test_a_report_is_kept_with_the_time_of_its_arrival(any_site: Site) -> None:
    reply = _post(any_site, {"steps": 900, "tokens": 2**60})

    assert reply.json == {"schema": 1, "recorded": 2, "job_known": False}
    assert _reported(any_site) == [("steps", "09:00", 900), ("tokens", "09:00", 2**60)]


def test_reports_held_back_come_together(site: Site) -> None:
    reports = [
        {"steps": 1, "at": "2026-11-30T09:00:00+01:00", "attempt": 0},
        {"steps": 2, "at": "2026-11-30T08:01:00Z"},
    ]

    assert _post(site, {"reports": reports}).json["recorded"] == 2

    assert _reported(site) == [("steps", "08:00", 1), ("steps", "08:01", 2)]


def test_the_job_is_the_one_that_the_bill_knows(site: Site) -> None:
    site.company.bills(costs("2026-11-28", "240"))

    assert _post(site, {"steps": 1}, job="%20Job-123").json["job_known"] is True
    assert _reported(site) == [("steps", "09:00", 1)]


def test_a_job_id_with_a_slash_is_one_job(site: Site) -> None:
    assert _post(site, {"steps": 1}, job="team%2Fjob-1").status == 200

    assert _reported(site, "team/job-1") == [("steps", "09:00", 1)]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"steps": -1},
        {"steps": 1.5},
        {"steps": "1"},
        {"steps": 2**63},
        {"steps": None},
        {"steps": 1, "at": "2026-11-30T08:00:00"},
        {"steps": 1, "at": "2027-11-30T08:00:00Z"},
        {"steps": 1, "at": "1970-01-01T00:00:00Z"},
        {"steps": 1, "reports": [{"steps": 2}]},
        {"reports": [{"steps": 1}] * 501},
        {"loss": 0.5},
    ],
    ids=str,
)
def test_a_report_that_cannot_be_meant_is_refused_whole(site: Site, body: Any) -> None:
    assert _post(site, body).status == 422

    assert _reported(site) == []


@pytest.mark.parametrize("job", ["%00", "a%0Ab", "%20", "x" * 300, "%3Cscript%3E"])
def test_a_job_id_that_is_none_is_refused(site: Site, job: str) -> None:
    reply = _post(site, {"steps": 1}, job=job)

    assert reply.status in {404, 422}
    assert reply.code in {"bad_request", "not_found"}


def test_what_a_job_has_cost_is_that_of_the_command(any_site: Site) -> None:
    any_site.company.bills(costs("2026-11-28", "240"), through="2026-11-29")
    token = any_site.token(Scope.COSTS_READ)

    reply = any_site.get("/v1/costs/jobs/job-123?by=category", token=token)

    assert reply.status == 200
    assert (reply.json["job"], reply.json["total"]) == ("job-123", "240.00")
    assert reply.json["groups"] == [
        {"key": "compute", "total": "240.00", "billed": "240.00", "provisional": "0.00"}
    ]


def test_an_unknown_job_is_told_the_near_ones(site: Site) -> None:
    site.company.bills(costs("2026-11-28", "240"))

    reply = site.get("/v1/costs/jobs/job-124", token=site.token())

    assert (reply.status, reply.code) == (404, "unknown_job")
    assert reply.json["error"]["suggestions"] == ["job-123"]


@pytest.mark.parametrize(
    "query", ["by=colour", "since=x", "since=2026-11-02&until=2026-11-01", "nett=1"]
)
def test_a_wrong_query_is_refused(site: Site, query: str) -> None:
    reply = site.get(f"/v1/costs/jobs/job-123?{query}", token=site.token())

    assert (reply.status, reply.code) == (422, "bad_request")


def test_a_counter_is_one_of_three() -> None:
    assert {one.value for one in Counter} == {"steps", "tokens", "samples"}


def test_a_placement_is_kept_and_told_again_with_its_end(any_site: Site) -> None:
    token = any_site.token(Scope.PLACEMENTS_WRITE)
    held = {"resource_id": "i-1", "started_at": AT, "gpus": 4, "external_id": "77"}
    path = "/v1/jobs/job-123/placements"

    first = any_site.post(path, {"placements": [held]}, token=token)
    ended = held | {"ended_at": "2026-11-30T08:30:00Z"}
    again = any_site.post(path, {"placements": [ended]}, token=token)
    same = any_site.post(path, {"placements": [ended]}, token=token)

    assert [one.json["changed"] for one in (first, again, same)] == [1, 1, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"ended_at": "2026-11-30T07:00:00Z"},
        {"started_at": "2026-11-30T08:00:00"},
        {"gpus": -1},
        {"gpus": "NaN"},
        {"resource_id": ""},
        {"node": "a"},
    ],
    ids=str,
)
def test_a_placement_that_cannot_be_meant_is_refused(site: Site, change: Any) -> None:
    held = {"resource_id": "i-1", "started_at": AT} | change

    reply = site.post(
        "/v1/jobs/job-123/placements", {"placements": [held]}, token=site.token()
    )

    assert (reply.status, reply.code) == (422, "bad_request")
