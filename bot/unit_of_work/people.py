"""Pseudonyms for people in SQL; the only place that holds names."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from sqlmodel import Session, select

from billing.ledger.columns import table_of
from billing.ledger.database import serialise
from bot.unit_of_work.tables import PersonRow

_PERSON = table_of(PersonRow)
_ID_BYTES = 8


class SqlPeople:
    """People within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def remember(self, *, slack_id: str = "", email: str = "", name: str = "") -> str:
        """Return the pseudonym of somebody, creating it when new.

        Somebody known twice (by Slack id here, by e-mail there) becomes one person: the
        older pseudonym stays, the other one points to it.
        """
        serialise(self._session, "people")
        email = email.strip().lower()
        known = self._known(slack_id, email)
        if not known:
            row = PersonRow(person_id=f"p-{secrets.token_hex(_ID_BYTES)}")
        else:
            row = known[0]
            self._merge(row, known[1:])
        row.slack_id = slack_id or row.slack_id
        row.email = email or row.email
        row.name = name or row.name
        self._session.add(row)
        self._session.flush()
        return row.person_id

    def _known(self, slack_id: str, email: str) -> Sequence[PersonRow]:
        """Return who carries either mark, oldest first."""
        found: dict[int | None, PersonRow] = {}
        for column, value in ((_PERSON.c.slack_id, slack_id), (_PERSON.c.email, email)):
            if value:
                rows = self._session.exec(select(PersonRow).where(column == value))
                found |= {row.number: row for row in rows}
        return [found[number] for number in sorted(found, key=lambda key: key or 0)]

    def _merge(self, kept: PersonRow, others: Sequence[PersonRow]) -> None:
        for other in others:
            marks = (other.slack_id, other.email, other.name)
            other.slack_id, other.email, other.name = "", "", ""
            other.alias_of = kept.person_id
            self._session.add(other)
            self._session.flush()  # Its marks are free before the kept one takes them.
            kept.slack_id, kept.email, kept.name = (
                mine or theirs
                for mine, theirs in zip(
                    (kept.slack_id, kept.email, kept.name), marks, strict=True
                )
            )

    def lookup(self, person_id: str) -> Mapping[str, str] | None:
        """Return ``slack_id``, ``email`` and ``name`` of a pseudonym; None when removed."""
        row = self._row(person_id)
        if row is not None and row.alias_of:
            row = self._row(row.alias_of)
        if row is None:
            return None
        return {"slack_id": row.slack_id, "email": row.email, "name": row.name}

    def forget(self, person_id: str) -> bool:
        """Remove somebody's names; the pseudonym in the audit chain means nobody then."""
        row = self._row(person_id)
        if row is None:
            return False
        for alias in self._session.exec(
            select(PersonRow).where(_PERSON.c.alias_of == person_id)
        ):
            self._session.delete(alias)
        self._session.delete(row)
        self._session.flush()
        return True

    def _row(self, person_id: str) -> PersonRow | None:
        return self._session.exec(
            select(PersonRow).where(_PERSON.c.person_id == person_id)
        ).one_or_none()
