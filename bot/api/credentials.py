"""The token that a request presents: as bearer, or as the password of a URL.

SkyPilot knows no header for its policy server, but a URL may hold a password.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from bot.use_cases.tokens import InvalidTokenError

#: Longer headers are not even read.
_CHARS_MAX = 512


def presented(headers: Mapping[str, str], *, takes_basic: bool = False) -> str:
    """Return the text presented as a token.

    Raises:
        InvalidTokenError: There is none.
    """
    header = headers.get("authorization", "")
    kind, _, text = header.partition(" ")
    if not header or len(header) > _CHARS_MAX:
        raise InvalidTokenError("name a token: Authorization: Bearer gpucost_…")
    if kind.lower() == "bearer":
        return text.strip()
    if takes_basic and kind.lower() == "basic":
        return _password(text)
    raise InvalidTokenError("name a token: Authorization: Bearer gpucost_…")


def _password(text: str) -> str:
    try:
        pair = base64.b64decode(text.strip(), validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidTokenError("the credentials are not readable") from error
    return pair.partition(":")[2]
