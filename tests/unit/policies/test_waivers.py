"""Waivers: what they cover, for how long, up to what, and who may decide them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from billing.core.money import Money
from policies.core.actions import plan
from policies.core.decide import decide
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation
from policies.core.waivers import (
    WAIVER_MAX,
    BadWaiverError,
    Waiver,
    WaiverRefusedError,
    WaiverState,
    check_asked,
    check_decided,
    ends_soon,
    holds,
    waive,
)
from policies.ports import StoredFinding
from tests.builders_policies import NOW, idle_instance, make_facts, policy

DAY = timedelta(days=1)
IDLE = policy("""
    name: stop-idle
    kind: idle
    mode: enforce
    steps: [warn, {after: 15m, do: stop}]
    limits: {max_share: 100%}
""")


def make_waiver(**changes: object) -> Waiver:
    waiver = Waiver(
        waiver_id="wvr-1",
        policy="stop-idle",
        subject="job-123",
        owner="p-mia",
        reason="a long debugging session",
        until=NOW + DAY,
        cap=None,
        state=WaiverState.GRANTED,
        asked_at=NOW - DAY,
    )
    return replace(waiver, **changes)  # type: ignore[arg-type] # some keys


def found() -> Evaluation:
    return evaluate([IDLE], make_facts(idle_instance()), NOW)


def waived(**changes: object) -> Evaluation:
    return waive(found(), [make_waiver(**changes)], {"job-123": Money.of("100")})


def test_a_waived_finding_stays_and_calls_for_nothing() -> None:
    (finding,) = waived().findings

    assert finding.waiver == "wvr-1"
    assert finding.actions == ()
    assert finding.fingerprint == found().findings[0].fingerprint


def test_nobody_is_told_of_a_waived_finding() -> None:
    stored: tuple[StoredFinding, ...] = ()

    assert decide(waived(), stored, NOW).notices == ()
    assert len(decide(found(), stored, NOW).notices) == 1


def test_nothing_is_planned_for_a_waived_finding() -> None:
    opened = {found().findings[0].fingerprint: NOW}

    assert plan(waived(), [IDLE], opened, []) == []
    assert len(plan(found(), [IDLE], opened, [])) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "another"},
        {"subject": "job-9"},
        {"until": NOW},
        {"state": WaiverState.ASKED},
        {"state": WaiverState.REFUSED},
        {"state": WaiverState.REVOKED},
        {"cap": Money.of("99.99")},
    ],
)
def test_a_waiver_that_does_not_hold_changes_nothing(
    changes: dict[str, object],
) -> None:
    assert waived(**changes) == found()


def test_a_cap_is_passed_by_strictly_more_and_by_what_nobody_knows() -> None:
    capped = make_waiver(cap=Money.of("100"))

    assert holds(capped, spent=Money.of("100"), now=NOW)
    assert not holds(capped, spent=Money.of("100.01"), now=NOW)
    assert not holds(capped, spent=None, now=NOW)
    assert not holds(capped, spent=Money.of("1", "CNY"), now=NOW)


@pytest.mark.parametrize(
    ("reason", "until"),
    [
        ("", NOW + DAY),
        ("  ", NOW + DAY),
        ("x" * 501, NOW + DAY),
        ("fine", NOW),
        ("fine", NOW + WAIVER_MAX + timedelta(seconds=1)),
    ],
)
def test_a_waiver_needs_a_reason_and_an_end(reason: str, until: datetime) -> None:
    with pytest.raises(BadWaiverError):
        check_asked(reason=reason, until=until, now=NOW)


def test_nobody_grants_their_own_waiver() -> None:
    asked = make_waiver(state=WaiverState.ASKED)

    with pytest.raises(WaiverRefusedError, match="nobody grants"):
        check_decided(asked, by="p-mia", state=WaiverState.GRANTED)
    check_decided(asked, by="p-ada", state=WaiverState.GRANTED)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WaiverState.GRANTED, WaiverState.GRANTED),
        (WaiverState.REFUSED, WaiverState.GRANTED),
        (WaiverState.REVOKED, WaiverState.GRANTED),
        (WaiverState.ASKED, WaiverState.REVOKED),
    ],
)
def test_a_decision_is_final_but_for_an_earlier_end(
    before: WaiverState, after: WaiverState
) -> None:
    with pytest.raises(WaiverRefusedError, match="already"):
        check_decided(make_waiver(state=before), by="p-ada", state=after)


def test_its_end_is_told_within_a_day_of_it() -> None:
    assert ends_soon(make_waiver(until=NOW + DAY), NOW)
    assert not ends_soon(make_waiver(until=NOW + DAY + timedelta(seconds=1)), NOW)
    assert not ends_soon(make_waiver(until=NOW), NOW)
