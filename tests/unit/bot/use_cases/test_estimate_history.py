"""Estimates on record, judged by finished runs, and what they teach the next one."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from bot.use_cases.estimate import PlanTexts, estimate_run, read_plan
from bot.use_cases.estimate_history import on_record, read_finished, score_of
from bot.use_cases.pricing import price_book
from tests.builders import NOW, REGION, at, make_price, usd
from tests.builders_estimates import make_finished, make_past
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from billing.core.estimate import Estimate
    from billing.core.estimate_history import FinishedRun
    from bot.unit_of_work import SqlStore

LONG_AGO = NOW - timedelta(days=60)


def _finished(store: SqlStore) -> tuple[FinishedRun, ...]:
    with store.read() as unit:
        return read_finished(unit.ledger, NOW)


def _estimate(
    store: SqlStore, *, count: int = 4, job: str = "", **texts: str
) -> Estimate:
    plan = read_plan(
        PlanTexts(
            instance_type="p5.48xlarge", count=count, hours="10", region=REGION,
            job=job, **texts,  # type: ignore[arg-type]
        ),
        NOW,
    )  # fmt: skip
    with store.write() as unit:
        unit.ledger.record_prices([make_price("100")], NOW)
        return estimate_run(plan, price_book(unit.ledger, ()), NOW)


def _ended(company: Company, job: str = "llm-1") -> None:
    """Let a job of two instances run for four hours, be billed and be over."""
    began, ends = "2026-11-26T00:00Z", at("2026-11-26T04:00Z")
    both = [runs(f"i-{n}", job=job, since=began) for n in (1, 2)]
    company.is_watched(*both, at_="2026-11-26T00:05Z")
    company.is_watched(*both, at_=ends)
    company.is_watched(at_=ends + timedelta(minutes=5))
    company.bills(costs("2026-11-26", "900", job=job), days=["2026-11-26"])


def test_a_run_that_is_over_and_billed_is_read(store: SqlStore) -> None:
    company = Company(store)
    _ended(company)
    company.is_billed_through("2026-11-28T00:00Z")

    (run,) = _finished(store)

    assert (run.job, run.cost, run.count) == ("llm-1", usd("900"), 2)
    assert run.instance_type == "p5.48xlarge"
    assert Fraction(4) <= run.hours <= Fraction(5)


def test_a_run_that_is_not_billed_to_its_end_waits(store: SqlStore) -> None:
    company = Company(store)
    _ended(company)
    company.is_billed_through("2026-11-26T00:00Z")

    assert _finished(store) == ()


def test_what_still_runs_is_not_judged(store: SqlStore) -> None:
    company = Company(store)
    company.is_watched(runs(since="2026-11-26T00:00Z"), at_="2026-11-26T01:00Z")
    company.bills(costs("2026-11-26", "900"), days=["2026-11-26"])
    company.is_billed_through("2026-11-28T00:00Z")

    assert _finished(store) == ()


def test_a_launch_that_never_started_is_not_judged(store: SqlStore) -> None:
    # C148: it cost nothing, which is no proof of a wrong estimate.
    company = Company(store)
    company.bills(costs("2026-11-26", "0", job="llm-1"), days=["2026-11-26"])
    company.is_billed_through("2026-11-28T00:00Z")

    assert _finished(store) == ()


def test_a_run_on_record_is_read_again_only_while_its_bill_may_move(
    store: SqlStore,
) -> None:
    company = Company(store)
    _ended(company)
    company.is_billed_through("2026-11-28T00:00Z")
    with store.write() as unit:
        unit.ledger.record_finished(_finished(store), NOW)

    with store.read() as unit:
        soon = read_finished(unit.ledger, NOW + timedelta(hours=1))
        tomorrow = read_finished(unit.ledger, NOW + timedelta(days=1))
        later = read_finished(unit.ledger, NOW + timedelta(days=90))
    assert (len(soon), len(tomorrow), len(later)) == (0, 1, 0)


def test_an_answer_is_kept_and_judged_by_what_its_job_cost(store: SqlStore) -> None:
    found = _estimate(store, job="llm-1")
    with store.write() as unit:
        unit.ledger.record_estimate(on_record(found, NOW - timedelta(days=9)))
        unit.ledger.record_finished([make_finished("llm-1", cost="5200")], NOW)

    with store.read() as unit:
        judged = score_of(unit.ledger)
    assert (judged.judged, judged.within) == (1, 1)
    assert judged.median_error == 0


def test_enough_finished_runs_stand_in_for_the_rules_of_thumb(store: SqlStore) -> None:
    with store.write() as unit:
        for number in range(5):
            job = f"past-{number}"
            unit.ledger.record_estimate(make_past(job, made_at=LONG_AGO))
            run = make_finished(job, cost=str(1000 + 50 * number))
            unit.ledger.record_finished([run], NOW)

    found = _estimate(store)

    assert (found.low, found.expected, found.high) == (
        usd("4080"), usd("4400"), usd("4720"),
    )  # fmt: skip
    line = next(one for one in found.lines if one.name == "as past runs went")
    assert "5 finished runs like it" in line.basis
    note = next(one for one in found.notes if one.name == "past estimates")
    assert "5 of 5 runs cost between low and high" in note.text


def test_other_counts_are_offered_from_runs_of_the_same_kind_of_job(
    store: SqlStore,
) -> None:
    with store.write() as unit:
        unit.ledger.record_finished(
            [
                make_finished("llm-7b-1", count=4, hours="10"),
                make_finished("llm-7b-2", count=8, hours="8"),
                make_finished("other-1", count=2, hours="1"),
            ],
            NOW,
        )

    ways = {one.what: one for one in _estimate(store, job="llm-7b-3").alternatives}
    alone = {one.what for one in _estimate(store, job="new-1").alternatives}

    assert ways["2 instances"].expected == usd("3640")
    assert "14 h instead of 10 h" in ways["2 instances"].why
    assert "measured on llm-7b-1, llm-7b-2" in ways["2 instances"].why
    assert not [what for what in alone if what.endswith("instances")]


def test_what_the_bill_says_was_paid_is_the_organisations_price(
    store: SqlStore,
) -> None:
    company = Company(store)
    company.bills(costs("2026-11-28", "60", list_cost="100"), days=["2026-11-28"])
    company.is_billed_through("2026-11-30T00:00Z")

    found = _estimate(store)

    assert (found.list_rate.text(), found.yours.text()) == ("100.00", "60.00")
    assert found.compute == usd("4000")
    assert found.low == usd("2400")
    assert "60 % of list" in found.lines[1].basis


def test_a_quoted_block_is_paid_whole(store: SqlStore) -> None:
    found = _estimate(store, count=30, purchase="capacity-block", quoted_price="$31.46")

    # 30 x 10 h fits into one day of 32 instances.
    assert found.expected == found.low == found.high == usd("24161.28")
    assert found.compute == usd("9438")
    assert found.lines[1].name == "rest of the capacity block"
    assert found.price_source == "your quote"


def test_checkpoints_and_a_year_of_runs_are_told(store: SqlStore) -> None:
    found = _estimate(
        store, model_params="70B", checkpoint_every="30m", keep="7d",
        retrain_per_year="52",
    )  # fmt: skip

    line = next(one for one in found.lines if one.name == "checkpoints")
    assert line.basis.startswith("20 of 140 GB, 2.8 TB in all")
    assert str(line.cost) == "$13.80"
    (yearly,) = (one for one in found.notes if one.name == "retraining")
    assert yearly.text.startswith(f"52 runs a year cost {found.expected * 52} (")


def test_the_published_year_of_weekly_runs(store: SqlStore) -> None:
    found = _estimate(
        store, count=8, purchase="capacity-block", quoted_price="$144",
        retrain_per_year="52",
    )  # fmt: skip

    assert found.compute * 5 == usd("57600")  # 8 x $144 x 50 h
    assert usd("57600") * 52 == usd("2995200")
    assert "52 runs a year" in found.notes[-1].text


def test_on_premises_is_compared_with_everything_that_is_assumed(
    store: SqlStore,
) -> None:
    ways = {
        one.what: one
        for one in _estimate(
            store, compare="on-premises managed", on_premises="price=$300,000"
        ).alternatives
    }

    assert ways["on-premises"].expected is None
    assert "has paid after month" in ways["on-premises"].why
    assert "10.2 kW each x 1.56 for cooling at $0.10/kWh" in ways["on-premises"].why
    assert "about 30 % over EC2" in ways["sagemaker or hyperpod"].why


def test_calm_regions_are_named_where_interruptions_can_be_borne(
    store: SqlStore,
) -> None:
    plan = PlanTexts(
        instance_type="p5.48xlarge", count=1, hours="1", region=REGION,
        is_interruptible=True,
    )  # fmt: skip
    with store.read() as unit:
        found = estimate_run(read_plan(plan, NOW), price_book(unit.ledger, ()), NOW)

    (elsewhere,) = (one for one in found.alternatives if one.what == "spot elsewhere")
    assert elsewhere.expected is None
    assert "calmest first" in elsewhere.why
    assert "-62 %" not in elsewhere.why
