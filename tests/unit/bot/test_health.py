"""Readiness: 503 is for the database alone; stale data is degraded."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.ledger.database import DatabaseUnavailableError
from bot.settings import load_settings
from bot.use_cases.control import pause
from bot.wiring.application import Application
from bot.wiring.gauges import TOP
from bot.wiring.health import metrics_text, readiness
from tests.builders import ACCOUNT, NOW
from tests.builders_acting import Floor
from tests.builders_use_cases import Company, costs, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore


def _application(store: SqlStore, now: datetime = NOW) -> Application:
    return Application(settings=load_settings(), store=store, now=lambda: now)


def test_a_fresh_company_is_ok(store: SqlStore) -> None:
    Company(store).is_watched(runs())

    ready, document = readiness(_application(store), "")

    assert ready
    assert document == {"status": "ok", "reasons": [], "paused": False}


def test_stale_data_and_broken_policies_are_degraded_and_ready(store: SqlStore) -> None:
    Company(store).is_watched(runs())

    ready, document = readiness(
        _application(store, NOW + timedelta(hours=3)), "no-old-runs: unknown key"
    )

    assert ready
    assert document["status"] == "degraded"
    assert document["reasons"] == [
        f"inventory {ACCOUNT}: not read for 3 h",
        "policy files are invalid; the last good set is in force",
    ]


def test_without_a_database_the_process_is_not_ready(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        reason = "no such host"
        raise DatabaseUnavailableError(reason)

    monkeypatch.setattr(type(store), "read", fail)

    ready, document = readiness(_application(store), "")

    assert not ready
    assert document["status"] == "unavailable"


def test_metrics_say_ages_depth_and_pause(store: SqlStore) -> None:
    Company(store).is_watched(runs())
    pause(store, by="p-ada", reason="", now=datetime(2026, 11, 30, tzinfo=UTC))

    text = metrics_text(_application(store, NOW + timedelta(minutes=2))).decode()

    age = f'gpucost_source_age_seconds{{account="{ACCOUNT}",source="inventory"}} 120.0'
    assert age in text
    assert "gpucost_paused 1.0" in text
    assert "gpucost_aws_requests_today 0.0" in text


def test_events_are_counted_by_what_became_of_them(store: SqlStore) -> None:
    with store.write() as unit:
        unit.events.count({"unreadable": 2, "instance state": 5}, NOW.date())
        unit.events.count({"unreadable": 1}, NOW.date())

    text = metrics_text(_application(store)).decode()

    assert 'gpucost_events_today{outcome="unreadable"} 3.0' in text
    assert 'gpucost_events_today{outcome="instance state"} 5.0' in text


def test_cost_stands_by_job_and_team_and_the_rest_is_one_series(
    store: SqlStore,
) -> None:
    company = Company(store)
    company.bills(
        *(costs("2026-11-28", str(n + 1), job=f"job-{n}") for n in range(30)),
        through="2026-11-30",
    )

    text = metrics_text(_application(store)).decode()

    jobs = [line for line in text.splitlines() if 'gpucost_month_cost{by="job"' in line]
    assert len(jobs) == TOP + 1
    dearest = 'gpucost_month_cost{by="job",currency="USD",key="job-29"} 30.0'
    assert dearest in jobs
    assert 'gpucost_month_cost{by="job",currency="USD",key="other"} 55.0' in jobs


def test_actions_and_sizes_are_counted(store: SqlStore) -> None:
    Floor(store).evaluate()

    text = metrics_text(_application(store)).decode()

    assert 'gpucost_actions{state="waiting"} 1.0' in text
    assert 'gpucost_actions{state="done"} 0.0' in text
    assert 'gpucost_open_findings{policy="stop-idle"} 1.0' in text
    assert "gpucost_approvals_waiting 0.0" in text
    assert "gpucost_aws_request_cost_limit 5.0" in text
    (size,) = re.findall(r"^gpucost_database_bytes (\S+)$", text, re.MULTILINE)
    assert float(size) > 10_000
