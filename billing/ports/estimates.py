"""What is remembered of estimates and finished runs, as a protocol. Names no SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Protocol, runtime_checkable

from billing.core.estimate_history import FinishedRun, PastEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    """What was paid on a day for a longer time: commitments, capacity blocks.

    Attributes:
        nanos: Effective cost in nano-units of the ledger's currency.
    """

    day: date
    account: str
    job: str
    bucket: str
    nanos: int


@runtime_checkable
class FeeLedger(Protocol):
    """Fees in the bill."""

    def fees(self, since: date, until: date) -> Sequence[Fee]:
        """Return what was paid at once for a longer time, by day, account and job."""


@runtime_checkable
class EstimateLedger(Protocol):
    """Estimates on record, and what became of their jobs."""

    def record_estimate(self, made: PastEstimate) -> None:
        """Keep an estimate; its id is given here."""

    def past_estimates(self) -> Sequence[PastEstimate]:
        """Return the newest estimates that named a job, with its cost where it is over."""

    def finished_runs(self) -> Sequence[FinishedRun]:
        """Return runs that are over and billed, the newest first."""

    def finished_read_at(self) -> Mapping[str, tuple[datetime, datetime]]:
        """Return, per job on record as over, when it ended and when that was read."""

    def record_finished(self, runs: Sequence[FinishedRun], now: datetime) -> None:
        """Keep finished runs; a job that is there already is replaced."""

    def billed_through(self) -> Mapping[str, datetime]:
        """Return, per account, the end of the last day that is complete."""

    def paid_share(self, family: str, since: date, until: date) -> Fraction | None:
        """Return effective over list cost of a family's hours that were not spot.

        None when the bill of ``[since, until)`` does not tell list cost.
        """
