"""Grants as tokens: signed, read back, refused when anything about them is wrong."""

from __future__ import annotations

import base64
import json
import stat
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from joserfc import jws
from joserfc.jwk import OctKey

from bot.grants import BadKeyError, GrantKeys, InvalidGrantError
from policies.core.approvals import RequestState
from policies.core.grants import Grant, grant_of
from tests.builders_policies import NOW, make_request

if TYPE_CHECKING:
    from pathlib import Path


def _grant(**changes: Any) -> Grant:
    """Make a grant of odd values: microseconds and thirds of an hour."""
    request = make_request(state=RequestState.APPROVED)
    decided = NOW + timedelta(microseconds=123_457)
    grant = grant_of(replace(request, decided_at=decided))
    assert grant is not None
    hours = replace(grant.envelope, hours=Fraction(1, 3))
    return replace(grant, envelope=hours, drift=Fraction(1, 7), **changes)


def test_a_token_brings_back_its_grant_exactly(tmp_path: Path) -> None:
    keys = GrantKeys(tmp_path)
    free = replace(_grant(), envelope=replace(_grant().envelope, cost_ceiling=None))

    assert keys.read(keys.sign(_grant())) == _grant()
    assert keys.read(keys.sign(free)) == free


def test_the_token_of_a_grant_is_always_the_same(tmp_path: Path) -> None:
    assert GrantKeys(tmp_path).sign(_grant()) == GrantKeys(tmp_path).sign(_grant())


def test_only_the_owner_can_read_the_key(tmp_path: Path) -> None:
    GrantKeys(tmp_path).sign(_grant())

    (path,) = tmp_path.iterdir()
    assert (path.name, stat.S_IMODE(path.stat().st_mode)) == ("grant.key", 0o600)


def test_the_key_is_not_in_the_token(tmp_path: Path) -> None:
    token = GrantKeys(tmp_path).sign(_grant())

    secret = bytes.fromhex((tmp_path / "grant.key").read_text().strip())
    parts = [base64.urlsafe_b64decode(part + "==") for part in token.split(".")]
    assert not any(secret in part for part in parts)


def test_a_token_of_an_older_key_still_verifies(tmp_path: Path) -> None:
    old = GrantKeys(tmp_path).sign(_grant())
    (tmp_path / "grant.key").rename(tmp_path / "grant.key.2026-11")
    keys = GrantKeys(tmp_path)

    assert keys.read(old) == _grant()
    assert keys.sign(_grant()) != old


def test_a_token_of_a_deleted_key_is_refused(tmp_path: Path) -> None:
    old = GrantKeys(tmp_path).sign(_grant())
    (tmp_path / "grant.key").unlink()

    with pytest.raises(InvalidGrantError, match="not signed by this installation"):
        GrantKeys(tmp_path).read(old)


@pytest.mark.parametrize("name", ["grant.key", "grant.key.old"])
@pytest.mark.parametrize("content", ["", "ab" * 31, "no key", "ab" * 32 + " x"])
def test_a_file_without_a_whole_key_is_named(
    tmp_path: Path, name: str, content: str
) -> None:
    token = GrantKeys(tmp_path).sign(_grant())
    (tmp_path / name).write_text(content)

    with pytest.raises(BadKeyError, match=f"'{name}' must hold 32 bytes"):
        GrantKeys(tmp_path).read(token)


def _altered(token: str, **changes: object) -> str:
    header, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["envelope"] |= changes
    made = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"{header}.{made}.{signature}"


def _unsigned(token: str) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return f"{header}.{token.split('.')[1]}."


def _signed_by_another_algorithm(token: str) -> str:
    """Sign with the public key id as a shared secret, as a confused verifier would."""
    first, second, _ = token.split(".")
    header = json.loads(base64.urlsafe_b64decode(first + "=="))
    body = base64.urlsafe_b64decode(second + "==")
    key = OctKey.import_key(header["kid"])
    return jws.serialize_compact(
        {"alg": "HS256", "kid": header["kid"]}, body, key, algorithms=["HS256"]
    )


def test_a_forged_token_is_refused(tmp_path: Path) -> None:
    keys = GrantKeys(tmp_path)
    token = keys.sign(_grant())
    forged = [
        _altered(token, count=400),
        _unsigned(token),
        _signed_by_another_algorithm(token),
        GrantKeys(tmp_path / "elsewhere").sign(_grant()),
        token[:-6] + "AAAAAA",
        token + ".x",
        "",
        "…",
        "a.b.c",
        "e30.e30.",
        "A" * 100_000,
    ]

    for one in forged:
        with pytest.raises(InvalidGrantError):
            keys.read(one)


def test_a_token_that_names_other_things_is_refused(tmp_path: Path) -> None:
    keys = GrantKeys(tmp_path)
    for body in ("{}", "[]", "1", '{"iss": "someone"}', "no json"):
        key = keys._signing
        header = {"alg": "Ed25519", "kid": key.kid}
        token = jws.serialize_compact(header, body, key, algorithms=["Ed25519"])

        with pytest.raises(InvalidGrantError, match="another release"):
            keys.read(token)
