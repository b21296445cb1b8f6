"""Grants as signed tokens (JWS, Ed25519), and the key ring that signs them.

The newest key signs; older ones beside it still verify. A token holds nothing secret,
and says nothing of whether the request behind it still stands.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OKPKey

from billing.core.errors import GpucostError
from billing.core.money import Money
from billing.core.prices import Purchase
from bot.secrets import KEY_BYTES, load_or_create_key
from policies.core.approvals import Envelope
from policies.core.grants import Grant

ALGORITHM: Final = "Ed25519"
ISSUER = "gpucost"
#: Far more than any grant needs; longer ones are not even read.
TOKEN_CHARS_MAX = 4_096


class InvalidGrantError(GpucostError):
    """A token is no grant of this installation; it covers nothing."""

    code = "invalid_grant"
    exit_code = 3
    hint = "`gpucost approval show ID --format json` prints the grant of a request"


class BadKeyError(GpucostError):
    """A file of the key ring holds no key; nothing is signed or verified with it."""

    code = "bad_key"
    hint = "restore it from a backup, or move it away"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path.name!r} must hold {KEY_BYTES} bytes in hexadecimal")


class GrantKeys:
    """The keys of one installation, in files that only their owner can read.

    ``grant.key`` signs, and is made when there is none. What else is called
    ``grant.key.*`` verifies: move the file there to rotate, delete it to revoke.

    Args:
        folder: Where the files are; every replica has the same ones.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sign(self, grant: Grant) -> str:
        """Return the token of a grant; the same one each time."""
        key = self._signing
        header = {"alg": ALGORITHM, "kid": key.kid, "typ": "JWT"}
        return jws.serialize_compact(
            header, _dumped(_claims(grant)), key, algorithms=[ALGORITHM]
        )

    def read(self, token: str) -> Grant:
        """Return the grant of a token that one of the keys signed.

        Raises:
            InvalidGrantError: It is malformed, altered, or signed by somebody else.
        """
        if len(token) > TOKEN_CHARS_MAX:
            raise InvalidGrantError("the grant is no token of gpucost: it is too long")
        try:
            found = jws.deserialize_compact(
                token.strip(), self._verifying, algorithms=[ALGORITHM]
            )
        except (JoseError, ValueError) as error:
            raise InvalidGrantError(
                "the grant is not signed by this installation, or was altered"
            ) from error
        try:
            return _grant(json.loads(found.payload))
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise InvalidGrantError(
                "the grant was signed by another release that names other things"
            ) from error

    @cached_property
    def _signing(self) -> OKPKey:
        return _key(self._folder / "grant.key")

    @cached_property
    def _verifying(self) -> KeySet:
        older = sorted(self._folder.glob("grant.key.*"))
        return KeySet([self._signing, *(_key(path) for path in older)])


def _key(path: Path) -> OKPKey:
    """Derive the key pair of a secret file; its id is its public thumbprint.

    Raises:
        BadKeyError: A key that is cut short could be guessed.
    """
    try:
        secret = load_or_create_key(path)
    except ValueError as error:
        raise BadKeyError(path) from error
    if len(secret) != KEY_BYTES:
        raise BadKeyError(path)
    return OKPKey.derive_key(secret, ALGORITHM, auto_kid=True)


def _claims(grant: Grant) -> Mapping[str, Any]:
    envelope = grant.envelope
    ceiling = envelope.cost_ceiling
    return {
        "iss": ISSUER,
        "sub": grant.request_id,
        "ver": grant.version,
        "nbf": grant.not_before.timestamp(),
        "exp": grant.expires_at.timestamp(),
        "drift": str(grant.drift),
        "envelope": {
            "job": envelope.job,
            "instance_type": envelope.instance_type,
            "count": envelope.count,
            "hours": str(envelope.hours),
            "purchase": envelope.purchase.value,
            "region": envelope.region,
            "cost_ceiling": None
            if ceiling is None
            else [ceiling.nanos, ceiling.currency],
        },
    }


def _grant(claims: Mapping[str, Any]) -> Grant:
    if claims["iss"] != ISSUER:
        raise ValueError(claims["iss"])
    parts = claims["envelope"]
    ceiling = parts["cost_ceiling"]
    return Grant(
        request_id=str(claims["sub"]),
        version=int(claims["ver"]),
        not_before=datetime.fromtimestamp(claims["nbf"], UTC),
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
        drift=Fraction(claims["drift"]),
        envelope=Envelope(
            job=str(parts["job"]),
            instance_type=str(parts["instance_type"]),
            count=int(parts["count"]),
            hours=Fraction(parts["hours"]),
            purchase=Purchase(parts["purchase"]),
            region=str(parts["region"]),
            cost_ceiling=None if ceiling is None else Money(*ceiling),
        ),
    )


def _dumped(claims: Mapping[str, Any]) -> str:
    return json.dumps(claims, sort_keys=True, separators=(",", ":"))
