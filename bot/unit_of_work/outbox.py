"""Slack effects in SQL: stored with what caused them, claimed by one worker at a time.

Channels are served one message at a time in the order of storing, and not faster than
Slack allows. Knows nothing of Slack's API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, literal_column, or_, select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing, serialise, upsert
from bot.ports import OutboxMessage, OutboxRow
from bot.unit_of_work.tables import OutboxChannelRow, OutboxMessageRow

_OUTBOX = table_of(OutboxMessageRow)
_CHANNEL = table_of(OutboxChannelRow)
_PENDING = "pending"
_SENDING = "sending"
_SENT = "sent"
_FAILED = "failed"
#: A newer rewrite of the same post made this one pointless.
_SUPERSEDED = "superseded"
_UPDATE = "update"
#: Written out, not bound: SQLite uses a partial index only for the same literals.
_LIVE: tuple[Any, ...] = (literal_column("'pending'"), literal_column("'sending'"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxLimits:
    """How fast effects may leave.

    Attributes:
        channel_gap: Least time between two messages to one channel (Slack: one a second,
            https://docs.slack.dev/apis/web-api/rate-limits).
    """

    channel_gap: timedelta = timedelta(seconds=1)


class SqlOutbox:
    """Effects within one session.

    Args:
        session: The unit's session.
        limits: How fast effects may leave.
        clock: Times effects instead of whoever stores them. Sending follows the system
            clock, while rules may be asked under a set clock in another month.
    """

    def __init__(
        self,
        session: Session,
        limits: OutboxLimits | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._session = session
        self._limits = limits or OutboxLimits()
        self._clock = clock

    def put(self, message: OutboxMessage, now: datetime) -> bool:
        """Store an effect; False when its key is already there (nothing changes).

        A rewrite takes the place of older rewrites of the same post that still wait.
        """
        now = self._clock() if self._clock else now
        stored = self._session.execute(
            insert_or_nothing(self._session, OutboxMessageRow)
            .values(
                key=message.key,
                kind=message.kind,
                channel=message.channel,
                payload=json.dumps(message.payload, sort_keys=True),
                ref=message.ref,
                user_id=message.user,
                thread_of=message.thread_of,
                state=_PENDING,
                attempts=0,
                created_at=now,
                next_attempt_at=now,
                claimed_by="",
                slack_channel="",
                slack_ts="",
                error="",
            )
            .returning(_OUTBOX.c.row_id)
        ).scalar_one_or_none()
        if stored is None:
            return False
        if message.kind == _UPDATE:
            self._supersede(message.ref, stored, now)
        return True

    def _supersede(self, ref: str, newest: int, now: datetime) -> None:
        execute(
            self._session,
            update(_OUTBOX)
            .where(
                _OUTBOX.c.kind == _UPDATE,
                _OUTBOX.c.ref == ref,
                _OUTBOX.c.state == _PENDING,
                _OUTBOX.c.row_id < newest,
            )
            .values(state=_SUPERSEDED, finished_at=now),
        )

    def claim(self, now: datetime, *, worker: str, limit: int) -> Sequence[OutboxRow]:
        """Mark due rows ``sending`` for a worker and return them, oldest first.

        At most one row of a channel is under way; the next waits for it, for the
        channel's pace, and (a rewrite, a reply) for the post it belongs to.
        """
        serialise(self._session, "outbox claim")
        ids = list(self._session.execute(_due(now).limit(limit)).scalars())
        if not ids:
            return []
        execute(
            self._session,
            update(_OUTBOX)
            .where(_OUTBOX.c.row_id.in_(ids), _OUTBOX.c.state == _PENDING)
            .values(
                state=_SENDING,
                attempts=_OUTBOX.c.attempts + 1,
                claimed_by=worker,
                claimed_at=now,
            ),
        )
        rows = self._rows(_OUTBOX.c.row_id.in_(ids))
        for channel in sorted({row.message.channel for row in rows}):
            self._pace(channel, now)
        return rows

    def _pace(self, channel: str, now: datetime) -> None:
        free_at = now + self._limits.channel_gap
        values = {"channel": channel, "free_at": free_at}
        execute(self._session, upsert(self._session, OutboxChannelRow, values))

    def stranded(
        self, before: datetime, *, worker: str = "", now: datetime | None = None
    ) -> Sequence[OutboxRow]:
        """Return rows still ``sending`` since before an instant: look before resending.

        With a worker they become its own from ``now`` on, so that no other worker (nor
        the one that lost them) can settle them.
        """
        where = and_(_OUTBOX.c.state == _SENDING, _OUTBOX.c.claimed_at < before)
        if not worker or now is None:
            return self._rows(where)
        serialise(self._session, "outbox claim")
        ids = [row.row_id for row in self._rows(where)]
        execute(
            self._session,
            update(_OUTBOX)
            .where(_OUTBOX.c.row_id.in_(ids))
            .values(claimed_by=worker, claimed_at=now, attempts=_OUTBOX.c.attempts + 1),
        )
        return self._rows(_OUTBOX.c.row_id.in_(ids))

    def sent(
        self,
        row_id: int,
        *,
        channel: str,
        ts: str,
        now: datetime,
        attempt: int | None = None,
    ) -> bool:
        """Record that Slack confirmed an effect; False when the claim was lost."""
        values = {
            "state": _SENT,
            "slack_channel": channel,
            "slack_ts": ts,
            "finished_at": now,
            "error": "",
        }
        return self._settle(row_id, attempt, values)

    def retry(
        self, row_id: int, *, at: datetime, error: str, attempt: int | None = None
    ) -> bool:
        """Put an effect back to be tried at an instant; False when the claim was lost."""
        values = {
            "state": _PENDING,
            "next_attempt_at": at,
            "error": error,
            "claimed_by": "",
        }
        return self._settle(row_id, attempt, values)

    def failed(
        self, row_id: int, *, error: str, now: datetime, attempt: int | None = None
    ) -> bool:
        """Record that an effect can never be made, and why; False when it was settled."""
        values = {"state": _FAILED, "error": error, "finished_at": now}
        return self._settle(row_id, attempt, values)

    def _settle(self, row_id: int, attempt: int | None, values: dict[str, Any]) -> bool:
        statement = update(_OUTBOX).where(
            _OUTBOX.c.row_id == row_id, _OUTBOX.c.state == _SENDING
        )
        if attempt is not None:
            statement = statement.where(_OUTBOX.c.attempts == attempt)
        return execute(self._session, statement.values(**values)).rowcount == 1

    def find(self, key: str) -> OutboxRow | None:
        """Return the row of a key."""
        rows = self._rows(_OUTBOX.c.key == key)
        return rows[0] if rows else None

    def depth(self) -> Mapping[str, int]:
        """Return the number of rows by state."""
        rows = self._session.execute(
            select(_OUTBOX.c.state, func.count())
            .group_by(_OUTBOX.c.state)
            .order_by(_OUTBOX.c.state)
        )
        return {state: count for state, count in rows}  # noqa: C416 - typed rows

    def _rows(self, where: Any) -> list[OutboxRow]:  # noqa: ANN401 - a condition
        rows = self._session.connection().execute(
            select(_OUTBOX).where(where).order_by(_OUTBOX.c.row_id)
        )
        return [_row(row) for row in rows]


def _due(now: datetime) -> Any:  # noqa: ANN401 - a select of row ids
    """Select the head of each channel's queue that may go now, oldest first."""
    live = _OUTBOX.alias("live")
    heads = (
        select(func.min(live.c.row_id))
        .where(live.c.state.in_(_LIVE))
        .group_by(live.c.channel)
    )
    waited_for = _OUTBOX.alias("waited_for")
    waits = (
        select(waited_for.c.row_id)
        .where(
            waited_for.c.key.in_((_OUTBOX.c.ref, _OUTBOX.c.thread_of)),
            waited_for.c.state.in_(_LIVE),
            waited_for.c.row_id < _OUTBOX.c.row_id,
        )
        .exists()
    )
    return (
        select(_OUTBOX.c.row_id)
        .outerjoin(_CHANNEL, _CHANNEL.c.channel == _OUTBOX.c.channel)
        .where(
            _OUTBOX.c.row_id.in_(heads),
            _OUTBOX.c.state == _PENDING,
            _OUTBOX.c.next_attempt_at <= now,
            or_(_CHANNEL.c.free_at.is_(None), _CHANNEL.c.free_at <= now),
            ~waits,
        )
        .order_by(_OUTBOX.c.row_id)
    )


def _row(row: Any) -> OutboxRow:  # noqa: ANN401 - a row of the table
    return OutboxRow(
        row_id=row.row_id,
        message=OutboxMessage(
            key=row.key,
            kind=row.kind,
            channel=row.channel,
            payload=json.loads(row.payload),
            ref=row.ref,
            user=row.user_id,
            thread_of=row.thread_of,
        ),
        state=row.state,
        attempts=row.attempts,
        created_at=row.created_at,
        next_attempt_at=row.next_attempt_at,
        slack_channel=row.slack_channel,
        slack_ts=row.slack_ts,
        error=row.error,
    )
