"""Take what jobs report of their progress, and hours of use as they are measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from billing.core.attribution import normalise_job
from billing.core.errors import GpucostError
from billing.core.progress import ProgressReport
from bot.ports import Store

#: Clocks of instances differ a little; what lies farther ahead is a mistake.
AHEAD_MAX = timedelta(minutes=5)
#: Nobody reports what is older.
BEHIND_MAX = timedelta(days=400)


class ReportTimeError(GpucostError, ValueError):
    """A report lies too far from now to be believed."""

    code = "bad_report_time"
    hint = "check the clock and the time zone of the sender"

    def __init__(self, at: datetime) -> None:
        super().__init__(f"at must be near now, got {at:%Y-%m-%dT%H:%M:%SZ}")


def record_progress(
    store: Store, job: str, reports: Sequence[ProgressReport], *, by: str, now: datetime
) -> bool:
    """Keep what a job reports; tell whether bill or fleet know the job yet.

    Raises:
        ReportTimeError: Nothing was kept.
    """
    for one in reports:
        if not now - BEHIND_MAX <= one.at <= now + AHEAD_MAX:
            raise ReportTimeError(one.at)
    name = normalise_job(job)
    with store.write() as unit:
        unit.ledger.record_progress(name, reports, by=by, now=now)
        return unit.ledger.job_record(name) is not None
