"""What is to come, over one application: estimates judged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from billing.core.estimate_history import PastEstimate
from bot.use_cases.estimate_history import read_finished
from bot.wiring.application import Application


def judged(application: Application) -> Sequence[PastEstimate]:
    """Read what finished runs cost, and return past estimates with it."""
    judge(application, application.now())
    with application.store.read() as unit:
        return unit.ledger.past_estimates()


def judge(application: Application, now: datetime) -> int:
    """Read what finished runs cost; return how many were read."""
    with application.store.read() as unit:
        runs = read_finished(unit.ledger, now)
    if runs:
        with application.store.write() as unit:
            unit.ledger.record_finished(runs, now)
    return len(runs)
