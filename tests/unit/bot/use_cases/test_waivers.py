"""Waivers are asked for, decided by an admin, told, reminded of, and on record."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.use_cases.policies import Routing, run_policies
from bot.use_cases.waivers import UnknownWaiverError, ask_waiver, decide_waiver
from policies.core.waivers import Waiver, WaiverRefusedError, WaiverState
from tests.builders_policies import NOW, idle_instance, make_facts, policy

if TYPE_CHECKING:
    from collections.abc import Collection

    from bot.unit_of_work import SqlStore

IDLE = policy("name: idle\nkind: idle\nmode: notify")
DAY = timedelta(days=1)


def asked(store: SqlStore, days: float = 7) -> Waiver:
    return ask_waiver(
        store, policy="idle", subject=" Job-123 ", owner="p-mia", reason="debugging",
        until=NOW + days * DAY, cap=None, channel="C0APPROVALS", now=NOW,
    )  # fmt: skip


def decided(
    store: SqlStore,
    waiver: Waiver,
    state: WaiverState = WaiverState.GRANTED,
    *,
    by: str = "p-ada",
    admins: Collection[str] = ("p-ada",),
) -> Waiver:
    return decide_waiver(
        store, waiver.waiver_id, state, by=by, admins=admins, channel="C0APPROVALS",
        now=NOW,
    )  # fmt: skip


def queued(store: SqlStore) -> int:
    with store.read() as unit:
        return sum(unit.outbox.depth().values())


def evaluate(store: SqlStore) -> str:
    """Run the policy; return the waiver of what it finds."""
    found = run_policies(
        store, [IDLE], make_facts(idle_instance()), routing=Routing(alerts="C0ALERTS"),
        now=NOW,
    )  # fmt: skip
    return found.findings[0].waiver


def test_a_granted_waiver_keeps_a_finding_quiet(store: SqlStore) -> None:
    waiver = decided(store, asked(store))
    before = queued(store)

    assert evaluate(store) == waiver.waiver_id
    assert queued(store) == before


def test_a_waiver_that_was_only_asked_for_does_nothing(store: SqlStore) -> None:
    asked(store)

    assert evaluate(store) == ""


def test_what_is_asked_and_decided_is_told_and_on_record(store: SqlStore) -> None:
    decided(store, asked(store))

    assert queued(store) == 2
    with store.read() as unit:
        assert unit.audit.head()[0] == 2


def test_only_admins_decide(store: SqlStore) -> None:
    waiver = asked(store)

    with pytest.raises(WaiverRefusedError, match=r"slack\.admins"):
        decided(store, waiver, by="p-eve")
    assert evaluate(store) == ""


def test_whoever_asked_may_give_it_back_and_nothing_else(store: SqlStore) -> None:
    waiver = decided(store, asked(store))

    decided(store, waiver, WaiverState.REVOKED, by="p-mia")

    assert evaluate(store) == ""
    with pytest.raises(WaiverRefusedError):
        decided(store, asked(store), by="p-mia")


def test_a_decision_is_made_once(store: SqlStore) -> None:
    waiver = asked(store)
    decided(store, waiver, WaiverState.REFUSED)

    with pytest.raises(WaiverRefusedError, match="already"):
        decided(store, waiver)


def test_its_owner_is_reminded_once_before_the_end(store: SqlStore) -> None:
    decided(store, asked(store, days=0.5))

    evaluate(store)
    before = queued(store)
    evaluate(store)

    assert before == queued(store) == 3


def test_an_unknown_waiver_is_named(store: SqlStore) -> None:
    with pytest.raises(UnknownWaiverError, match="wvr-none"):
        decide_waiver(
            store, "wvr-none", WaiverState.GRANTED, by="p-ada", admins={"p-ada"},
            channel="", now=NOW,
        )  # fmt: skip
