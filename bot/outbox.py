"""The sender: makes stored Slack effects, each once, and records what became of them.

Slack has no idempotency key, so an effect is marked before it is made; one that was
marked and never settled is looked for in the channel before it is made again. Knows no
SQL and no Slack library.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Event, Thread

import structlog

from bot.ports import (
    Notifier,
    OutboxMessage,
    OutboxRow,
    PostResult,
    SlackFailedError,
    Store,
)

log = structlog.get_logger()

#: Nothing is wrong with the message: the whole workspace refuses us. Rows wait.
REFUSED_CODES = frozenset(
    {
        *("account_inactive", "invalid_auth", "not_authed"),
        *("org_login_required", "token_expired", "token_revoked"),
    }
)
_UPDATE = "update"
_EPHEMERAL = "ephemeral"
_SENT = "sent"

#: Told once about each effect that can never be made: the row and why.
OnFailed = Callable[[OutboxRow, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderLimits:
    """How patient the sender is.

    Attributes:
        lease: After this long an unsettled effect counts as stranded; well above the
            longest a call to Slack may take.
        backoff_first / backoff_max: Wait after the first failure, doubled up to the most.
        refused_wait: Wait before Slack is asked again after it refused the token.
        give_up_after: An effect that old is not worth making any more.
        batch: Effects made in one run at most.
        run_for_s: A run stops claiming after this long, so that no claim grows old.
    """

    lease: timedelta = timedelta(minutes=2)
    backoff_first: timedelta = timedelta(seconds=1)
    backoff_max: timedelta = timedelta(minutes=5)
    refused_wait: timedelta = timedelta(minutes=1)
    give_up_after: timedelta = timedelta(hours=24)
    batch: int = 20
    run_for_s: float = 20.0


class OutboxSender:
    """Makes effects of one store through one notifier.

    Args:
        store: Where effects are stored.
        notifier: What makes them.
        worker: Our name among workers; another one after each start.
        limits: How patient to be.
        on_failed: Told once about each effect that can never be made.
        alone: True when no other worker can exist (SQLite with the serve lock): what
            an earlier process left unsettled is looked after at once.
    """

    def __init__(
        self,
        store: Store,
        notifier: Notifier,
        *,
        worker: str,
        limits: SenderLimits | None = None,
        on_failed: OnFailed | None = None,
        alone: bool = False,
    ) -> None:
        self._store = store
        self._notifier = notifier
        self._worker = worker
        self._limits = limits or SenderLimits()
        self._on_failed = on_failed
        self._is_first_alone = alone
        self._quiet_until: datetime | None = None
        self._is_refused = False

    def run_once(self, now: datetime) -> int:
        """Make what is due; return how many effects were settled."""
        if self._is_quiet(now):
            return 0
        began = time.monotonic()
        settled = self._look_after_stranded(now)
        for _ in range(self._limits.batch):
            if self._is_quiet(now) or time.monotonic() - began > self._limits.run_for_s:
                break
            with self._store.write() as unit:
                rows = unit.outbox.claim(now, worker=self._worker, limit=1)
            if not rows:
                break
            settled += self._make(rows[0], now)
        return settled

    def _is_quiet(self, now: datetime) -> bool:
        """Tell whether Slack asked us to wait until later than now."""
        return self._quiet_until is not None and now < self._quiet_until

    def run_until(
        self, stop: Event, now: Callable[[], datetime], poll_s: float
    ) -> None:
        """Make effects until told to stop; a failure is logged and tried again."""
        while not stop.is_set():
            settled = 0
            try:
                settled = self.run_once(now())
            except Exception:
                log.exception("outbox_run_failed")
            if not settled:
                stop.wait(poll_s)

    def start(
        self, stop: Event, now: Callable[[], datetime], poll_s: float = 0.25
    ) -> Thread:
        """Run in a thread of its own until ``stop`` is set; the caller joins it."""
        thread = Thread(
            target=self.run_until, args=(stop, now, poll_s), name="outbox", daemon=True
        )
        thread.start()
        return thread

    # ---------------------------------------------------------------- one effect

    def _make(self, row: OutboxRow, now: datetime) -> int:
        """Make one claimed effect and settle it; 0 when it stays open."""
        if now - row.created_at > self._limits.give_up_after:
            return self._fail(row, "gave_up: it is too old to be worth making", now)
        message, target_ts, thread_ts, missing = self._placed(row.message)
        if missing:
            return self._fail(row, missing, now)
        try:
            result = self._notifier.deliver(
                message, target_ts=target_ts, thread_ts=thread_ts
            )
        except SlackFailedError as error:
            return self._after_failure(row, error, now)
        self._is_refused = False
        return self._sent(row, result, now)

    def _placed(self, message: OutboxMessage) -> tuple[OutboxMessage, str, str, str]:
        """Find the post an effect belongs to.

        Returns the message in that post's channel, the post to rewrite, the thread to
        go to, and why it cannot be made ("" when it can).
        """
        if message.kind != _UPDATE and not message.thread_of:
            return message, "", "", ""
        with self._store.read() as unit:
            found = unit.outbox.find(message.ref or message.thread_of)
        is_there = found is not None and found.state == _SENT
        if message.kind == _UPDATE:
            if found is None or not is_there:
                return message, "", "", f"no_post: {message.ref!r} was never posted"
            moved = replace(message, channel=found.slack_channel or message.channel)
            return moved, found.slack_ts, "", ""
        if found is None or not is_there:  # Its thread never came to be: stand alone.
            return message, "", "", ""
        moved = replace(message, channel=found.slack_channel or message.channel)
        return moved, "", found.slack_ts, ""

    def _after_failure(
        self, row: OutboxRow, error: SlackFailedError, now: datetime
    ) -> int:
        if error.code in REFUSED_CODES:
            return self._refused(row, error, now)
        if error.is_final:
            return self._fail(row, error.code, now)
        if error.retry_after_s is not None:
            self._quiet_until = now + timedelta(seconds=error.retry_after_s)
            self._retry(row, self._quiet_until, error.code)
            log.warning("slack_rate_limited", wait_s=error.retry_after_s)
            return 0
        if error.may_have_happened and row.message.kind == _EPHEMERAL:
            # Nobody can look whether it was shown, and twice is worse than not at all.
            return self._fail(row, f"{error.code}: it may have been shown", now)
        if error.may_have_happened and row.message.kind != _UPDATE:
            log.warning("slack_effect_unsure", key=row.message.key, code=error.code)
            return 0  # It stays marked; once its lease is over we look for it.
        self._retry(row, now + self._backoff(row.attempts), error.code)
        log.warning("slack_effect_delayed", key=row.message.key, code=error.code)
        return 0

    def _refused(self, row: OutboxRow, error: SlackFailedError, now: datetime) -> int:
        """Wait for a better token: the message itself is fine."""
        self._quiet_until = now + self._limits.refused_wait
        self._retry(row, self._quiet_until, error.code)
        if not self._is_refused:
            self._is_refused = True
            log.error("slack_refused", code=error.code)
            if self._on_failed is not None:
                self._on_failed(row, error.code)
        return 0

    def _backoff(self, attempts: int) -> timedelta:
        wait: timedelta = self._limits.backoff_first * 2 ** min(
            max(attempts - 1, 0), 20
        )
        return min(wait, self._limits.backoff_max)

    # ------------------------------------------------------------- stranded ones

    def _look_after_stranded(self, now: datetime) -> int:
        before = now - self._limits.lease
        if self._is_first_alone:
            before = now + timedelta(microseconds=1)
        with self._store.read() as unit:
            if not unit.outbox.stranded(before):
                self._is_first_alone = False
                return 0
        with self._store.write() as unit:
            rows = unit.outbox.stranded(before, worker=self._worker, now=now)
        self._is_first_alone = False
        return sum(self._look_after(row, now) for row in rows)

    def _look_after(self, row: OutboxRow, now: datetime) -> int:
        """Settle an effect of which nobody knows whether it was made."""
        if now - row.created_at > self._limits.give_up_after:
            return self._fail(row, "gave_up: nobody knows whether it was made", now)
        if row.message.kind == _EPHEMERAL:
            return self._fail(row, "interrupted: it may have been shown", now)
        if row.message.kind == _UPDATE:  # Rewriting twice does no harm.
            self._retry(row, now, "interrupted")
            return 0
        message, _, _, _ = self._placed(row.message)
        try:
            found = self._notifier.find_posted(message, row.created_at)
        except SlackFailedError as error:
            return self._cannot_look(row, error, now)
        if found is not None:
            log.info("slack_effect_found", key=row.message.key)
            return self._sent(row, found, now)
        self._retry(row, now, "interrupted")
        return 0

    def _cannot_look(
        self, row: OutboxRow, error: SlackFailedError, now: datetime
    ) -> int:
        """Keep it marked, so that it is looked for again; never send it blindly."""
        if error.retry_after_s is not None:
            self._quiet_until = now + timedelta(seconds=error.retry_after_s)
        if error.is_final and error.code not in REFUSED_CODES:
            return self._fail(
                row, f"{error.code}: cannot look whether it is there", now
            )
        log.warning("slack_look_failed", key=row.message.key, code=error.code)
        return 0

    # ----------------------------------------------------------------- settling

    def _sent(self, row: OutboxRow, result: PostResult, now: datetime) -> int:
        with self._store.write() as unit:
            kept = unit.outbox.sent(
                row.row_id,
                channel=result.channel,
                ts=result.ts,
                now=now,
                attempt=row.attempts,
            )
        if not kept:
            log.warning("outbox_claim_lost", key=row.message.key)
        return int(kept)

    def _retry(self, row: OutboxRow, at: datetime, error: str) -> None:
        with self._store.write() as unit:
            unit.outbox.retry(row.row_id, at=at, error=error, attempt=row.attempts)

    def _fail(self, row: OutboxRow, error: str, now: datetime) -> int:
        with self._store.write() as unit:
            kept = unit.outbox.failed(
                row.row_id, error=error, now=now, attempt=row.attempts
            )
        if kept:
            log.error("slack_effect_failed", key=row.message.key, error=error)
            if self._on_failed is not None:
                self._on_failed(row, error)
        return int(kept)
