"""What stopping machines spared: until they came back, a day at most, never a guess."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.fleet import Lifecycle
from billing.core.money import Money
from billing.core.periods import Period
from bot.use_cases.digest_extras import saved_by_actions
from bot.use_cases.pricing import price_book
from bot.views.digest_values import Saved
from bot.views.slack_values import Feedback
from policies.core.actions import Action, ActionState
from policies.core.finding import Subject, Target
from tests.builders import ACCOUNT, NOW, REGION
from tests.builders_use_cases import UNPRICED, Company, rate, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

HOUR = timedelta(hours=1)
STOPPED = NOW - 6 * HOUR


def _stop(store: SqlStore, at: datetime = STOPPED) -> None:
    target = Target(
        resource_id="i-1", account=ACCOUNT, region=REGION, manager="ec2",
        lifecycle="on-demand",
    )  # fmt: skip
    action = Action(
        action_id="a-1", policy="stop-idle", policy_hash="h", fingerprint="f" * 32,
        opened_at=at - HOUR, verb="stop", subject=Subject(type="job", id="job-123"),
        job="job-123", targets=(target,), not_before=at, after=timedelta(),
    )  # fmt: skip
    with store.write() as unit:
        unit.journal.add_action(action, at - HOUR)
        unit.journal.begin_action("a-1", now=at, lease_until=at + HOUR)
        unit.journal.end_action("a-1", ActionState.DONE, reason="", now=at)


def _saved(store: SqlStore, *, now: datetime = NOW, team: str = "") -> Saved:
    span = Period(NOW - timedelta(days=7), NOW)
    with store.read() as unit:
        return saved_by_actions(
            unit, span, prices=price_book(unit.ledger, ()), now=now,
            jobs=frozenset() if team else None,
        )  # fmt: skip


@pytest.fixture
def company(store: SqlStore) -> Company:
    """Return a company whose one machine, at $10 an hour, was stopped six hours ago."""
    made = Company(store)
    made.is_priced(rate("10"))
    made.is_watched(runs("i-1", since=NOW - 12 * HOUR), at_=STOPPED - HOUR / 60)
    made.is_watched(at_=STOPPED + HOUR / 60)
    _stop(store)
    return made


def test_a_stopped_machine_spares_its_price_up_to_now(company: Company) -> None:
    assert _saved(company.store) == Saved(amount=Money.of("60"), actions=1)


def test_it_counts_a_day_at_most(company: Company) -> None:
    found = _saved(company.store, now=NOW + 100 * HOUR)

    assert found.amount == Money.of("240")


def test_it_counts_until_the_machine_came_back(company: Company) -> None:
    back = STOPPED + 2 * HOUR
    company.is_watched(runs("i-1", since=back), at_=back + HOUR)

    assert _saved(company.store).amount == Money.of("20")


def test_what_somebody_called_not_idle_counts_nothing(company: Company) -> None:
    with company.store.write() as unit:
        unit.alerts.add_feedback(
            Feedback(
                fingerprint="f" * 32, opened_at=STOPPED - HOUR, policy="stop-idle",
                job="job-123", subject="job-123", by="p-mia", said_at=STOPPED - HOUR / 2,
            )
        )  # fmt: skip

    assert _saved(company.store) == Saved(amount=Money.of("0"), actions=1, denied=1)


def test_committed_capacity_spares_nothing(store: SqlStore) -> None:
    company = Company(store)
    company.is_priced(rate("10"))
    machine = runs("i-1", since=NOW - 12 * HOUR, lifecycle=Lifecycle.CAPACITY_BLOCK)
    company.is_watched(machine, at_=STOPPED - HOUR / 60)
    company.is_watched(at_=STOPPED + HOUR / 60)
    _stop(store)

    assert _saved(store).amount == Money.of("0")


def test_an_unknown_price_is_not_zero(store: SqlStore) -> None:
    company = Company(store)
    machine = runs("i-1", since=NOW - 12 * HOUR, instance_type=UNPRICED)
    company.is_watched(machine, at_=STOPPED - HOUR / 60)
    company.is_watched(at_=STOPPED + HOUR / 60)
    _stop(store)

    assert _saved(store) == Saved(amount=Money.of("0"), actions=1, unpriced=1)


def test_another_teams_action_is_not_ours(company: Company) -> None:
    assert _saved(company.store, team="nlp").actions == 0
