"""Tell people that the policies in force say something else than before.

What was in force is kept in the database, so a change made while nothing ran is told
too, once for all replicas.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime

from billing.core.periods import day_of
from bot.ports import Store
from bot.use_cases.cards import post
from bot.views.policy_changes import policies_changed
from policies.core.catalogue import Policy
from policies.core.comparing import KeyChange, written, written_changes

_NOTE = "policies in force"


def tell_changes(
    store: Store, policies: Sequence[Policy], *, channel: str, now: datetime
) -> Sequence[KeyChange]:
    """Record a new set of policies and queue what changed; return the changes.

    The first set ever seen is recorded and not told: nothing changed.
    """
    new = json.dumps(written(policies), sort_keys=True)
    with store.read() as unit:
        if unit.control.noted(_NOTE) == new:
            return ()
    with store.write() as unit:
        old = unit.control.noted(_NOTE)
        if old == new:
            return ()
        unit.control.note(_NOTE, new, now)
        changes = written_changes(json.loads(old or "{}"), written(policies))
        data = {"before": _identity(old or ""), "after": _identity(new)}
        unit.audit.append(
            "policies changed", actor="", subject="policies",
            data=data | {"changes": str(len(changes))}, now=now,
        )  # fmt: skip
        if old is not None and channel:
            key = f"policies:{data['before']}:{data['after']}:{day_of(now)}"
            unit.outbox.put(post(key, channel, policies_changed(changes)), now)
    return changes


def _identity(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
