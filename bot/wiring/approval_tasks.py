"""Scheduled work on approvals: reminders, ended grants, the audit chain's head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import structlog

from bot.use_cases.auditing import post_head
from bot.use_cases.due import Calendar, Every
from bot.use_cases.runner import Task
from bot.wiring.application import Application

log = structlog.get_logger()

CHASE_EVERY = timedelta(minutes=1)
SETTLE_EVERY = timedelta(minutes=15)
#: After the day it is of; every replica's clock agrees on UTC.
HEAD_AT = Calendar(every="day", at=time(0, 5), zone=ZoneInfo("UTC"))


@dataclass(frozen=True)
class ApprovalWork:
    """What time does to approvals of one application."""

    application: Application

    def chase(self, slot: datetime) -> None:
        """Escalate and remind where it is time."""
        del slot
        for request_id, event in self.application.desk.changes.chase():
            log.info("approval_chased", request=request_id, event_kind=event.value)

    def settle(self, slot: datetime) -> None:
        """Close grants that cover nothing more, and send receipts of ended runs."""
        del slot
        for request in self.application.desk.changes.settle():
            log.info(
                "grant_settled", request=request.request_id, state=request.state.value
            )
        for request_id in self.application.desk.changes.receipts():
            log.info("receipt_queued", request=request_id)

    def post_head(self, slot: datetime) -> None:
        """Post the audit chain's head, once a day."""
        application = self.application
        channel = application.desk.channel
        post_head(application.store, channel, day=slot, now=application.now())


def approval_tasks(application: Application) -> Sequence[Task]:
    """Return the tasks that approvals need."""
    work = ApprovalWork(application)
    return (
        Task(name="approvals-chase", schedule=Every(CHASE_EVERY), run=work.chase),
        Task(name="approvals-settle", schedule=Every(SETTLE_EVERY), run=work.settle),
        Task(name="audit-head", schedule=HEAD_AT, run=work.post_head),
    )
