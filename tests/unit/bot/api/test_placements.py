"""Placements that launchers post."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bot.use_cases.tokens import Scope
from tests.builders import period
from tests.builders_use_cases import costs

if TYPE_CHECKING:
    from tests.builders_http import Site

WHOLE = period("2026-11-01", "2026-12-01")
ONE = {"resource_id": "i-0a1", "started_at": "2026-11-28T00:00:00Z"}


def post(site: Site, body: Any, job: str = "Job-9") -> Any:
    token = site.token(Scope.PLACEMENTS_WRITE)
    return site.post(f"/v1/jobs/{job}/placements", body, token=token)


def kept(site: Site) -> list[tuple[str, str, bool, str | None]]:
    with site.application.store.read() as unit:
        found = unit.ledger.placements(WHOLE)
    return [
        (
            one.job,
            one.resource_id,
            one.ended_at is None,
            None if one.gpus is None else str(one.gpus),
        )
        for one in found
    ]


def test_a_running_placement_is_ended_by_the_next_post(any_site: Site) -> None:
    first = post(any_site, {"placements": [ONE | {"gpus": "0.5"}]})
    ended = ONE | {"gpus": "0.5", "ended_at": "2026-11-28T12:00:00Z"}

    again = post(any_site, {"placements": [ended]})

    assert first.json == {"schema": 1, "recorded": 1, "changed": 1}
    assert again.json == {"schema": 1, "recorded": 1, "changed": 1}
    assert post(any_site, {"placements": [ended]}).json["changed"] == 0
    assert kept(any_site) == [("job-9", "i-0a1", False, "0.5")]


def test_a_second_start_is_kept_beside_the_first(site: Site) -> None:
    later = ONE | {"started_at": "2026-11-29T00:00:00Z"}

    post(site, {"placements": [ONE | {"ended_at": "2026-11-28T01:00:00Z"}, later]})

    assert kept(site) == [
        ("job-9", "i-0a1", False, None),
        ("job-9", "i-0a1", True, None),
    ]


def test_the_bill_moves_to_the_job_at_once(site: Site) -> None:
    charge = costs("2026-11-28", "240", job="", quantity="24")
    site.company.bills(replace(charge, resource_id="i-0a1"), through="2026-11-29")

    post(site, {"placements": [ONE]})

    reply = site.get("/v1/costs/jobs/job-9", token=site.token(Scope.COSTS_READ))
    assert reply.json["total"] == "240.00"


@pytest.mark.parametrize(
    "one",
    [
        {},
        ONE | {"gpus": -1},
        ONE | {"gpus": "NaN"},
        ONE | {"ended_at": "2026-11-27T00:00:00Z"},
        ONE | {"started_at": "2026-11-28T00:00:00"},
        ONE | {"price": 1},
    ],
    ids=str,
)
def test_a_placement_that_cannot_be_meant_is_refused_whole(
    site: Site, one: dict[str, Any]
) -> None:
    assert post(site, {"placements": [ONE, one]}).status == 422

    assert kept(site) == []


def test_a_job_that_would_be_a_bucket_is_refused(site: Site) -> None:
    assert post(site, {"placements": [ONE]}, job="bucket:idle").status in {400, 422}

    assert kept(site) == []
