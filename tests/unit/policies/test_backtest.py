"""Replays: findings open, last and end over past facts as they would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from policies.core.backtest import Replay, kept_part, replay
from policies.core.facts import Facts
from tests.builders_policies import NOW, make_facts, make_instance, make_job, policy

HOUR = timedelta(hours=1)
SPEND = policy("name: spend\nkind: job-spend\nover: $100")
TTL = policy(
    "name: ttl\nkind: ttl\ndefault: 4h\nignore_activity: true\n"
    "steps: [{before: 1h, do: warn}, {do: terminate}]"
)


def hours(
    facts: Callable[[int], Facts], number: int = 10
) -> Iterator[tuple[datetime, Facts]]:
    for hour in range(number):
        yield NOW + hour * HOUR, facts(hour)


def spending(*amounts: str | None) -> Callable[[int], Facts]:
    return lambda hour: make_facts(jobs=[make_job(spent=amounts[hour])])


def one(found: tuple[Replay, ...]) -> Replay:
    (only,) = found
    return only


def test_a_finding_is_one_fire_from_its_opening_to_its_end() -> None:
    facts = spending("50", "150", "150", "150", "50", "50")

    found = one(replay([SPEND], hours(facts, 6), HOUR))

    (fire,) = found.fires
    assert (fire.opened_at, fire.ended_at) == (NOW + HOUR, NOW + 4 * HOUR)
    assert fire.subject == "job-123"


def test_what_comes_back_fires_again() -> None:
    found = one(replay([SPEND], hours(spending("150", "50", "150"), 3), HOUR))

    assert len(found.fires) == 2
    assert found.subjects == ("job-123",)


def test_what_is_still_open_at_the_end_has_no_end() -> None:
    (fire,) = one(replay([SPEND], hours(spending("50", "150"), 2), HOUR)).fires

    assert fire.ended_at is None
    assert fire.lasted(NOW + 3 * HOUR) == 2 * HOUR


def test_unknown_is_counted_and_no_fire() -> None:
    found = one(replay([SPEND], hours(spending(None, None, "50"), 3), HOUR))

    assert (found.fires, found.unknown) == ((), 2)


def test_an_action_counts_once_its_time_has_come() -> None:
    def facts(hour: int) -> Facts:
        machine = make_instance(running_for=timedelta(hours=2 + hour))
        return make_facts(*([machine] if hour < 5 else []))

    def at(now: datetime, hour: int) -> Facts:
        del now
        return facts(hour)

    moments = [(NOW, at(NOW, hour)) for hour in range(1)]
    assert one(replay([TTL], moments, HOUR)).fires == ()

    early = one(replay([TTL], [(NOW, facts(1))], HOUR)).fires[0]
    late = one(replay([TTL], [(NOW, facts(3))], HOUR)).fires[0]

    assert (early.action, early.acted_at) == ("terminate", None)
    assert late.acted_at == NOW


def test_observing_policies_fire_as_enforcing_ones_would() -> None:
    enforced = policy("name: spend\nkind: job-spend\nover: $100\nmode: enforce")
    facts = spending("150", "150")

    assert (
        one(replay([enforced], hours(facts, 2), HOUR)).fires
        == one(replay([SPEND], hours(facts, 2), HOUR)).fires
    )


def test_idle_is_judged_by_what_is_kept_and_says_so() -> None:
    idle = policy("name: idle\nkind: idle")

    part, without = kept_part(idle)

    assert without == ("network",)
    assert list(part.signals.limits) == ["gpu_utilization"]  # type: ignore[union-attr] # an idle policy
