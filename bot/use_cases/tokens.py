"""Make, check and end the bearer tokens of the HTTP side.

A secret is shown once and kept as its SHA-256: 256 random bits need no slow hash. A
token speaks for one person, for what its scopes name, until it ends.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from billing.core.attribution import nearest
from billing.core.errors import GpucostError
from bot.ports import ApiToken, Store

_TEXT = re.compile(r"gpucost_([0-9a-f]{10})_([0-9a-f]{64})")
_SECRET_BYTES = 32
_ID_BYTES = 5
#: The time of last use is kept no finer: a write per request would be dear.
USED_EVERY = timedelta(hours=1)
#: Compared with when no such token exists, so that both take the same time.
_NOBODY = hashlib.sha256(b"").hexdigest()


class Scope(StrEnum):
    """What a token may be used for."""

    ESTIMATES = "estimates"
    APPROVALS_REQUEST = "approvals:request"
    APPROVALS_READ = "approvals:read"
    GRANTS_CHECK = "grants:check"
    PLACEMENTS_WRITE = "placements:write"
    PROGRESS_WRITE = "progress:write"
    COSTS_READ = "costs:read"
    ADMISSION = "admission"


class UnknownScopeError(GpucostError, ValueError):
    """There is no scope of this name."""

    code = "unknown_scope"
    exit_code = 2

    def __init__(self, name: str) -> None:
        known = [scope.value for scope in Scope]
        super().__init__(f"scope must be one of {', '.join(known)}, got {name!r}")
        self.suggestions = nearest(name, known, 1)


class NoScopeError(GpucostError, ValueError):
    """A token that may do nothing is of no use."""

    code = "unknown_scope"
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("name at least one scope with --scope")


class PastExpiryError(GpucostError, ValueError):
    """A token would have ended before it began."""

    code = "bad_usage"
    exit_code = 2

    def __init__(self, at: datetime) -> None:
        super().__init__(f"--expires must lie ahead, got {at:%Y-%m-%dT%H:%M:%SZ}")


class UnknownTokenError(GpucostError):
    """There is no token of this id that still holds."""

    code = "unknown_token"
    hint = "`gpucost token list` shows the tokens there are"

    def __init__(self, token_id: str) -> None:
        super().__init__(f"no token {token_id!r} holds")


class InvalidTokenError(GpucostError):
    """What was presented is no token that holds; nothing was done."""

    code = "invalid_token"
    hint = "`gpucost token create` makes one"


class MissingScopeError(GpucostError):
    """The token holds, but not for this."""

    code = "missing_scope"

    def __init__(self, scope: Scope) -> None:
        super().__init__(f"this token lacks the scope {scope.value!r}")


def scopes_of(names: Sequence[str]) -> frozenset[Scope]:
    """Read names of scopes; several may stand in one, with commas.

    Raises:
        UnknownScopeError: Naming the first that is none.
        NoScopeError: There is none at all.
    """
    words = [word.strip() for name in names for word in name.split(",")]
    found = frozenset(_scope(word) for word in words if word)
    if not found:
        raise NoScopeError
    return found


def _scope(word: str) -> Scope:
    try:
        return Scope(word)
    except ValueError as error:
        raise UnknownScopeError(word) from error


def create_token(
    store: Store,
    *,
    person_id: str,
    scopes: Collection[Scope],
    expires_at: datetime | None,
    by: str,
    now: datetime,
) -> tuple[ApiToken, str]:
    """Make a token for somebody; return it and the text that is never shown again.

    Raises:
        PastExpiryError: It would have ended already.
    """
    if expires_at is not None and expires_at <= now:
        raise PastExpiryError(expires_at)
    secret = secrets.token_hex(_SECRET_BYTES)
    token = ApiToken(
        token_id=secrets.token_hex(_ID_BYTES),
        digest=_digest(secret),
        person_id=person_id,
        scopes=frozenset(scope.value for scope in scopes),
        created_at=now,
        created_by=by,
        expires_at=expires_at,
    )
    with store.write() as unit:
        unit.tokens.add(token)
        unit.audit.append(
            "token_created",
            actor=by,
            subject=token.token_id,
            data={"for": person_id, "scopes": sorted(token.scopes)},
            now=now,
        )
    return token, f"gpucost_{token.token_id}_{secret}"


def revoke_token(store: Store, token_id: str, *, by: str, now: datetime) -> ApiToken:
    """End a token at once.

    Raises:
        UnknownTokenError: None of this id still held.
    """
    with store.write() as unit:
        if not unit.tokens.revoke(token_id, now):
            raise UnknownTokenError(token_id)
        unit.audit.append("token_revoked", actor=by, subject=token_id, data={}, now=now)
        found = unit.tokens.find(token_id)
    assert found is not None
    return found


def check_token(store: Store, text: str, now: datetime) -> ApiToken:
    """Return the token of a presented text.

    Raises:
        InvalidTokenError: It is malformed, unknown, revoked or over.
    """
    parts = _TEXT.fullmatch(text)
    if parts is None:
        raise InvalidTokenError("this is no token of gpucost")
    token_id, secret = parts.groups()
    with store.read() as unit:
        token = unit.tokens.find(token_id)
    digest = token.digest if token else _NOBODY
    is_right = hmac.compare_digest(digest, _digest(secret))
    if token is None or not is_right:
        raise InvalidTokenError("this token is not known")
    if token.revoked_at is not None:
        raise InvalidTokenError(f"token {token_id} was revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise InvalidTokenError(f"token {token_id} is over")
    return token


def note_use(store: Store, token: ApiToken, now: datetime) -> None:
    """Record that a token was used, once an hour."""
    if token.used_at is not None and now - token.used_at < USED_EVERY:
        return
    with store.write() as unit:
        unit.tokens.used(token.token_id, now)


def _digest(secret: str) -> str:
    return hashlib.sha256(bytes.fromhex(secret)).hexdigest()
