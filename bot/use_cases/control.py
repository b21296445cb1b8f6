"""Stop and allow actions, in every replica at once; both are on record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from billing.core.periods import rfc3339
from bot.ports import Store
from bot.use_cases.actions import cancel_all


def pause(store: Store, *, by: str, reason: str, now: datetime) -> Mapping[str, object]:
    """Stop every action and call off what waits; a second pause keeps who was first."""
    with store.write() as unit:
        if unit.control.paused() is None:
            unit.control.pause(by=by, reason=reason, now=now)
            cancel_all(unit, "actions were paused", now)
            unit.audit.append(
                "paused", actor=by, subject="actions", data={"reason": reason}, now=now
            )
        state = unit.control.paused() or {}
    return {
        "paused": True,
        "by": state.get("by", by),
        "since": state.get("since", rfc3339(now)),
        "reason": state.get("reason", reason),
    }


def resume(store: Store, *, by: str, now: datetime) -> Mapping[str, object]:
    """Allow actions again."""
    with store.write() as unit:
        if unit.control.paused() is not None:
            unit.control.resume(by=by, now=now)
            unit.audit.append("resumed", actor=by, subject="actions", data={}, now=now)
    return {"paused": False, "by": by, "since": rfc3339(now)}
