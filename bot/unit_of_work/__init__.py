"""Everything stored, in one transaction: the SQL side of `bot.ports.Store`."""

from __future__ import annotations

from bot.unit_of_work.outbox import OutboxLimits
from bot.unit_of_work.serve_lock import ServeLockedError, acquire_serve_lock
from bot.unit_of_work.store import SqlStore, SqlUnitOfWork, StoreSettings

__all__ = [
    "OutboxLimits",
    "ServeLockedError",
    "SqlStore",
    "SqlUnitOfWork",
    "StoreSettings",
    "acquire_serve_lock",
]
