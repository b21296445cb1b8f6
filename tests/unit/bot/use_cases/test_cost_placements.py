"""Running cost of jobs that a scheduler placed: the bill's rule, before the bill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.use_cases.jobs import job_lines
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from tests.builders import NOW, usd
from tests.builders_attribution import make_placement
from tests.builders_use_cases import Company, rate, runs, totals

if TYPE_CHECKING:
    from billing.core.placements import Placement


def placed(company: Company, *placements: Placement) -> None:
    with company.store.write() as unit:
        unit.ledger.record_placements(placements, NOW)


def half(job: str, number: str, gpus: str) -> Placement:
    return make_placement(
        job, gpus=gpus, external_id=number, start="2026-11-30T00:00", end=None
    )


def test_jobs_share_what_runs_by_the_gpus_they_hold(company: Company) -> None:
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", job=""))
    placed(company, half("job-a", "1", "2"), half("job-b", "2", "4"))

    every = company.ask(by="job", since="2026-11-30")

    assert totals(every.groups) == {
        "bucket:idle": "22.50", "job-a": "22.50", "job-b": "45.00",
    }  # fmt: skip
    assert every.total == usd("90")


def test_a_placed_job_is_asked_by_name(company: Company) -> None:
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", job="job-t"), runs("i-2", job="job-t"))
    placed(company, half("job-a", "1", "8"))

    mine = company.ask("job-a", since="2026-11-30")
    others = company.ask("job-t", since="2026-11-30")

    assert (mine.total, others.total) == (usd("90"), usd("90"))


def test_a_list_of_jobs_shows_what_placed_ones_hold_now(company: Company) -> None:
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", job=""), runs("i-2", job="job-t"))
    placed(company, half("job-a", "1", "2"))

    with company.store.read() as unit:
        lines = job_lines(
            unit.ledger,
            CostQuestion(by="job"),
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            now=NOW,
        )

    assert [
        (one.job, one.state, one.instances, one.gpus, one.burn and one.burn.text())
        for one in lines
    ] == [
        ("job-t", "running", 1, 8, "10.00"),
        ("job-a", "running", 1, 2, "2.50"),
    ]


def test_idle_time_is_no_team_without_a_name(company: Company) -> None:
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", job=""))
    placed(company, half("job-a", "1", "4"))

    by_team = company.ask(by="team", since="2026-11-30")

    assert totals(by_team.groups) == {"": "45.00", "bucket:idle": "45.00"}


def test_a_cluster_without_placements_is_named_as_what_it_is(company: Company) -> None:
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", job="", tags={"eks:cluster-name": "prod"}))

    every = company.ask(by="job", since="2026-11-30")

    assert totals(every.groups) == {"eks:prod": "90.00"}
