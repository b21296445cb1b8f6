"""Types of policy keys: text as people write it, checked and turned into values.

Each type says in the JSON Schema what an editor may accept. Everything in a policy
file arrives as text; values that are typed already pass through. Knows no policy kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import PlainValidator, WithJsonSchema

from billing.core.errors import GpucostError
from billing.core.money import Money
from policies.core.conditions import (
    INSTANCE_FIELDS,
    JOB_FIELDS,
    Condition,
    compile_condition,
)
from policies.core.quantities import (
    Limit,
    PercentRange,
    QuantityError,
    parse_count,
    parse_duration,
    parse_limit,
    parse_money,
    parse_percent,
    parse_percent_range,
    parse_steps,
)

T = TypeVar("T")
NAME_MAX = 64
#: AWS allows no longer key.
TAG_KEY_MAX = 128
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_APPROVER = re.compile(
    r"@[^\s@<>&]+|[USW][A-Z0-9]{5,}|[^\s@<>&]+@[^\s@<>&]+\.[^\s@<>&]+"
)


class ChoiceError(GpucostError, ValueError):
    """A word is none of those allowed.

    Attributes:
        wrong: The word as written.
        choices: The words allowed.
    """

    code = "unknown_choice"

    def __init__(self, wrong: str, choices: tuple[str, ...]) -> None:
        super().__init__(f"expected one of {', '.join(choices)}, got {wrong!r}")
        self.wrong = wrong
        self.choices = choices


def reader(kind: type[T], parse: Callable[[str], T]) -> Callable[[object], T]:
    """Return a validator that parses text and lets typed values through."""

    def read(value: object) -> T:
        if isinstance(value, kind) and not isinstance(value, str):
            return value
        if not isinstance(value, str):
            shown = {list: "a list", dict: "keys", type(None): "nothing"}
            raise QuantityError(shown.get(type(value), value), "one value")
        return parse(value)

    return read


def words(*choices: str) -> Any:  # noqa: ANN401 (an annotation of pydantic)
    """Return the annotation of a key that holds one of some words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ChoiceError(text, choices)
        return text

    return (
        PlainValidator(reader(str, parse)),
        WithJsonSchema({"type": "string", "enum": list(choices)}),
    )


def _parse_name(text: str) -> str:
    if len(text) > NAME_MAX or _NAME.fullmatch(text) is None:
        expected = f"a name of at most {NAME_MAX} lower-case letters, digits and dashes"
        raise QuantityError(text[:NAME_MAX], expected)
    return text


def _parse_flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise ChoiceError(text, ("true", "false"))
    return text == "true"


def _parse_account(text: str) -> str:
    if re.fullmatch(r"[0-9]{12}", text) is None:
        raise QuantityError(text, "an account id of 12 digits")
    return text


def _parse_approver(text: str) -> str:
    if _APPROVER.fullmatch(text) is None:
        expected = "an approver like @user, @group, a Slack id or an e-mail address"
        raise QuantityError(text, expected)
    return text.lower() if "@" in text[1:] else text


def _parse_zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise QuantityError(text, "a time zone like Europe/Berlin") from None


def _parse_text(text: str) -> str:
    if not text.strip() or len(text) > 1_000:  # noqa: PLR2004 (a sentence or two)
        raise QuantityError(text[:40], "a text of 1 to 1000 characters")
    return text.strip()


def _parse_tag_key(text: str) -> str:
    if not text.strip() or len(text) > TAG_KEY_MAX:
        raise QuantityError(text[:40], f"a tag key of 1 to {TAG_KEY_MAX} characters")
    return text.strip()


def _number_or_text(pattern: str, *examples: str) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": ["string", "number"], "pattern": pattern, "examples": list(examples)}
    )


def _text(pattern: str, *examples: str) -> WithJsonSchema:
    return WithJsonSchema(
        {"type": "string", "pattern": pattern, "examples": list(examples)}
    )


