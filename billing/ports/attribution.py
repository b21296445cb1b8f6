"""What attribution stores and reads back, as a protocol; names roles only, no SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from billing.core.assignments import Assignment
from billing.core.claims import Claims
from billing.core.periods import Period
from billing.core.placements import Placement, PlacementSource
from billing.core.transfers import Transfer
from billing.core.usage import TagSpan, UsageInterval


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMatch:
    """An instance that carried a host's name, and the time it is known to have run.

    Attributes:
        ended_at: None while it runs.
    """

    resource_id: str
    account: str
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDay:
    """A stored day whose transfers no longer say what is known."""

    account: str
    day: date


class AttributionLedger(Protocol):
    """Placements, assignments, and the transfers that follow from them."""

    def record_placements(self, placements: Sequence[Placement], now: datetime) -> int:
        """Keep placements and return how many said something new.

        The stored days they touch become due. The same ones again change nothing.
        """

    def placements(
        self,
        period: Period,
        *,
        job: str | None = None,
        resource_ids: Sequence[str] | None = None,
    ) -> Sequence[Placement]:
        """Return placements overlapping a period, by resource and start."""

    def attempts(
        self, source: PlacementSource, external_ids: Sequence[str]
    ) -> Mapping[str, Mapping[datetime, int]]:
        """Return, by a scheduler's id of a job, the attempt of each known start."""

    def hosts(self, names: Sequence[str]) -> Mapping[str, Sequence[HostMatch]]:
        """Return the instances known by each name, oldest first; unknown ones absent.

        A name is a private IP, a private DNS name (``ip-10-0-1-2``, with or without
        its domain), an instance id or the value of a ``Name`` tag.
        """

    def assign(self, assignment: Assignment, now: datetime) -> int:
        """Keep what a person confirmed and return its number; its days become due."""

    def end_assignment(self, assignment_id: int, *, by: str, now: datetime) -> bool:
        """Take an assignment back, wholly; False when none of that number holds."""

    def assignments(self, *, account: str | None = None) -> Sequence[Assignment]:
        """Return assignments that hold, oldest first."""

    def transfers(
        self,
        since: date,
        until: date,
        *,
        key: str | None = None,
        account: str | None = None,
    ) -> Sequence[Transfer]:
        """Return transfers of ``[since, until)``; with a key: those from or to it."""

    def due_days(self, *, limit: int) -> Sequence[DueDay]:
        """Return stored days to attribute again, by account and day."""

    def claims(
        self,
        intervals: Sequence[UsageInterval],
        tags: Sequence[TagSpan],
        period: Period,
    ) -> Claims | None:
        """Return who may hold intervals beside their job tags; None: tags say it all.

        ``tags`` are the job tags of the intervals' resources and of their parents.
        """

    def reattribute(self, account: str, days: Sequence[date], now: datetime) -> int:
        """Compute the transfers of stored days anew; return how many there are.

        Transfers, rollups and the mark that the days were due move together.
        """
