"""Findings are recorded and told: once, when worse, daily while they last, and ended."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from bot.use_cases.control import pause, resume
from bot.use_cases.policies import Routing, run_policies
from policies.core.facts import Facts
from tests.builders_policies import (
    NOW,
    make_facts,
    make_instance,
    policy,
)

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from policies.core.catalogue import Policy
    from policies.core.finding import Evaluation

TTL = """
    name: no-old-runs
    kind: ttl
    mode: {mode}
    default: 4h
"""


def _policy(mode: str = "notify") -> Policy:
    return policy(TTL.format(mode=mode))


def _facts(*running_for: float) -> Facts:
    """Return facts of instances without a job that have run for so many hours."""
    return make_facts(
        *(
            make_instance(
                f"i-{index}",
                job="",
                running_for=timedelta(hours=hours) if hours >= 0 else None,
            )
            for index, hours in enumerate(running_for)
        )
    )


def _run(
    store: SqlStore,
    facts: Facts,
    *,
    mode: str = "notify",
    hours: float = 0,
    alerts: str = "C0ALERTS",
    teams: dict[str, str] | None = None,
) -> Evaluation:
    return run_policies(
        store,
        [_policy(mode)],
        facts,
        routing=Routing(alerts=alerts, teams=teams or {}),
        now=_after(hours),
    )


def _after(hours: float) -> datetime:
    return NOW + timedelta(hours=hours)


def _posts(store: SqlStore) -> list[tuple[str, str]]:
    """Return channel and last word of the key of every post."""
    with store.database.read() as session:
        rows = session.execute(text("SELECT channel, key FROM outbox ORDER BY row_id"))
        return [(channel, key.rsplit(":", 1)[-1]) for channel, key in rows]


def _open(store: SqlStore) -> list[str]:
    with store.read() as unit:
        return [one.finding.subject.id for one in unit.journal.open_findings()]


def test_a_new_finding_is_recorded_and_told_once(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(12), hours=0.1)

    assert _open(store) == ["i-0"]
    assert _posts(store) == [("C0ALERTS", "first")]


def test_a_finding_that_lasts_is_told_again_after_a_day(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(12), hours=23)
    _run(store, _facts(12), hours=25)
    _run(store, _facts(12), hours=26)

    assert len(_posts(store)) == 2


def test_a_resolved_finding_is_told_once(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(), hours=1)
    _run(store, _facts(), hours=2)

    assert _open(store) == []
    assert _posts(store) == [("C0ALERTS", "first"), ("C0ALERTS", "resolved")]


def test_observing_records_and_posts_nothing(store: SqlStore) -> None:
    _run(store, _facts(12), mode="observe")
    _run(store, _facts(), mode="observe", hours=1)

    assert _posts(store) == []


def test_without_a_channel_nothing_is_posted_and_the_finding_stays_untold(
    store: SqlStore,
) -> None:
    _run(store, _facts(12), alerts="")
    _run(store, _facts(12), hours=1)

    assert _open(store) == ["i-0"]
    assert _posts(store) == [("C0ALERTS", "first")]


def test_a_team_with_a_channel_gets_its_own_findings(store: SqlStore) -> None:
    _run(store, _facts(12), teams={"nlp": "C0NLP"})

    assert _posts(store) == [("C0NLP", "first")]


def test_what_became_unknown_stays_open_and_is_not_told_again(store: SqlStore) -> None:
    _run(store, _facts(12))

    evaluation = _run(store, _facts(-1), hours=1)

    assert evaluation.unknown
    assert _open(store) == ["i-0"]
    assert _posts(store) == [("C0ALERTS", "first")]


def test_a_finding_of_a_policy_not_judged_stays_open(store: SqlStore) -> None:
    _run(store, _facts(12))

    run_policies(store, [], _facts(), routing=Routing(alerts="C1"), now=_after(1))

    assert _open(store) == ["i-0"]


def test_while_paused_findings_are_told_and_actions_refused(store: SqlStore) -> None:
    pause(store, by="p-ada", reason="maintenance", now=NOW)

    evaluation = _run(store, _facts(12), mode="enforce")

    assert any("paused" in one.reason for one in evaluation.refused)
    assert _posts(store) == [("C0ALERTS", "first")]


def test_a_second_pause_keeps_who_was_first_and_both_ends_are_on_record(
    store: SqlStore,
) -> None:
    first = pause(store, by="p-ada", reason="one", now=NOW)
    second = pause(store, by="p-bob", reason="two", now=_after(1))
    resume(store, by="p-bob", now=_after(2))
    resume(store, by="p-bob", now=_after(3))

    assert (first["by"], second["by"], second["reason"]) == ("p-ada", "p-ada", "one")
    with store.database.read() as session:
        events = session.execute(text("SELECT event FROM audit_event ORDER BY 1"))
        assert [one for (one,) in events] == ["paused", "resumed"]
    with store.read() as unit:
        assert unit.control.paused() is None


def test_a_failure_halfway_records_and_queues_nothing(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "the view broke"
        raise RuntimeError(message)

    monkeypatch.setattr("bot.use_cases.policies.finding_alert", fail)

    with pytest.raises(RuntimeError):
        _run(store, _facts(12))

    assert (_open(store), _posts(store)) == ([], [])
