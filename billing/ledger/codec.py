"""Frozen dataclasses as JSON text in a column, and back, exactly.

For values that are stored whole and never queried by part. A field added later reads
as its default; a field that is gone is skipped. Knows no particular class.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")

_Reader = Callable[[Any], Any]
_MICROSECOND = timedelta(microseconds=1)


def encode(value: object) -> str:
    """Return a dataclass as canonical JSON: sorted keys, no spaces."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def decode(kind: type[T], text: str) -> T:
    """Read what `encode` wrote back into a dataclass of the given class."""
    value: T = _reader(cast("Any", kind))(json.loads(text))
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field
    if is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name)) for field in fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, timedelta):
        return value // _MICROSECOND
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return value


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


_READERS: dict[Any, _Reader] = {
    datetime: _instant,
    date: date.fromisoformat,
    timedelta: lambda value: timedelta(microseconds=value),
    Fraction: Fraction,
    Decimal: Decimal,
}


@cache
def _reader(hint: Any) -> _Reader:  # noqa: ANN401 - any type hint
    """Return the function that reads a value of a type hint."""
    if hint in _READERS:
        return _READERS[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        (inner,) = (item for item in arguments if item is not types.NoneType)
        read = _reader(inner)
        return lambda value: None if value is None else read(value)
    if origin is tuple:
        read_item = _reader(arguments[0])
        return lambda value: tuple(read_item(item) for item in value)
    if is_dataclass(hint):
        return _dataclass_reader(cast("type[Any]", hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return lambda value: value


def _dataclass_reader(kind: type[Any]) -> _Reader:
    hints = typing.get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}

    def read(value: dict[str, Any]) -> Any:  # noqa: ANN401 - an instance of kind
        return kind(
            **{
                name: readers[name](item)
                for name, item in value.items()
                if name in readers
            }
        )

    return read
