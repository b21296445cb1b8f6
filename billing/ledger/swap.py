"""The one transaction that puts staged charges in the place of stored days.

Charges, rollups, controls, versions, the import and freshness move together, so a
reader sees the old days or the new ones, and so does whoever starts after a kill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlmodel import Session

from billing.core.charges import DayControl, Source
from billing.core.claims import AttributionRules
from billing.core.errors import GpucostError
from billing.core.money import NANOS_PER_UNIT, Money, total
from billing.core.periods import DAY, start_of
from billing.ledger.attribution_days import attribute_days
from billing.ledger.bulk import CHARGE_COLUMNS
from billing.ledger.columns import table_of
from billing.ledger.database import execute
from billing.ledger.freshness import note_freshness
from billing.ledger.jobs import note_jobs
from billing.ledger.rollups import rollup_of, within
from billing.ledger.tables import (
    ChargeRow,
    ChargeStagingRow,
    CostRollupRow,
    DayControlRow,
    DayVersionRow,
    ImportRow,
)
from billing.ledger.teams import sum_teams
from billing.ports import ImportReport

_CHARGE = table_of(ChargeRow)
_STAGING = table_of(ChargeStagingRow)
_ROLLUP = table_of(CostRollupRow)
_CONTROL = table_of(DayControlRow)
_VERSION = table_of(DayVersionRow)
_IMPORT = table_of(ImportRow)

Cells = dict[str, Any]
#: Staged sums must equal the control to the cent: less than half of one apart.
TOLERANCE_NANOS = NANOS_PER_UNIT // 200


class ImbalanceError(GpucostError):
    """Staged charges of a day do not sum to the source's own total; nothing changed."""

    code = "imbalance"
    hint = "run the import again; if it persists, the source's answer is incomplete"

    def __init__(self, account: str, day: date, staged: Money, control: Money) -> None:
        super().__init__(
            f"charges of account {account!r} on {day.isoformat()} sum to"
            f" {staged.text()} {staged.currency}, the source says {control.text()}"
        )
        self.account = account
        self.day = day
        self.staged = staged
        self.control = control


