"""The table of bearer tokens. Rows only: no rule and no arithmetic lives here."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field

from billing.ledger.columns import Row, instant


class ApiTokenRow(Row, table=True):
    """One bearer token; its secret is not here, only what it hashes to.

    Attributes:
        digest: SHA-256 of the secret, hexadecimal.
        person_id: Pseudonym of whom it speaks for.
        scopes: Names of scopes, sorted, a space between them.
        used_at: When it was last used, to the hour.
    """

    __tablename__ = "api_token"

    token_id: str = Field(primary_key=True)
    digest: str
    person_id: str
    scopes: str
    created_at: datetime = instant()
    created_by: str
    expires_at: datetime | None = instant(default=None)
    revoked_at: datetime | None = instant(default=None)
    used_at: datetime | None = instant(default=None)
