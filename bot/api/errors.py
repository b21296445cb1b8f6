"""Failures as answers: the contract's error JSON and the status that fits.

Only named failures are told as they are; of the others a client learns nothing.
"""

from __future__ import annotations

import math
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import ValidationError

from billing.core.errors import GpucostError

#: Codes of named failures that are not the sender's fault to be repaired in the body.
_STATUS = {
    **dict.fromkeys(("unknown_job", "unknown_request"), 404),
    "invalid_token": 401,
    "missing_scope": 403,
    **dict.fromkeys(("schema", "database_busy", "database_unavailable"), 503),
    **dict.fromkeys(("invalid_policies", "slack_failed"), 503),
    "vote_refused": 409,
    **dict.fromkeys(("no_price", "no_identity", "needs_export", "bad_plan"), 422),
}
#: Problems of a body that are told; the rest of a long list helps nobody.
_PROBLEMS_MAX = 20


class HttpError(Exception):
    """An answer that ends a request.

    Attributes:
        after_s: When to try again, for ``Retry-After``; 0 when that does not help.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str = "",
        after_s: float = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.after_s = after_s


def answer_of(error: HttpError) -> JSONResponse:
    """Return an error as an answer."""
    return _answer(
        error.status, error.code, error.message, hint=error.hint, after_s=error.after_s
    )


def named_answer(error: GpucostError) -> JSONResponse:
    """Return a named failure as an answer."""
    status = _STATUS.get(error.code, 422 if isinstance(error, ValueError) else 409)
    return _answer(
        status, error.code, str(error), hint=error.hint, suggestions=error.suggestions,
        after_s=5 if status == 503 else 0,  # noqa: PLR2004 - it is a matter of time
    )  # fmt: skip


def bad_body(error: ValidationError) -> HttpError:
    """Return everything that is wrong with a body, by field."""
    problems = [
        f"{'.'.join(str(part) for part in one['loc']) or 'body'}: {one['msg']}"
        for one in error.errors(include_url=False, include_context=False)
    ]
    told = "; ".join(problems[:_PROBLEMS_MAX])
    return HttpError(422, "bad_request", told, hint="/docs shows what is expected")


def _answer(
    status: int,
    code: str,
    message: str,
    *,
    hint: str = "",
    suggestions: tuple[str, ...] = (),
    after_s: float = 0,
) -> JSONResponse:
    document: dict[str, Any] = {
        "schema": 1,
        "error": {
            "code": code,
            "message": message,
            "hint": hint,
            "suggestions": [*suggestions],
        },
    }
    headers = {}
    if status == 401:  # noqa: PLR2004 - the one that must say how
        headers["www-authenticate"] = 'Bearer realm="gpucost"'
    if status == 413:  # noqa: PLR2004 - the rest is never read
        headers["connection"] = "close"
    if after_s:
        headers["retry-after"] = str(max(math.ceil(after_s), 1))
    return JSONResponse(document, status_code=status, headers=headers)
