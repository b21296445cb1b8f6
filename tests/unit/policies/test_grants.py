"""What a grant covers, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.money import Money
from billing.core.prices import Purchase
from policies.core.approvals import (
    ApprovalRequest,
    PastEvent,
    RequestEvent,
    RequestState,
)
from policies.core.grants import (
    Grant,
    Launch,
    StartedLaunch,
    Usage,
    covers,
    crowded,
    disowned,
    grant_of,
    usage_of,
)
from tests.builders_policies import NOW, make_request, make_rule

NOTHING = Usage()
END = NOW + timedelta(hours=24 + 72)


def _approved() -> ApprovalRequest:
    """4 x p5.48xlarge for 72 h, at most $40,000, with a drift of 20 %."""
    rule = replace(make_rule(), drift=Fraction(1, 5))
    request = make_request(state=RequestState.APPROVED, rule=rule)
    return replace(request, decided_at=NOW)


def _grant() -> Grant:
    grant = grant_of(_approved())
    assert grant is not None
    return grant


def _launch(**changes: object) -> Launch:
    envelope = _grant().envelope
    launch = Launch(
        job=envelope.job,
        instance_type=envelope.instance_type,
        count=envelope.count,
        hours=envelope.hours,
        purchase=envelope.purchase,
        region=envelope.region,
        cost=envelope.cost_ceiling,
    )
    return replace(launch, **changes)  # type: ignore[arg-type]


def test_a_launch_as_approved_is_covered() -> None:
    assert covers(_grant(), _launch(), NOTHING, NOW) is None


@pytest.mark.parametrize(
    "smaller",
    [
        {"count": 1},
        {"hours": Fraction(1)},
        {"cost": Money.of("10")},
        {"cost": None},
        {"job": " Job-123 "},
    ],
)
def test_a_smaller_launch_is_covered(smaller: dict[str, object]) -> None:
    assert covers(_grant(), _launch(**smaller), NOTHING, NOW) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"job": "job-124"}, "of job 'job-123', not of 'job-124'"),
        ({"instance_type": "p4d.24xlarge"}, "'p4d.24xlarge' was not approved"),
        ({"purchase": Purchase.SPOT}, "'spot' was not approved"),
        ({"region": "eu-west-1"}, "'eu-west-1' was not approved"),
        ({"count": 5}, "5 instances are more than the 4 approved"),
        ({"count": 0}, "at least one instance"),
        ({"hours": Fraction(145, 2)}, "72.5 h are more than the 72 h approved"),
        ({"hours": Fraction(0)}, "more than no time"),
        ({"cost": Money.of("48000.01")}, "$48,000.01 by now, more than the $40,000"),
    ],
)
def test_another_launch_is_not_covered(changes: dict[str, object], said: str) -> None:
    assert said in (covers(_grant(), _launch(**changes), NOTHING, NOW) or "")


def test_a_price_that_rose_within_the_drift_asks_nobody() -> None:
    assert covers(_grant(), _launch(cost=Money.of("48000")), NOTHING, NOW) is None


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (NOW - timedelta(seconds=1), "holds only from 2026-11-30T09:00:00Z"),
        (NOW, ""),
        (END - timedelta(seconds=1), ""),
        (END, "ended at 2026-12-04T09:00:00Z"),
    ],
)
def test_a_grant_holds_from_the_decision_for_a_day_and_its_hours(
    now: datetime, said: str
) -> None:
    why = covers(_grant(), _launch(), NOTHING, now)

    assert (said in (why or "")) if said else why is None


def test_a_restart_is_covered_while_hours_are_left() -> None:
    almost = Usage(instance_hours=4 * Fraction(72) - Fraction(1, 3600))
    all_of_them = Usage(instance_hours=4 * Fraction(72))

    assert covers(_grant(), _launch(), almost, NOW) is None
    assert "all 288 instance hours" in (
        covers(_grant(), _launch(), all_of_them, NOW) or ""
    )


def test_a_launch_beside_others_must_fit_the_count() -> None:
    grant, half = _grant(), _launch(count=2)

    assert covers(grant, half, Usage(running=2), NOW) is None
    assert "3 of 4 approved instances run" in (
        covers(grant, half, Usage(running=3), NOW) or ""
    )
    assert crowded(grant, half, Usage(running=3)) is not None


def test_a_job_that_cost_more_than_approved_is_not_restarted() -> None:
    at_the_limit = Usage(cost=Money.of("40000"))
    over_it = Usage(cost=Money.of("40000.01"))

    assert covers(_grant(), _launch(), at_the_limit, NOW) is None
    assert "$40,000.01 since" in (covers(_grant(), _launch(), over_it, NOW) or "")


def test_a_run_approved_without_a_price_has_no_ceiling() -> None:
    grant = replace(_grant(), envelope=replace(_grant().envelope, cost_ceiling=None))

    assert covers(grant, _launch(cost=Money.of("1000000")), NOTHING, NOW) is None


@pytest.mark.parametrize(
    "state", [state for state in RequestState if state is not RequestState.APPROVED]
)
def test_only_an_approved_request_has_a_grant(state: RequestState) -> None:
    request = replace(_approved(), state=state)

    assert grant_of(request) is None
    assert f"is {state.value}" in (disowned(_grant(), request) or "")


# C094
def test_a_grant_is_disowned_when_the_record_says_otherwise() -> None:
    grant, request = _grant(), _approved()
    envelope = replace(request.envelope, count=400)

    assert disowned(grant, request) is None
    assert "no approval request 'apr-1'" in (disowned(grant, None) or "")
    assert "changed since" in (disowned(grant, replace(request, version=2)) or "")
    assert "for something else" in (
        disowned(replace(grant, envelope=envelope), request) or ""
    )


def test_a_lapsed_grant_says_how_its_job_left_it() -> None:
    event = PastEvent(
        event=RequestEvent.LAPSE, version=1, state=RequestState.LAPSED, by="", at=NOW,
        text="it runs on 5 instances, approved are 4; apr-2 asks again",
    )  # fmt: skip
    lapsed = replace(_approved(), state=RequestState.LAPSED)

    assert disowned(_grant(), lapsed) == "request apr-1 is lapsed"
    assert disowned(_grant(), replace(lapsed, history=(event,))) == (
        "the grant of apr-1 lapsed: it runs on 5 instances, approved are 4;"
        " apr-2 asks again"
    )


@given(
    running=st.integers(0, 6),
    count=st.integers(-1, 6),
    used=st.fractions(0, 300),
    hours=st.fractions(-1, 80),
)
def test_what_is_covered_never_leaves_the_envelope(
    running: int, count: int, used: Fraction, hours: Fraction
) -> None:
    usage = Usage(running=running, instance_hours=used)

    if covers(_grant(), _launch(count=count, hours=hours), usage, NOW) is None:
        assert 1 <= count <= 4 - running
        assert 0 < hours <= 72
        assert used < 288


def _started(count: int, now: datetime) -> StartedLaunch:
    return StartedLaunch(
        launch_id=1,
        count=count,
        started_at=now,
        last_at=now,
        lease_until=now + timedelta(minutes=2),
    )


def _heard(one: StartedLaunch, now: datetime) -> StartedLaunch:
    return replace(one, last_at=now, lease_until=now + timedelta(minutes=2))


@st.composite
def _histories(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Draw what happens to a job: starts, ends, deaths, each some time later."""
    events = st.tuples(
        st.sampled_from(["start", "start", "end", "die"]),
        st.integers(0, 4),  # how many instances, or which launch
        st.integers(0, 1800),  # minutes
    )
    return draw(st.lists(events, max_size=30))


@given(_histories())
def test_no_history_of_restarts_passes_what_was_approved(
    history: list[tuple[str, int, int]],
) -> None:
    """Whatever dies or restarts: never more at once, and no start without hours left."""
    grant, now = _grant(), NOW
    launches: list[StartedLaunch] = []
    alive: set[int] = set()
    for event, number, minutes in history:
        now += timedelta(minutes=minutes)
        launches = [
            _heard(one, now) if i in alive else one for i, one in enumerate(launches)
        ]
        usage = usage_of(launches, now=now, system_now=now)
        if event == "start":
            if covers(grant, _launch(count=number), usage, now) is None:
                alive.add(len(launches))
                launches.append(_started(number, now))
                assert usage.instance_hours < 288
        elif number in alive:
            alive.discard(number)
            if event == "end":
                launches[number] = replace(launches[number], ended_at=now)

        assert sum(launches[i].count for i in alive) <= 4
