"""How far a running job left what was approved for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.money import Money
from policies.core.approvals import RequestState
from policies.core.drifting import Approved, Running, approved_by, departures
from policies.core.grants import Grant, grant_of
from tests.builders_policies import NOW, make_request, make_rule

P5, P4 = "p5.48xlarge", "p4d.24xlarge"


def _grant(**envelope: object) -> Grant:
    """4 x p5.48xlarge for 72 h, at most $40,000, with a drift of 20 %."""
    rule = replace(make_rule(), drift=Fraction(1, 5))
    request = make_request(state=RequestState.APPROVED, rule=rule)
    grant = grant_of(replace(request, decided_at=NOW))
    assert grant is not None
    return replace(grant, envelope=replace(grant.envelope, **envelope))  # type: ignore[arg-type]


def _approved(*grants: Grant) -> Approved:
    found = approved_by(grants or (_grant(),))
    assert found is not None
    return found


def _on(count: int | Fraction, shape: str = P5) -> dict[str, Fraction]:
    return {shape: Fraction(count)}


@pytest.mark.parametrize(
    ("running", "told"),
    [
        (Running(), []),
        (Running(instances=_on(4), instance_hours=Fraction(345)), []),
        (Running(cost=Money.of("48000")), []),
        (Running(cost=Money.of("90000", "EUR")), []),
        (Running(instances=_on(5)), ["it runs on 5 instances, approved are 4"]),
        (
            Running(instances=_on(Fraction(11, 2))),
            ["it runs on 5.5 instances, approved are 4"],
        ),
        (
            Running(instance_hours=Fraction(346)),
            ["it has used 346 instance hours, approved are 288"],
        ),
        (
            Running(cost=Money.of("48000.01")),
            ["it has cost $48,000.01, approved are $40,000"],
        ),
        (
            Running(instances=_on(1, P4) | _on(9), cost=Money.of("50000")),
            [
                "it runs on p4d.24xlarge, approved is p5.48xlarge",
                "it runs on 9 instances, approved are 4",
                "it has cost $50,000, approved are $40,000",
            ],
        ),
    ],
)
def test_a_job_drifts_once_it_is_outside_by_more_than_the_drift(
    running: Running, told: list[str]
) -> None:
    assert [one.told for one in departures(_approved(), running)] == told


def test_a_departure_says_what_was_is_and_differs() -> None:
    count, cost = departures(
        _approved(), Running(instances=_on(6), cost=Money.of("60000"))
    )

    assert (count.approved, count.now) == ("4 x p5.48xlarge", "6 x p5.48xlarge")
    assert count.difference == "2 more (+50 %)"
    assert (cost.approved, cost.now) == ("at most $40,000.00", "$60,000.00")
    assert cost.difference == "$20,000.00 more (+50 %)"


def test_all_grants_of_a_job_allow_together() -> None:
    both = _approved(_grant(), _grant(count=2), _grant(instance_type=P4, count=1))

    assert both.instances == {P5: 6, P4: 1}
    assert both.instance_hours == 7 * 72
    assert both.ceiling == Money.of("120000")
    assert departures(both, Running(instances=_on(6) | _on(1, P4))) == ()
    (left,) = departures(both, Running(instances=_on(2, P4)))
    assert left.told == "it runs on 2 instances of p4d.24xlarge, approved are 1"


def test_a_grant_without_a_ceiling_has_none_to_leave() -> None:
    free = _approved(_grant(), _grant(cost_ceiling=None))

    assert departures(free, Running(cost=Money.of("1000000"))) == ()


def test_the_strictest_drift_of_several_grants_holds() -> None:
    both = _approved(_grant(), replace(_grant(), drift=Fraction(0)))

    assert departures(both, Running(instances=_on(8))) == ()
    assert departures(both, Running(instances=_on(9)))


@given(
    count=st.fractions(0, 10),
    hours=st.fractions(0, 1000),
    cents=st.integers(0, 10_000_000),
)
def test_what_stays_inside_never_departs_and_the_rest_does(
    count: Fraction, hours: Fraction, cents: int
) -> None:
    cost = Money.of(f"{cents // 100}.{cents % 100:02}")
    running = Running(instances={P5: count}, instance_hours=hours, cost=cost)
    is_inside = (
        count <= 4 * Fraction(6, 5)
        and hours <= 288 * Fraction(6, 5)
        and cents <= 4_800_000
    )

    assert (departures(_approved(), running) == ()) is is_inside


def test_without_grants_nothing_is_approved() -> None:
    assert approved_by(()) is None
