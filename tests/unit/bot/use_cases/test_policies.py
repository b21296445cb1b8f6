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
    """Return channel and sort of every effect, but for the reasons in threads."""
    with store.database.read() as session:
        rows = session.execute(
            text("SELECT channel, key, kind, thread_of FROM outbox ORDER BY row_id")
        )
        return [
            (channel, _sort(key, kind, thread))
            for channel, key, kind, thread in rows
            if not key.endswith(":details")
        ]


def _sort(key: str, kind: str, thread: str) -> str:
    if kind == "update":
        return "rewritten"
    if ":again:" in key:
        return "again"
    if key.startswith("findings:"):
        return "group"
    return "grouped" if thread else "alert"


def _open(store: SqlStore) -> list[str]:
    with store.read() as unit:
        return [one.finding.subject.id for one in unit.journal.open_findings()]


def test_a_new_finding_is_recorded_and_told_once(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(12), hours=0.1)

    assert _open(store) == ["i-0"]
    assert _posts(store) == [("C0ALERTS", "alert")]


def test_a_finding_that_lasts_is_told_again_after_a_day(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(12), hours=23)
    _run(store, _facts(12), hours=25)
    _run(store, _facts(12), hours=26)

    assert _posts(store) == [("C0ALERTS", "alert"), ("C0ALERTS", "again")]


def test_a_resolved_finding_is_told_once(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(), hours=1)
    _run(store, _facts(), hours=2)

    assert _open(store) == []
    assert _posts(store) == [("C0ALERTS", "alert"), ("C0ALERTS", "rewritten")]


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
    assert _posts(store) == [("C0ALERTS", "alert")]


def test_a_team_with_a_channel_gets_its_own_findings(store: SqlStore) -> None:
    _run(store, _facts(12), teams={"nlp": "C0NLP"})

    assert _posts(store) == [("C0NLP", "alert")]


def test_what_became_unknown_stays_open_and_is_not_told_again(store: SqlStore) -> None:
    _run(store, _facts(12))

    evaluation = _run(store, _facts(-1), hours=1)

    assert evaluation.unknown
    assert _open(store) == ["i-0"]
    assert _posts(store) == [("C0ALERTS", "alert")]


def test_a_finding_of_a_policy_not_judged_stays_open(store: SqlStore) -> None:
    _run(store, _facts(12))

    run_policies(store, [], _facts(), routing=Routing(alerts="C1"), now=_after(1))

    assert _open(store) == ["i-0"]


def test_while_paused_findings_are_told_and_actions_refused(store: SqlStore) -> None:
    pause(store, by="p-ada", reason="maintenance", now=NOW)

    evaluation = _run(store, _facts(12), mode="enforce")

    assert any("paused" in one.reason for one in evaluation.refused)
    assert _posts(store) == [("C0ALERTS", "alert")]


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

    monkeypatch.setattr("bot.use_cases.alerts.finding_alert", fail)

    with pytest.raises(RuntimeError):
        _run(store, _facts(12))

    assert (_open(store), _posts(store)) == ([], [])


def test_a_finding_that_changes_is_rewritten_in_place(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(12), mode="notify", hours=0.1)
    _run(store, _facts(18), hours=6)

    kinds = [sort for _, sort in _posts(store)]
    assert kinds[0] == "alert"
    assert set(kinds[1:]) <= {"rewritten", "again"}


def test_what_comes_back_within_half_an_hour_takes_up_its_old_message(
    store: SqlStore,
) -> None:
    _run(store, _facts(12))
    for turn in range(6):
        _run(store, _facts(), hours=0.1 + turn * 0.2)
        _run(store, _facts(12), hours=0.2 + turn * 0.2)

    kinds = [sort for _, sort in _posts(store)]
    assert kinds.count("alert") == 1
    assert "again" not in kinds
    assert len(kinds) == 13


def test_what_comes_back_later_is_news(store: SqlStore) -> None:
    _run(store, _facts(12))
    _run(store, _facts(), hours=1)
    _run(store, _facts(12), hours=2)

    assert [sort for _, sort in _posts(store)] == ["alert", "rewritten", "alert"]


def test_many_findings_at_once_stand_in_one_thread(store: SqlStore) -> None:
    _run(store, _facts(*[12] * 8))

    assert [sort for _, sort in _posts(store)] == ["group", *["grouped"] * 8]


def test_the_head_of_a_thread_counts_what_is_open(store: SqlStore) -> None:
    _run(store, _facts(*[12] * 8))
    _run(store, _facts(*[12] * 3), hours=0.5)

    with store.database.read() as session:
        heads = session.execute(
            text("SELECT payload FROM outbox WHERE ref LIKE 'findings:%'")
        ).scalars()
        assert [":warning: 3 of 8 are open." in one for one in heads] == [True]
