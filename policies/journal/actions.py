"""Actions and confirmations in SQL; states move by compare-and-set. Knows no rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import select, update
from sqlmodel import Session

from billing.ledger.codec import decode, encode
from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing
from policies.core.actions import Action, ActionState
from policies.journal.tables_actions import ActionRow, PolicyConfirmationRow

_ACTION = table_of(ActionRow)
_CONFIRMATION = table_of(PolicyConfirmationRow)
_LIVE = (ActionState.WAITING.value, ActionState.ACTING.value)


class SqlActions:
    """Actions within one session."""

    _session: Session

    def add_action(self, action: Action, now: datetime) -> bool:
        """Store an action; False when its id is already there (nothing changes)."""
        stored = self._session.execute(
            insert_or_nothing(self._session, ActionRow)
            .values(
                action_id=action.action_id,
                policy=action.policy,
                fingerprint=action.fingerprint,
                opened_at=action.opened_at,
                state=ActionState.WAITING.value,
                planned_at=now,
                reason="",
                data=encode(action),
            )
            .returning(_ACTION.c.action_id)
        ).scalar_one_or_none()
        return stored is not None

    def live_actions(self) -> Sequence[Action]:
        """Return actions that wait or are under way, oldest first."""
        return self._actions(_ACTION.c.state.in_(_LIVE))

    def actions_of(self, fingerprints: Collection[str]) -> Sequence[Action]:
        """Return every action of some findings, oldest first."""
        if not fingerprints:
            return []
        return self._actions(_ACTION.c.fingerprint.in_(sorted(fingerprints)))

    def recent_actions(self, since: datetime, limit: int = 200) -> Sequence[Action]:
        """Return actions planned since an instant, oldest first."""
        return self._actions(_ACTION.c.planned_at >= since)[:limit]

    def begin_action(
        self, action_id: str, *, now: datetime, lease_until: datetime
    ) -> bool:
        """Move a waiting action to ``acting``; False when somebody else did."""
        return self._move(
            action_id,
            ActionState.WAITING,
            {"state": ActionState.ACTING.value, "acting_at": now}
            | {"lease_until": lease_until},
        )

    def end_action(
        self, action_id: str, state: ActionState, *, reason: str, now: datetime
    ) -> bool:
        """Settle an action under way; False when it is not any more."""
        return self._move(
            action_id,
            ActionState.ACTING,
            {"state": state.value, "reason": reason, "ended_at": now},
        )

    def cancel_action(self, action_id: str, *, reason: str, now: datetime) -> bool:
        """Call off a waiting action; False when it is not waiting any more."""
        return self._move(
            action_id,
            ActionState.WAITING,
            {"state": ActionState.CANCELLED.value, "reason": reason, "ended_at": now},
        )

    def left_actions(self, before: datetime) -> Sequence[Action]:
        """Return actions whose process died while acting: their lease has ended."""
        return self._actions(
            (_ACTION.c.state == ActionState.ACTING.value)
            & (_ACTION.c.lease_until < before)
        )

    def confirm_policy(
        self, policy: str, policy_hash: str, *, by: str, now: datetime
    ) -> bool:
        """Store one admin's confirmation; False when they gave it before."""
        stored = self._session.execute(
            insert_or_nothing(self._session, PolicyConfirmationRow)
            .values(policy=policy, policy_hash=policy_hash, person_id=by, at=now)
            .returning(_CONFIRMATION.c.person_id)
        ).scalar_one_or_none()
        return stored is not None

    def confirmed_by(self, policy: str, policy_hash: str) -> Sequence[str]:
        """Return who confirmed a policy exactly as it is written, oldest first."""
        rows = self._session.execute(
            select(_CONFIRMATION.c.person_id)
            .where(
                _CONFIRMATION.c.policy == policy,
                _CONFIRMATION.c.policy_hash == policy_hash,
            )
            .order_by(_CONFIRMATION.c.confirmation_id)
        )
        return list(rows.scalars())

    def _move(
        self, action_id: str, state: ActionState, values: dict[str, object]
    ) -> bool:
        moved = execute(
            self._session,
            update(_ACTION)
            .where(_ACTION.c.action_id == action_id, _ACTION.c.state == state.value)
            .values(**values),
        )
        return moved.rowcount == 1

    def _actions(self, where: object) -> list[Action]:
        rows = self._session.execute(
            select(ActionRow).where(where).order_by(_ACTION.c.action_number)  # type: ignore[arg-type] # a condition
        ).scalars()
        return [_action(row) for row in rows]


def _action(row: ActionRow) -> Action:
    return replace(
        decode(Action, row.data),
        state=ActionState(row.state),
        planned_at=row.planned_at,
        acting_at=row.acting_at,
        ended_at=row.ended_at,
        reason=row.reason,
    )
