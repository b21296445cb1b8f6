"""What every ledger must do with estimates and the runs that judge them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.core.charges import Bucket, ChargeCategory, PricingCategory
from billing.ports.anomalies import AwsAnomaly
from tests.builders import NOW, day, make_charge, usd
from tests.builders_estimates import make_finished, make_past
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

EARLIER = NOW - timedelta(days=5)


def test_an_estimate_is_kept_as_it_was_answered(store: SqlStore) -> None:
    made = replace(make_past(actual=None), hours=Fraction(1, 3), request_id="apr-1")
    with store.write() as unit:
        unit.ledger.record_estimate(made)
        unit.ledger.record_estimate(replace(make_past(), job=""))

    with store.read() as unit:
        (found,) = unit.ledger.past_estimates()
    assert replace(found, estimate_id=0) == made


def test_a_finished_run_tells_what_its_estimates_came_to(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.record_estimate(make_past("llm-1", made_at=EARLIER))
        unit.ledger.record_estimate(make_past("llm-2", made_at=EARLIER))
        unit.ledger.record_finished([make_finished("llm-1", cost="1234.5")], NOW)

    with store.read() as unit:
        found = {one.job: one.actual for one in unit.ledger.past_estimates()}
    assert found == {"llm-1": usd("1234.5"), "llm-2": None}


def test_an_estimate_made_after_the_job_began_is_no_prediction(
    store: SqlStore,
) -> None:
    with store.write() as unit:
        unit.ledger.record_estimate(make_past("llm-1", made_at=NOW))
        unit.ledger.record_finished([make_finished("llm-1", started_at=EARLIER)], NOW)

    with store.read() as unit:
        assert unit.ledger.past_estimates() == []


def test_a_run_that_is_read_again_replaces_what_was_there(store: SqlStore) -> None:
    later = NOW + timedelta(days=1)
    with store.write() as unit:
        unit.ledger.record_finished([make_finished(cost="10")], NOW)
    with store.write() as unit:
        unit.ledger.record_finished([make_finished(cost="12")], later)

    with store.read() as unit:
        (run,) = unit.ledger.finished_runs()
        ((ended, read),) = unit.ledger.finished_read_at().values()
    assert run == make_finished(cost="12")
    assert (ended, read) == (run.finished_at, later)


def test_the_share_paid_of_list_is_that_of_the_family_without_spot(
    store: SqlStore,
) -> None:
    charges = [
        make_charge(on="2026-11-28", billed="60", list_cost="100"),
        make_charge(
            on="2026-11-28", billed="1", list_cost="100",
            pricing=PricingCategory.DYNAMIC,
        ),
        make_charge(
            on="2026-11-28", billed="1", list_cost="100", usage_type="BoxUsage:g5.xlarge"
        ),
        make_charge(on="2026-11-20", billed="1", list_cost="100"),
    ]  # fmt: skip
    import_charges(store, charges, days=[day("2026-11-20"), day("2026-11-28")], now=NOW)
    with store.write() as unit:
        unit.ledger.set_billed_through(charges[0].account, NOW, NOW)

    with store.read() as unit:
        week = day("2026-11-23"), day("2026-11-30")
        assert unit.ledger.paid_share("p5", *week) == Fraction(3, 5)
        assert unit.ledger.paid_share("p4d", *week) is None


def _finding(name: str, **fields: object) -> AwsAnomaly:
    base = AwsAnomaly(
        anomaly_id=name, since=day("2026-11-20"), until=day("2026-11-21"),
        service="EC2", region="", account="", usage_type="", impact=usd("5"),
        expected=None, actual=None, monitor="all", feedback="",
    )  # fmt: skip
    return replace(base, **fields)  # type: ignore[arg-type]


def test_findings_of_aws_are_kept_largest_first_and_read_again(store: SqlStore) -> None:
    first = [_finding("a"), _finding("b", impact=usd("9"), until=None)]
    with store.write() as unit:
        unit.ledger.keep_aws_anomalies(first, day("2026-11-01"), EARLIER)
    later = [_finding("b", impact=usd("12"), until=day("2026-11-29"))]
    with store.write() as unit:
        unit.ledger.keep_aws_anomalies(later, day("2026-11-22"), NOW)

    with store.read() as unit:
        found = unit.ledger.aws_anomalies(day("2026-11-20"), day("2026-11-30"))
        assert unit.ledger.aws_anomalies_read_at() == NOW
    assert found == [later[0], first[0]]


def test_no_findings_are_an_answer_too(store: SqlStore) -> None:
    with store.read() as unit:
        assert unit.ledger.aws_anomalies_read_at() is None
    with store.write() as unit:
        unit.ledger.keep_aws_anomalies([], day("2026-11-01"), NOW)

    with store.read() as unit:
        assert unit.ledger.aws_anomalies_read_at() == NOW


def test_fees_are_told_by_day_account_and_job(store: SqlStore) -> None:
    charges = [
        make_charge(on="2026-11-28", billed="60"),
        make_charge(
            on="2026-11-28", billed="900", usage_type="CapacityBlock:p5.48xlarge"
        ),
        make_charge(
            on="2026-11-28", billed="70", job="", record_type="RIFee",
            bucket=Bucket.COMMITMENT_UNUSED, category=ChargeCategory.PURCHASE,
        ),
    ]  # fmt: skip
    import_charges(store, charges, days=[day("2026-11-28")], now=NOW)
    with store.write() as unit:
        unit.ledger.set_billed_through(charges[0].account, NOW, NOW)

    with store.read() as unit:
        found = unit.ledger.fees(day("2026-11-01"), day("2026-12-01"))
    told = sorted((fee.job, fee.bucket, fee.nanos // 10**9) for fee in found)
    assert told == [("", "commitment-unused", 70), ("job-123", "job", 900)]
