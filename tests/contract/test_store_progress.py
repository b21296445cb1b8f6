"""Progress, hours of use and tokens, on every kind of database."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.periods import Period
from billing.core.progress import Counter, ProgressReport
from billing.ports.progress import HourOfUse
from bot.ports import ApiToken
from tests.builders import NOW, at

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


def _report(time: str, value: int, counter: Counter = Counter.STEPS) -> ProgressReport:
    return ProgressReport(counter=counter, at=at(f"2026-11-30T{time}Z"), value=value)


def _record(store: SqlStore, *reports: ProgressReport, job: str = "job-123") -> None:
    with store.write() as unit:
        unit.ledger.record_progress(job, reports, by="p-1", now=NOW)


def test_reports_come_back_by_counter_and_time(store: SqlStore) -> None:
    later, sooner = _report("02:00", 20), _report("01:00", 10)
    tokens = _report("01:30", 2**62, Counter.TOKENS)
    _record(store, later, tokens, sooner)
    _record(store, _report("01:00", 99), job="job-9")

    with store.read() as unit:
        assert unit.ledger.progress_reports(" Job-123 ") == [sooner, later, tokens]
        assert unit.ledger.progress_reports("job-123", Counter.TOKENS) == [tokens]
        assert unit.ledger.progress_reports("unknown") == []


def test_the_same_report_again_changes_nothing_and_a_new_value_replaces(
    store: SqlStore,
) -> None:
    _record(store, _report("01:00", 10))
    _record(store, _report("01:00", 10))
    _record(store, _report("01:00", 12))

    with store.read() as unit:
        assert unit.ledger.progress_reports("job-123") == [_report("01:00", 12)]


def test_hours_of_use_are_read_by_resource_and_period(store: SqlStore) -> None:
    hours = [
        HourOfUse(
            resource_id=name, hour=at(f"2026-11-30T{hour:02}:00Z"), gpu_pct=50.5,
            covered_s=3600,
        )
        for name in ("i-1", "i-2")
        for hour in range(4)
    ]  # fmt: skip
    with store.write() as unit:
        unit.ledger.record_use(hours)
        unit.ledger.record_use(
            [
                HourOfUse(
                    resource_id="i-1", hour=hours[1].hour, gpu_pct=1.0, covered_s=60
                )
            ]
        )
    period = Period(at("2026-11-30T01:00Z"), at("2026-11-30T03:00Z"))

    with store.read() as unit:
        found = unit.ledger.hours_of_use(["i-1"], period)
        assert [(one.hour.hour, one.gpu_pct, one.covered_s) for one in found] == [
            (1, 1.0, 60),
            (2, 50.5, 3600),
        ]
        assert unit.ledger.hours_of_use([], period) == []
        assert unit.ledger.last_hour_of_use() == hours[3].hour


def test_without_hours_of_use_the_last_one_is_unknown(store: SqlStore) -> None:
    with store.read() as unit:
        assert unit.ledger.last_hour_of_use() is None


def test_a_token_is_found_until_revoked_and_stays_on_record(store: SqlStore) -> None:
    token = ApiToken(
        token_id="0123456789",
        digest="d" * 64,
        person_id="p-1",
        scopes=frozenset({"costs:read", "admission"}),
        created_at=NOW,
        created_by="p-2",
        expires_at=NOW + timedelta(days=1),
    )
    with store.write() as unit:
        unit.tokens.add(token)

    with store.read() as unit:
        assert unit.tokens.find("0123456789") == token
        assert unit.tokens.find("other") is None
    with store.write() as unit:
        unit.tokens.used("0123456789", NOW)
        assert unit.tokens.revoke("0123456789", NOW)
        assert not unit.tokens.revoke("0123456789", NOW)
        assert not unit.tokens.revoke("other", NOW)
    with store.read() as unit:
        (found,) = unit.tokens.all()
    assert (found.revoked_at, found.used_at) == (NOW, NOW)
