"""Findings in SQL, as they open, change and close. Knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlmodel import Session

from billing.ledger.codec import decode, encode
from billing.ledger.columns import table_of
from billing.ledger.database import serialise
from policies.core.finding import Finding
from policies.journal.tables import FindingRow
from policies.ports import StoredFinding

_FINDING = table_of(FindingRow)


class SqlFindings:
    """Findings within one session."""

    _session: Session

    def open_findings(self) -> Sequence[StoredFinding]:
        """Return findings that are not resolved, by fingerprint."""
        rows = self._session.execute(
            select(FindingRow)
            .where(_FINDING.c.resolved_at.is_(None))
            .order_by(_FINDING.c.fingerprint)
        ).scalars()
        return [_stored(row) for row in rows]

    def open_finding(self, fingerprint: str) -> StoredFinding | None:
        """Return one open finding."""
        row = self._session.execute(
            select(FindingRow).where(
                _FINDING.c.fingerprint == fingerprint,
                _FINDING.c.resolved_at.is_(None),
            )
        ).scalar_one_or_none()
        return None if row is None else _stored(row)

    def resolved_findings(self, since: datetime) -> Sequence[StoredFinding]:
        """Return findings that were resolved since an instant, by fingerprint, newest first."""
        rows = self._session.execute(
            select(FindingRow)
            .where(_FINDING.c.resolved_at >= since)
            .order_by(_FINDING.c.fingerprint, _FINDING.c.resolved_at.desc())
        ).scalars()
        return [_stored(row) for row in rows]

    def record_findings(
        self, findings: Sequence[Finding], judged: Sequence[str], now: datetime
    ) -> None:
        """Open or update findings; resolve open ones of ``judged`` policies not seen now."""
        serialise(self._session, "findings")
        seen = {finding.fingerprint: finding for finding in findings}
        open_rows = self._session.execute(
            select(FindingRow).where(_FINDING.c.resolved_at.is_(None))
        ).scalars()
        for row in open_rows:
            finding = seen.pop(row.fingerprint, None)
            if finding is not None:
                row.severity, row.job = finding.severity.value, finding.job
                row.data, row.updated_at = encode(finding), now
                row.updates += 1
            elif row.policy in judged:
                row.resolved_at = row.updated_at = now
        self._session.flush()  # Resolved ones leave the unique index first.
        self._session.add_all(
            FindingRow(
                fingerprint=fingerprint,
                policy=finding.policy,
                kind=finding.kind,
                job=finding.job,
                severity=finding.severity.value,
                data=encode(finding),
                opened_at=now,
                updated_at=now,
            )
            for fingerprint, finding in sorted(seen.items())
        )
        self._session.flush()

    def mark_notified(self, fingerprint: str, now: datetime) -> None:
        """Record that a finding's owner was told."""
        self._session.execute(
            update(_FINDING)
            .where(
                _FINDING.c.fingerprint == fingerprint,
                _FINDING.c.resolved_at.is_(None),
            )
            .values(notified_at=now)
        )


def _stored(row: FindingRow) -> StoredFinding:
    return StoredFinding(
        finding=decode(Finding, row.data),
        opened_at=row.opened_at,
        updated_at=row.updated_at,
        resolved_at=row.resolved_at,
        updates=row.updates,
        notified_at=row.notified_at,
    )
