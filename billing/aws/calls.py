"""One way to make a read call: pages followed by hand, answers checked for wholeness.

botocore has no paginator for Cost Explorer, and it reports a body that was cut after
the status line as a success without members. So every call here states the members
that its answer always has, is repeated once when one is missing, follows tokens up to
a cap and refuses a token that comes twice. Must not know what the answers mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from billing.aws.failures import AWS_ERRORS, cause_of, unavailable
from billing.ports import (
    AnswerChangedError,
    IncompleteAnswerError,
    SourceUnavailableError,
)

#: More pages than any real answer has; an endless token ends here.
PAGES_MAX = 2_000

_CHANGED = frozenset({"RequestChangedException", "InvalidNextTokenException"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One read operation of AWS.

    Attributes:
        method: Name of the boto3 client method.
        permission: The IAM action it needs.
        required: Members that a whole answer always has.
        page_in / page_out: Names of the page token; "" when there are no pages.
    """

    source: str
    method: str
    permission: str
    required: tuple[str, ...] = ()
    page_in: str = ""
    page_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The account and region that a call is made for; "" where it has none."""

    account: str = ""
    region: str = ""


NOWHERE = Place()


def ask(
    client: Any, call: Call, params: Mapping[str, Any], *, place: Place = NOWHERE
) -> dict[str, Any]:
    """Make one call and return its whole answer, asking once more if it was cut.

    Raises:
        IncompleteAnswerError: Twice a member was missing or the body did not parse.
        AnswerChangedError: The token is not valid any more.
        SourceUnavailableError: The call failed after its retries.
    """
    missing = ""
    for _ in range(2):
        try:
            answer: dict[str, Any] = getattr(client, call.method)(**params)
        except ResponseParserError:
            missing = "a body that can be read"
            continue
        except AWS_ERRORS as error:
            raise _failure(call, error, place) from error
        lacking = [name for name in call.required if name not in answer]
        if not lacking:
            return answer
        missing = ", ".join(lacking)
    message = f"{call.permission} answered without {missing}: nothing of it is used"
    raise IncompleteAnswerError(
        call.source, message, account=place.account, region=place.region
    )


def pages(
    client: Any,
    call: Call,
    params: Mapping[str, Any],
    *,
    place: Place = NOWHERE,
    pages_max: int = PAGES_MAX,
) -> Iterator[dict[str, Any]]:
    """Yield every page of an answer; every other parameter is repeated unchanged.

    Raises:
        IncompleteAnswerError: A token came twice, or pages did not end.
    """
    seen: set[str] = set()
    asked = dict(params)
    for _ in range(pages_max):
        answer = ask(client, call, asked, place=place)
        yield answer
        token = answer.get(call.page_out)
        if not token:
            return
        if token in seen:
            raise _endless(call, "the same page token twice", place)
        seen.add(token)
        asked[call.page_in] = token
    raise _endless(call, f"more than {pages_max} pages", place)


@contextmanager
def whole(call: Call, place: Place = NOWHERE) -> Iterator[None]:
    """Refuse the answer when reading it finds a member missing or malformed."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        message = f"{call.permission} answered something unreadable: {error!r}"
        raise IncompleteAnswerError(
            call.source,
            message,
            account=place.account,
            region=place.region,
            cause=getattr(error, "code", ""),
        ) from error


def _endless(call: Call, what: str, place: Place) -> IncompleteAnswerError:
    message = f"{call.permission} answered {what}: nothing of it is used"
    return IncompleteAnswerError(
        call.source, message, account=place.account, region=place.region
    )


def _failure(call: Call, error: Exception, place: Place) -> SourceUnavailableError:
    if isinstance(error, ClientError) and cause_of(error) in _CHANGED:
        return AnswerChangedError(
            call.source,
            f"{call.permission} changed between pages: {cause_of(error)}",
            account=place.account,
            region=place.region,
            cause=cause_of(error),
        )
    return unavailable(
        call.source,
        call.permission,
        error,
        account=place.account,
        region=place.region,
    )
