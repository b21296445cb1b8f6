"""Every estimate that was answered, kept on record to be judged later."""

from __future__ import annotations

from datetime import datetime

import structlog

from billing.core.estimate import Estimate
from billing.ledger.database import DatabaseBusyError
from billing.ports.estimates import EstimateLedger
from bot.ports import Store
from bot.use_cases.estimate_history import on_record

log = structlog.get_logger()


def keep_estimate(
    store: Store, found: Estimate, now: datetime, *, request_id: str = ""
) -> None:
    """Keep an estimate; while an import holds the database, the answer comes first."""
    made = on_record(found, now, request_id=request_id)
    try:
        with store.write() as unit:
            if isinstance(unit.ledger, EstimateLedger):
                unit.ledger.record_estimate(made)
    except DatabaseBusyError:
        log.warning("estimate_not_kept", job=made.job)