class Swap:
    """One replacement of days within one session."""

    def __init__(
        self,
        session: Session,
        row: ImportRow,
        controls: Sequence[DayControl],
        *,
        currency: str,
        now: datetime,
        rules: AttributionRules,
    ) -> None:
        self._session = session
        self._rules = rules
        self._row = row
        self._controls = {control.day: control for control in controls}
        self._currency = currency
        self._now = now
        assert len(self._controls) == len(controls)
        assert all(control.account == row.account for control in controls)

    def run(self, staged: Mapping[date, tuple[Money, Money]]) -> ImportReport:
        """Check the sums, then replace everything that says something of the days."""
        self._check(staged)
        old = self._old_controls()
        self._replace_charges()
        self._replace_rollups(staged)
        self._replace_controls(staged, old)
        note_jobs(self._session, self._staged_jobs())
        attribute_days(
            self._session, self._row.account, self._controls,
            rules=self._rules, currency=self._currency, now=self._now,
        )  # fmt: skip
        sum_teams(self._session, self._row.account, self._controls)
        report = self._report(staged)
        self._finish(report)
        return report

    def _check(self, staged: Mapping[date, tuple[Money, Money]]) -> None:
        zero = (Money.zero(self._currency), Money.zero(self._currency))
        for day in sorted(staged.keys() | self._controls.keys()):
            control = self._controls.get(day)
            wanted = (control.billed, control.effective) if control else zero
            for ours, theirs in zip(staged.get(day, zero), wanted, strict=True):
                apart = abs((ours - theirs).nanos)
                if apart >= TOLERANCE_NANOS or control is None:
                    raise ImbalanceError(self._row.account, day, ours, theirs)

    def _days(self, column: ColumnElement[date]) -> ColumnElement[bool]:
        return within(column, self._controls)

    def _old_controls(self) -> dict[date, DayControlRow]:
        """Return what was stored of the days, of whatever source."""
        rows = self._session.execute(
            select(DayControlRow).where(
                _CONTROL.c.account == self._row.account,
                self._days(_CONTROL.c.day),
            )
        ).scalars()
        return {row.day: row for row in rows}

    def _replace_charges(self) -> None:
        execute(
            self._session,
            delete(_CHARGE).where(
                _CHARGE.c.account == self._row.account,
                self._days(_CHARGE.c.day),
            ),
        )
        staging, charge = _STAGING, table_of(ChargeRow)
        columns = [staging.c[name] for name in CHARGE_COLUMNS]
        execute(
            self._session,
            insert(charge).from_select(
                CHARGE_COLUMNS,
                select(*columns)
                .where(staging.c.import_id == self._row.import_id)
                .order_by(staging.c.charge_id),
            ),
        )

    def _replace_rollups(self, staged: Mapping[date, tuple[Money, Money]]) -> None:
        mine = (
            _ROLLUP.c.account == self._row.account,
            self._days(_ROLLUP.c.day),
        )
        execute(self._session, delete(_ROLLUP).where(*mine))
        execute(
            self._session,
            insert(_ROLLUP).from_select(
                [*CostRollupRow.model_fields], rollup_of(self._row.import_id)
            ),
        )
        summed = self._session.execute(
            select(
                func.coalesce(func.sum(_ROLLUP.c.billed), 0),
                func.coalesce(func.sum(_ROLLUP.c.effective), 0),
            ).where(*mine)
        ).one()
        assert [int(value) for value in summed] == [
            sum(pair[part].nanos for pair in staged.values()) for part in (0, 1)
        ]

    def _replace_controls(
        self,
        staged: Mapping[date, tuple[Money, Money]],
        old: Mapping[date, DayControlRow],
    ) -> None:
        """Store the new controls, and one version for each day whose totals moved."""
        connection = self._session.connection()
        connection.execute(
            delete(_CONTROL).where(
                _CONTROL.c.account == self._row.account,
                self._days(_CONTROL.c.day),
            )
        )
        if not self._controls:
            return
        connection.execute(
            insert(_CONTROL),
            [
                self._control(control, old.get(day))
                for day, control in sorted(self._controls.items())
            ],
        )
        versions = [
            version
            for day in sorted(self._controls)
            if (version := self._version(day, staged.get(day), old.get(day)))
        ]
        if versions:
            connection.execute(insert(_VERSION), versions)

    def _control(self, control: DayControl, old: DayControlRow | None) -> Cells:
        is_equal = (
            old is not None
            and old.source == self._row.source
            and old.fingerprint == control.fingerprint
        )
        return {
            "source": self._row.source,
            "account": control.account,
            "day": control.day,
            "billed": control.billed.nanos,
            "effective": control.effective.nanos,
            "fingerprint": control.fingerprint,
            "is_estimated": control.is_estimated,
            "read_at": control.read_at,
            "equal_reads": old.equal_reads + 1 if old and is_equal else 0,
            "import_id": self._row.import_id,
        }

    def _version(
        self, day: date, staged: tuple[Money, Money] | None, old: DayControlRow | None
    ) -> Cells | None:
        """Return the version to append; None when the day is as it was."""
        control = self._controls[day]
        if old is not None and (old.source, old.fingerprint) == (
            self._row.source,
            control.fingerprint,
        ):
            return None
        billed, effective = (part.nanos for part in staged) if staged else (0, 0)
        return {
            "import_id": self._row.import_id,
            "source": self._row.source,
            "account": self._row.account,
            "day": day,
            "old_billed": None if old is None else old.billed,
            "old_effective": None if old is None else old.effective,
            "new_billed": billed,
            "new_effective": effective,
            "replaced_at": self._now,
        }

    def _staged_jobs(self) -> dict[str, tuple[datetime, datetime]]:
        """Return first and last instant of each staged job, as far as days tell."""
        rows = self._session.execute(
            select(
                _STAGING.c.job,
                func.min(_STAGING.c.day),
                func.max(_STAGING.c.day),
            )
            .where(
                _STAGING.c.import_id == self._row.import_id,
                _STAGING.c.job != "",
            )
            .group_by(_STAGING.c.job)
        )
        return {
            job: (
                start_of(first),
                max(start_of(last), min(start_of(last) + DAY, self._now)),
            )
            for job, first, last in rows
        }

    def _report(self, staged: Mapping[date, tuple[Money, Money]]) -> ImportReport:
        billed = total((pair[0] for pair in staged.values()), self._currency)
        control = total(
            (control.billed for control in self._controls.values()), self._currency
        )
        return ImportReport(
            source=Source(self._row.source),
            account=self._row.account,
            since=self._row.since,
            until=self._row.until,
            charges=self._row.charges,
            total=billed,
            control_total=control,
            difference=billed - control,
            requests=0,
            request_cost=Money.zero(self._currency),
            state="done",
        )

    def _finish(self, report: ImportReport) -> None:
        row, read_at = self._row, [item.read_at for item in self._controls.values()]
        execute(
            self._session,
            delete(_STAGING).where(_STAGING.c.import_id == row.import_id),
        )
        execute(
            self._session,
            update(_IMPORT)
            .where(_IMPORT.c.import_id == row.import_id)
            .values(
                state=report.state,
                total=report.total.nanos,
                control_total=report.control_total and report.control_total.nanos,
                finished_at=self._now,
            ),
        )
        note_freshness(
            self._session,
            report.source,
            report.account,
            as_of=max(read_at, default=self._now),
        )
