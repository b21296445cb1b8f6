"""Bearer tokens, in SQL; knows nothing of how they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Row, select, update
from sqlmodel import Session

from billing.ledger.columns import table_of
from billing.ledger.database import execute
from bot.ports import ApiToken
from bot.unit_of_work.tables_tokens import ApiTokenRow

_TOKEN = table_of(ApiTokenRow)


class SqlTokens:
    """Tokens within one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, token: ApiToken) -> None:
        """Store a new token."""
        execute(
            self._session,
            _TOKEN.insert().values(
                token_id=token.token_id,
                digest=token.digest,
                person_id=token.person_id,
                scopes=" ".join(sorted(token.scopes)),
                created_at=token.created_at,
                created_by=token.created_by,
                expires_at=token.expires_at,
            ),
        )

    def find(self, token_id: str) -> ApiToken | None:
        """Return the token of an id; None when there is none."""
        row = self._session.execute(
            select(_TOKEN).where(_TOKEN.c.token_id == token_id)
        ).one_or_none()
        return None if row is None else _token(row)

    def all(self) -> Sequence[ApiToken]:
        """Return every token, oldest first."""
        rows = self._session.execute(
            select(_TOKEN).order_by(_TOKEN.c.created_at, _TOKEN.c.token_id)
        )
        return [_token(row) for row in rows]

    def revoke(self, token_id: str, now: datetime) -> bool:
        """End a token; False when there is no such token that still held."""
        done = execute(
            self._session,
            update(_TOKEN)
            .where(_TOKEN.c.token_id == token_id, _TOKEN.c.revoked_at.is_(None))
            .values(revoked_at=now),
        )
        return done.rowcount == 1

    def used(self, token_id: str, now: datetime) -> None:
        """Record when a token was used."""
        execute(
            self._session,
            update(_TOKEN).where(_TOKEN.c.token_id == token_id).values(used_at=now),
        )


def _token(row: Row[tuple[object, ...]]) -> ApiToken:
    return ApiToken(
        token_id=row.token_id,
        digest=row.digest,
        person_id=row.person_id,
        scopes=frozenset(row.scopes.split()),
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        used_at=row.used_at,
    )