Name = Annotated[
    str, PlainValidator(reader(str, _parse_name)), _text(r"^[a-z0-9][a-z0-9._-]*$")
]
Text = Annotated[
    str, PlainValidator(reader(str, _parse_text)), WithJsonSchema({"type": "string"})
]
TagKey = Annotated[
    str,
    PlainValidator(reader(str, _parse_tag_key)),
    WithJsonSchema({"type": "string", "examples": ["job", "team", "cost-center"]}),
]
Flag = Annotated[
    bool, PlainValidator(reader(bool, _parse_flag)), WithJsonSchema({"type": "boolean"})
]
Amount = Annotated[
    Money,
    PlainValidator(reader(Money, parse_money)),
    _number_or_text(r"^[$€£]?\s?[0-9]", "$10,000", "10K"),
]
Duration = Annotated[
    timedelta,
    PlainValidator(reader(timedelta, parse_duration)),
    _text(r"^([0-9]+[wdhms])+$", "30m", "24h", "7d", "1h30m"),
]
DurationOrZero = Annotated[
    timedelta,
    PlainValidator(reader(timedelta, partial(parse_duration, allow_zero=True))),
    _text(r"^([0-9]+[wdhms])+$", "0m", "15m"),
]
Percent = Annotated[
    Fraction,
    PlainValidator(reader(Fraction, parse_percent)),
    _text(r"^[0-9.]+\s?%$", "20%"),
]
Drift = Annotated[
    Fraction,
    PlainValidator(reader(Fraction, partial(parse_percent, most=1000))),
    _text(r"^[0-9.]+\s?%$", "20%"),
]
PercentBand = Annotated[
    PercentRange,
    PlainValidator(reader(PercentRange, parse_percent_range)),
    _text(r"^[0-9.]+\s?%\s?\.\.\s?[0-9.]+\s?%$", "60%..70%"),
]
PercentLimit = Annotated[
    Limit,
    PlainValidator(reader(Limit, partial(parse_limit, unit="%"))),
    _text(r"^(<|<=|>|>=)\s*[0-9.]+\s?%$", "< 5%"),
]
ByteRateLimit = Annotated[
    Limit,
    PlainValidator(reader(Limit, partial(parse_limit, unit="B/s"))),
    _text(r"^(<|<=|>|>=)\s*[0-9.,]+\s?[kKMG]?i?B/s$", "< 1 MB/s"),
]
Count = Annotated[
    int,
    PlainValidator(reader(int, parse_count)),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
CountFromOne = Annotated[
    int,
    PlainValidator(reader(int, partial(parse_count, least=1))),
    WithJsonSchema({"type": "integer", "minimum": 1}),
]
Steps = Annotated[
    int,
    PlainValidator(reader(int, parse_steps)),
    _text(r"^[0-9_,]+[kKmM]? steps?$", "10000 steps"),
]
Account = Annotated[
    str, PlainValidator(reader(str, _parse_account)), _text(r"^[0-9]{12}$")
]
Approver = Annotated[
    str,
    PlainValidator(reader(str, _parse_approver)),
    WithJsonSchema({"type": "string", "examples": ["@gpu-approvers", "U012ABCDE"]}),
]
Zone = Annotated[
    ZoneInfo,
    PlainValidator(reader(ZoneInfo, _parse_zone)),
    WithJsonSchema({"type": "string", "examples": ["UTC", "Europe/Berlin"]}),
]

JOB_NAMES = tuple(JOB_FIELDS)
INSTANCE_NAMES = (*JOB_FIELDS, *INSTANCE_FIELDS)
_WHERE_SCHEMA = WithJsonSchema(
    {"type": "string", "examples": ['job.env != "prod"'], "maxLength": 2000}
)
JobCondition = Annotated[
    Condition,
    PlainValidator(reader(Condition, partial(compile_condition, fields=JOB_NAMES))),
    _WHERE_SCHEMA,
]
InstanceCondition = Annotated[
    Condition,
    PlainValidator(
        reader(Condition, partial(compile_condition, fields=INSTANCE_NAMES))
    ),
    _WHERE_SCHEMA,
]
