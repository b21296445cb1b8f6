"""What every store must do with alerts, feedback, subscriptions and wishes."""

from __future__ import annotations

from dataclasses import replace
from datetime import time, timedelta
from typing import TYPE_CHECKING

from bot.views.slack_values import Alert, Feedback, Subscription, Wishes
from tests.builders import NOW

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

HOUR = timedelta(hours=1)
ALERT = Alert(
    key="finding:a:1", fingerprint="a", opened_at=NOW, channel="C1", changed_at=NOW
)
SAID = Feedback(
    fingerprint="a", opened_at=NOW, policy="idle", job="j", subject="s", by="p",
    said_at=NOW,
)  # fmt: skip
WANTED = Subscription(
    channel="C1", every="week", weekday=0, at=time(9), zone="Europe/Oslo", team="nlp",
    by="p", created_at=NOW,
)  # fmt: skip


def test_an_alert_is_kept_and_changed(store: SqlStore) -> None:
    later = replace(ALERT, key="finding:a:2", opened_at=NOW + HOUR, group="findings:x")
    with store.write() as unit:
        unit.alerts.put(ALERT)
        unit.alerts.put(later)
        unit.alerts.put(replace(ALERT, resolved_at=NOW + HOUR, face="f"))

    with store.read() as unit:
        assert unit.alerts.find("a") == later
        assert unit.alerts.find("b") is None
        assert unit.alerts.live() == [later]
        assert unit.alerts.members("findings:x") == [later]


def test_one_person_says_it_once_of_each_opening(store: SqlStore) -> None:
    with store.write() as unit:
        assert unit.alerts.add_feedback(SAID)
        assert not unit.alerts.add_feedback(SAID)
        assert unit.alerts.add_feedback(replace(SAID, by="q"))
        assert unit.alerts.add_feedback(replace(SAID, opened_at=NOW + HOUR))

    with store.read() as unit:
        assert len(unit.alerts.feedback(NOW, NOW + HOUR)) == 3
        assert unit.alerts.feedback(NOW - HOUR, NOW) == []


def test_a_subscription_is_kept_once_and_ended_once(store: SqlStore) -> None:
    with store.write() as unit:
        kept = unit.subscriptions.add(WANTED)
        assert unit.subscriptions.add(WANTED) == kept
        unit.subscriptions.trouble(kept.number, "archived")

    with store.write() as unit:
        assert unit.subscriptions.all() == [replace(kept, problem="archived")]
        assert unit.subscriptions.end(kept.number, NOW)
        assert not unit.subscriptions.end(kept.number, NOW)
        assert unit.subscriptions.all() == []


def test_wishes_are_the_default_until_said(store: SqlStore) -> None:
    said = Wishes(mentions=False, quiet_from=time(22), quiet_until=time(7))
    with store.write() as unit:
        assert unit.wishes.of("p") == Wishes()
        unit.wishes.put("p", said)
        unit.wishes.put("p", said)

    with store.read() as unit:
        assert unit.wishes.of("p") == said
