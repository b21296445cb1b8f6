"""Imports in SQL: staging, and the record of readings that changed nothing.

Staged charges are invisible to every answer until `billing.ledger.swap` puts them in
place. Exactly one import of a source and account runs at a time: a new one takes the
place of a dead or live older one, whose later steps then fail. Knows no source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta

from sqlalchemy import delete, func, insert, or_, select, update
from sqlmodel import Session

from billing.core.charges import Charge, DayControl, Source
from billing.core.claims import AttributionRules
from billing.core.errors import GpucostError
from billing.core.money import USD, MixedCurrencyError, Money
from billing.ledger.bulk import CHARGE_COLUMNS, charge_rows, insert_rows
from billing.ledger.columns import table_of
from billing.ledger.database import execute, insert_or_nothing, serialise
from billing.ledger.existing import CURRENCY, existing
from billing.ledger.freshness import note_freshness
from billing.ledger.precedence import without_held_days
from billing.ledger.swap import Swap
from billing.ledger.tables import (
    ChargeStagingRow,
    DayControlRow,
    ImportRow,
    LedgerProperty,
)
from billing.ports import ImportReport, StoredDay

_STAGING = table_of(ChargeStagingRow)
_CONTROL = table_of(DayControlRow)
_IMPORT = table_of(ImportRow)
_PROPERTY = table_of(LedgerProperty)

#: Staged rows of an import that began longer ago are leftovers of a dead one.
STAGING_MAX_AGE = timedelta(hours=6)
_RUNNING = "running"
_SUPERSEDED = "superseded"


class ImportSupersededError(GpucostError):
    """A newer import of the same source and account began; this one must stop."""

    code = "import_superseded"
    hint = "nothing is lost: the newer import replaces the same days"

    def __init__(self, import_id: int) -> None:
        super().__init__(f"import {import_id!r} does not run any more")
        self.import_id = import_id


class ForeignChargeError(GpucostError, ValueError):
    """A charge lies outside the account and days its import was opened for."""

    code = "foreign_charge"

    def __init__(self, charge: Charge) -> None:
        super().__init__(
            f"charge of account {charge.account!r} on {charge.day.isoformat()} does not"
            " belong to its import"
        )


class SqlImports:
    """Imports within one session."""

    _session: Session
    _rules: AttributionRules
    _known_currency: str | None = None

    def currency(self) -> str | None:
        """Return the one billing currency of this ledger; None while it is empty.

        Once stored it never changes, so a unit of work asks for it once.
        """
        if self._known_currency is None:
            self._known_currency = existing(self._session).currency
        return self._known_currency

    def stored_days(
        self, source: Source, since: date, until: date
    ) -> Sequence[StoredDay]:
        """Return what is stored of ``[since, until)``, by account then day."""
        currency = self.currency() or USD
        rows = self._session.execute(
            select(_CONTROL)
            .where(
                _CONTROL.c.source == source.value,
                _CONTROL.c.day >= since,
                _CONTROL.c.day < until,
            )
            .order_by(_CONTROL.c.account, _CONTROL.c.day)
        )
        return [
            StoredDay(
                account=row.account,
                day=row.day,
                billed=Money(row.billed, currency),
                effective=Money(row.effective, currency),
                fingerprint=row.fingerprint,
                is_estimated=row.is_estimated,
                read_at=row.read_at,
                equal_reads=row.equal_reads,
            )
            for row in rows
        ]

    def begin_import(
        self, source: Source, account: str, since: date, until: date, now: datetime
    ) -> int:
        """Open an import and return its id.

        What earlier imports of the same source and account, and long dead ones of any,
        left staged is cleared.
        """
        serialise(self._session, "begin import")
        imports = _IMPORT.c.import_id
        execute(
            self._session,
            update(_IMPORT)
            .where(
                _IMPORT.c.state == _RUNNING,
                or_(
                    (_IMPORT.c.source == source.value) & (_IMPORT.c.account == account),
                    _IMPORT.c.started_at < now - STAGING_MAX_AGE,
                ),
            )
            .values(state=_SUPERSEDED, finished_at=now),
        )
        running = select(imports).where(_IMPORT.c.state == _RUNNING)
        execute(
            self._session,
            delete(_STAGING).where(_STAGING.c.import_id.not_in(running)),
        )
        import_id: int = self._session.execute(
            insert(_IMPORT)
            .values(
                source=source.value,
                account=account,
                since=since,
                until=until,
                state=_RUNNING,
                started_at=now,
            )
            .returning(imports)
        ).scalar_one()
        return import_id

    def stage(self, import_id: int, charges: Sequence[Charge]) -> None:
        """Add one page of charges to an import's staging area (short transaction).

        Raises:
            ImportSupersededError: A newer import took this one's place.
            MixedCurrencyError: The charges are not in the ledger's one currency.
            ForeignChargeError: A charge is of another account or day than the import.
        """
        if not charges:
            return
        row = self._running(import_id)
        # Read once: each look at a row's attribute costs more than the comparison.
        account, since, until = row.account, row.since, row.until
        for charge in charges:
            if charge.account != account or not since <= charge.day < until:
                raise ForeignChargeError(charge)
        currency = self._check_currency(
            {charge.billed.currency for charge in charges}
            | {charge.effective.currency for charge in charges},
            row.currency,
        )
        execute(
            self._session,
            update(_IMPORT)
            .where(_IMPORT.c.import_id == import_id)
            .values(charges=_IMPORT.c.charges + len(charges), currency=currency),
        )
        is_sqlite = self._session.get_bind().dialect.name == "sqlite"
        rows = charge_rows(charges, import_id, Source(row.source), is_sqlite=is_sqlite)
        insert_rows(self._session, "charge_staging", CHARGE_COLUMNS, rows)

    def staged_totals(self, import_id: int) -> Mapping[date, tuple[Money, Money]]:
        """Return billed and effective sums of what an import staged, by day."""
        currency = self._session.execute(
            select(_IMPORT.c.currency).where(_IMPORT.c.import_id == import_id)
        ).scalar_one()
        rows = self._session.execute(
            select(
                _STAGING.c.day,
                func.sum(_STAGING.c.billed),
                func.sum(_STAGING.c.effective),
            )
            .where(_STAGING.c.import_id == import_id)
            .group_by(_STAGING.c.day)
        )
        return {
            day: (Money(billed, currency), Money(effective, currency))
            for day, billed, effective in rows
        }

    def swap(
        self, import_id: int, controls: Sequence[DayControl], now: datetime
    ) -> ImportReport:
        """Replace the controls' (source, account, day)s by what was staged.

        All of it happens in the unit's one transaction; sums are checked again inside.
        Days that a source of higher rank holds stay as they are.

        Raises:
            ImportSupersededError: A newer import took this one's place.
            ImbalanceError: What was staged does not sum to the controls.
        """
        row = self._running(import_id)
        # Two sources may import the same days at once; one after the other, whole.
        serialise(self._session, f"days of {row.account}")
        controls = without_held_days(self._session, row, controls)
        currency = self._check_currency(
            {control.billed.currency for control in controls}
            | {control.effective.currency for control in controls},
            row.currency,
        )
        if controls:
            self._keep_currency(currency)
        swap = Swap(
            self._session, row, controls,
            currency=currency or USD, now=now, rules=self._rules,
        )  # fmt: skip
        return swap.run(self.staged_totals(import_id))

    def close_import(self, report: ImportReport, import_id: int, now: datetime) -> None:
        """Record an import that changed nothing: rejected, failed or unchanged.

        One that was superseded stays so, and says nothing about freshness.
        """
        self._clear(import_id)
        closed = execute(
            self._session,
            update(_IMPORT)
            .where(
                _IMPORT.c.import_id == import_id,
                _IMPORT.c.state == _RUNNING,
            )
            .values(
                state=report.state,
                message=report.message,
                total=report.total.nanos,
                control_total=report.control_total and report.control_total.nanos,
                requests=report.requests,
                request_cost=report.request_cost.nanos,
                finished_at=now,
            ),
        )
        if closed.rowcount:
            self._note_outcome(report, now)

    def note_equal_reads(
        self, source: Source, controls: Sequence[DayControl], now: datetime
    ) -> None:
        """Record that days were read again and were equal (they may become complete)."""
        del now  # The instant at which the charges were read stays.
        for control in controls:
            execute(
                self._session,
                update(_CONTROL)
                .where(
                    _CONTROL.c.source == source.value,
                    _CONTROL.c.account == control.account,
                    _CONTROL.c.day == control.day,
                    _CONTROL.c.fingerprint == control.fingerprint,
                )
                .values(
                    equal_reads=_CONTROL.c.equal_reads + 1,
                    is_estimated=control.is_estimated,
                ),
            )

    def _running(self, import_id: int) -> ImportRow:
        """Return the import, held until the end of the unit; refuse one that ended."""
        row: ImportRow | None = self._session.execute(
            select(ImportRow)
            .where(
                _IMPORT.c.import_id == import_id,
                _IMPORT.c.state == _RUNNING,
            )
            .with_for_update()
            .execution_options(populate_existing=True)
        ).scalar_one_or_none()
        if row is None:
            raise ImportSupersededError(import_id)
        return row

    def _check_currency(self, found: set[str], of_import: str) -> str:
        """Return the one currency of what came in, the import and the ledger."""
        known = {name for name in (of_import, self.currency()) if name}
        both = sorted(known) + sorted(found - known)
        if len(both) > 1:
            raise MixedCurrencyError(both[0], both[1])
        return both[0] if both else ""

    def _keep_currency(self, currency: str) -> None:
        """Make the first import's currency the ledger's; two first ones cannot differ."""
        execute(
            self._session,
            insert_or_nothing(self._session, LedgerProperty).values(
                name=CURRENCY, value=currency
            ),
        )
        kept = self.currency()
        if kept != currency:
            raise MixedCurrencyError(str(kept), currency)

    def _clear(self, import_id: int) -> None:
        execute(
            self._session,
            delete(_STAGING).where(_STAGING.c.import_id == import_id),
        )

    def _note_outcome(self, report: ImportReport, now: datetime) -> None:
        is_good = report.state == "unchanged"
        note_freshness(
            self._session,
            report.source,
            report.account,
            as_of=now if is_good else None,
            reason="" if is_good else report.message or report.state,
        )
