"""Alerts, feedback, subscriptions and wishes in SQL. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time

from sqlalchemy import select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute
from bot.unit_of_work.tables_slack import (
    AlertRow,
    DigestSubscriptionRow,
    FindingFeedbackRow,
    SlackWishRow,
)
from bot.views.slack_values import Alert, Feedback, Subscription, Wishes

_ALERT = table_of(AlertRow)
_FEEDBACK = table_of(FindingFeedbackRow)
_SUBSCRIPTION = table_of(DigestSubscriptionRow)


class SqlAlerts:
    """The ``Alerts`` port within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, fingerprint: str) -> Alert | None:
        """Return the newest alert about a finding."""
        row = self._session.execute(
            select(AlertRow)
            .where(_ALERT.c.fingerprint == fingerprint)
            .order_by(_ALERT.c.opened_at.desc(), _ALERT.c.key)
            .limit(1)
        ).scalar_one_or_none()
        return None if row is None else _alert(row)

    def live(self) -> Sequence[Alert]:
        """Return alerts whose finding is open, oldest first."""
        rows = self._session.execute(
            select(AlertRow)
            .where(_ALERT.c.resolved_at.is_(None))
            .order_by(_ALERT.c.opened_at, _ALERT.c.key)
        ).scalars()
        return [_alert(row) for row in rows]

    def members(self, group: str) -> Sequence[Alert]:
        """Return the alerts in the thread of a message, by key."""
        rows = self._session.execute(
            select(AlertRow).where(_ALERT.c.group_key == group).order_by(_ALERT.c.key)
        ).scalars()
        return [_alert(row) for row in rows]

    def put(self, alert: Alert) -> None:
        """Store an alert, or what became of it."""
        self._session.merge(
            AlertRow(
                key=alert.key, fingerprint=alert.fingerprint, opened_at=alert.opened_at,
                channel=alert.channel, group_key=alert.group, face=alert.face,
                changed_at=alert.changed_at, resolved_at=alert.resolved_at,
                snoozed_until=alert.snoozed_until,
            )
        )  # fmt: skip
        self._session.flush()

    def add_feedback(self, feedback: Feedback) -> bool:
        """Store somebody's word; False when they gave it before."""
        known = self._session.execute(
            select(_FEEDBACK.c.feedback_id).where(
                _FEEDBACK.c.fingerprint == feedback.fingerprint,
                _FEEDBACK.c.opened_at == feedback.opened_at,
                _FEEDBACK.c.said_by == feedback.by,
            )
        ).first()
        if known is not None:
            return False
        self._session.add(
            FindingFeedbackRow(
                fingerprint=feedback.fingerprint,
                opened_at=feedback.opened_at,
                policy=feedback.policy,
                job=feedback.job,
                subject=feedback.subject,
                said_by=feedback.by,
                said_at=feedback.said_at,
            )
        )
        self._session.flush()
        return True

    def feedback(self, since: datetime, until: datetime) -> Sequence[Feedback]:
        """Return what people said in a half-open span, oldest first."""
        rows = self._session.execute(
            select(FindingFeedbackRow)
            .where(_FEEDBACK.c.said_at >= since, _FEEDBACK.c.said_at < until)
            .order_by(_FEEDBACK.c.said_at, _FEEDBACK.c.feedback_id)
        ).scalars()
        return [
            Feedback(
                fingerprint=row.fingerprint, opened_at=row.opened_at, policy=row.policy,
                job=row.job, subject=row.subject, by=row.said_by, said_at=row.said_at,
            )
            for row in rows
        ]  # fmt: skip


class SqlSubscriptions:
    """The ``Subscriptions`` port within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self) -> Sequence[Subscription]:
        """Return those that did not end, oldest first."""
        rows = self._session.execute(
            select(DigestSubscriptionRow)
            .where(_SUBSCRIPTION.c.ended_at.is_(None))
            .order_by(_SUBSCRIPTION.c.number)
        ).scalars()
        return [_subscription(row) for row in rows]

    def add(self, wanted: Subscription) -> Subscription:
        """Store one, or return the live one that says the same."""
        for one in self.all():
            same = (one.channel, one.every, one.team) == (
                wanted.channel, wanted.every, wanted.team,
            )  # fmt: skip
            if same and (one.weekday, one.at, one.zone) == (
                wanted.weekday, wanted.at, wanted.zone,
            ):  # fmt: skip
                return one
        row = DigestSubscriptionRow(
            channel=wanted.channel, every=wanted.every, weekday=wanted.weekday,
            at=wanted.at.isoformat("minutes"), zone=wanted.zone, team=wanted.team,
            asked_by=wanted.by, created_at=wanted.created_at, problem="",
        )  # fmt: skip
        self._session.add(row)
        self._session.flush()
        return _subscription(row)

    def end(self, number: int, now: datetime) -> bool:
        """End one; False when there is no such live one."""
        ended = execute(
            self._session,
            update(_SUBSCRIPTION)
            .where(
                _SUBSCRIPTION.c.number == number,
                _SUBSCRIPTION.c.ended_at.is_(None),
            )
            .values(ended_at=now),
        )
        return ended.rowcount == 1

    def trouble(self, number: int, problem: str) -> None:
        """Note why one is not sent; "" when it is again."""
        execute(
            self._session,
            update(_SUBSCRIPTION)
            .where(_SUBSCRIPTION.c.number == number)
            .values(problem=problem),
        )


class SqlWishes:
    """The ``PeopleWishes`` port within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, person_id: str) -> Wishes:
        """Return somebody's wishes; the default when they never said."""
        row = self._session.get(SlackWishRow, person_id)
        if row is None:
            return Wishes()
        return Wishes(
            mentions=row.mentions,
            quiet_from=_time(row.quiet_from),
            quiet_until=_time(row.quiet_until),
        )

    def put(self, person_id: str, wishes: Wishes) -> None:
        """Store somebody's wishes."""
        self._session.merge(
            SlackWishRow(
                person_id=person_id,
                mentions=wishes.mentions,
                quiet_from=_text(wishes.quiet_from),
                quiet_until=_text(wishes.quiet_until),
            )
        )
        self._session.flush()


def _time(text: str) -> time | None:
    return time.fromisoformat(text) if text else None


def _text(at: time | None) -> str:
    return "" if at is None else at.isoformat("minutes")


def _alert(row: AlertRow) -> Alert:
    return Alert(
        key=row.key, fingerprint=row.fingerprint, opened_at=row.opened_at,
        channel=row.channel, group=row.group_key, face=row.face,
        changed_at=row.changed_at, resolved_at=row.resolved_at,
        snoozed_until=row.snoozed_until,
    )  # fmt: skip


def _subscription(row: DigestSubscriptionRow) -> Subscription:
    return Subscription(
        number=row.number or 0, channel=row.channel, every=row.every,
        weekday=row.weekday, at=time.fromisoformat(row.at), zone=row.zone,
        team=row.team, by=row.asked_by, created_at=row.created_at, problem=row.problem,
    )  # fmt: skip
