"""Bearer tokens as JSON and for a terminal; pure. A secret appears when it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.views.answers import ApiToken
from bot.views.documents import instant
from bot.views.terminal import table, when


def token_document(token: ApiToken, names: Mapping[str, str]) -> dict[str, Any]:
    """Return one token, without its secret."""
    return {
        "id": token.token_id,
        "for": names.get(token.person_id, token.person_id),
        "scopes": sorted(token.scopes),
        "created_at": instant(token.created_at),
        "created_by": names.get(token.created_by, token.created_by),
        "expires_at": instant(token.expires_at),
        "revoked_at": instant(token.revoked_at),
        "used_at": instant(token.used_at),
    }


def created_text(token: ApiToken, secret: str, names: Mapping[str, str]) -> str:
    """Return what `gpucost token create` prints."""
    ends = when(token.expires_at) if token.expires_at else "never"
    facts = table(
        [
            ("token", token.token_id),
            ("for", names.get(token.person_id, token.person_id)),
            ("scopes", " ".join(sorted(token.scopes))),
            ("expires", ends),
        ]
    )
    return f"{secret}\n\n{facts}\n\nit is shown this once: keep it now"


def tokens_text(
    tokens: Sequence[ApiToken], names: Mapping[str, str], now: datetime
) -> str:
    """Return what `gpucost token list` prints."""
    if not tokens:
        return "no tokens"
    rows = [
        (
            one.token_id, names.get(one.person_id, one.person_id), _state(one, now),
            when(one.expires_at) if one.expires_at else "never",
            when(one.used_at) if one.used_at else "never",
            " ".join(sorted(one.scopes)),
        )
        for one in tokens
    ]  # fmt: skip
    return table([("id", "for", "state", "expires", "last used", "scopes"), *rows])


def _state(token: ApiToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    is_over = token.expires_at is not None and token.expires_at <= now
    return "over" if is_over else "holds"
