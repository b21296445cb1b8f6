"""The audit chain in SQL: each event carries an HMAC over itself and the one before.

The key lives outside the database, so whoever can write rows cannot forge a link. Cutting
off the newest events leaves a chain that is whole: the head is published elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select
from sqlmodel import Session

from billing.core.periods import rfc3339
from billing.ledger.columns import table_of
from billing.ledger.database import execute, serialise
from bot.unit_of_work.tables import AuditEventRow

_EVENT = table_of(AuditEventRow)
#: What the first event names as the hash before it.
GENESIS = "0" * 64
#: Broken links that are named; more of them say nothing new.
_PROBLEMS_MAX = 20


class SqlAudit:
    """The chain within one session.

    Args:
        session: The unit's session.
        key: The secret of the chain, kept outside the database.
    """

    def __init__(self, session: Session, key: bytes) -> None:
        self._session = session
        self._key = key

    def append(
        self,
        event: str,
        *,
        actor: str,
        subject: str,
        data: Mapping[str, Any],
        now: datetime,
    ) -> None:
        """Add one event; `data` must be JSON and hold pseudonyms, not names."""
        serialise(self._session, "audit append")
        count, previous = self.head()
        values: dict[str, Any] = {
            "seq": count + 1,
            "at": now,
            "event": event,
            "actor": actor,
            "subject": subject,
            "data": canonical(dict(data)),
            "previous": previous,
        }
        values["hash"] = self._hash(values)
        execute(self._session, insert(_EVENT).values(**values))

    def head(self) -> tuple[int, str]:
        """Return the number of events and the hash of the last one."""
        row = self._session.execute(
            select(_EVENT.c.seq, _EVENT.c.hash).order_by(_EVENT.c.seq.desc()).limit(1)
        ).one_or_none()
        return (0, GENESIS) if row is None else (row.seq, row.hash)

    def hash_at(self, seq: int) -> str | None:
        """Return the hash of an event; None when there is none of that number."""
        if seq == 0:
            return GENESIS
        query = select(_EVENT.c.hash).where(_EVENT.c.seq == seq)
        return self._session.execute(query).scalar_one_or_none()

    def events(self, after: int, *, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return events after a number, oldest first, with their hashes."""
        query = select(_EVENT).where(_EVENT.c.seq > after).order_by(_EVENT.c.seq)
        rows = self._session.connection().execute(query.limit(limit))
        return [dict(row._mapping) for row in rows]  # noqa: SLF001 - its own way

    def verify(self) -> Sequence[str]:
        """Return what is wrong with the chain, first broken link first."""
        problems: list[str] = []
        expected, previous = 1, GENESIS
        rows = self._session.connection().execute(select(_EVENT).order_by(_EVENT.c.seq))
        for row in rows:
            problems += self._wrong(dict(row._mapping), expected, previous)  # noqa: SLF001
            if len(problems) >= _PROBLEMS_MAX:
                break
            expected, previous = row.seq + 1, row.hash
        return problems

    def _wrong(
        self, values: Mapping[str, Any], expected: int, previous: str
    ) -> list[str]:
        seq = values["seq"]
        if seq != expected:
            return [f"event {expected} is missing: the next one is {seq}"]
        if values["previous"] != previous:
            return [f"event {seq} does not follow event {seq - 1}"]
        if not hmac.compare_digest(self._hash(values), values["hash"]):
            return [f"event {seq} was changed after it was written"]
        return []

    def _hash(self, values: Mapping[str, Any]) -> str:
        text = canonical(
            {
                "seq": values["seq"],
                "at": rfc3339(values["at"]),
                "event": values["event"],
                "actor": values["actor"],
                "subject": values["subject"],
                "data": values["data"],
                "previous": values["previous"],
            }
        )
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()


def canonical(value: object) -> str:
    """Return JSON that is the same text for the same value: sorted keys, no spaces."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )
