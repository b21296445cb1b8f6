"""Check requests against botocore's own service models.

It must not know any rule that is not in the model. botocore's client checks types and
required members; enum values, patterns and upper bounds it leaves to the service, so
the double checks them here.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from botocore import session as botocore_session
from botocore.model import (
    ListShape,
    MapShape,
    ServiceModel,
    Shape,
    StringShape,
    StructureShape,
)

PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "timestamp": (str, int, float),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "blob": (str,),
}


@cache
def service_model(service: str) -> ServiceModel:
    """Return botocore's model of one service."""
    return botocore_session.get_session().get_service_model(service)


@cache
def protocol_of(service: str) -> str:
    """Return the protocol that a current client of the service speaks."""
    try:
        return str(service_model(service).resolved_protocol)
    except Exception:  # noqa: BLE001  # an unknown service has no model
        return "json"


def error_codes(service: str, operation: str) -> set[str]:
    """Return the error codes that the model lists for an operation."""
    shapes = service_model(service).operation_model(operation).error_shapes
    return {shape.name for shape in shapes}


def problems(service: str, operation: str, params: dict[str, Any]) -> list[str]:
    """Return every way in which the parameters break the operation's model."""
    shape = service_model(service).operation_model(operation).input_shape
    return [] if shape is None else list(_check(shape, params, ""))


def validation_text(found: list[str]) -> str:
    """Return the problems as AWS words them."""
    noun = "error" if len(found) == 1 else "errors"
    return f"{len(found)} validation {noun} detected: " + "; ".join(found)


def _check(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if not _has_type(shape, value):
        yield f"Value at '{path}' failed to satisfy constraint: {shape.type_name} type"
        return
    if isinstance(shape, StructureShape):
        yield from _check_structure(shape, value, path)
    elif isinstance(shape, ListShape | MapShape):
        yield from _check_items(shape, value, path)
    elif isinstance(value, str):
        yield from _check_text(shape, value, path)
    elif not isinstance(value, bool):
        yield from _check_size(shape, value, value, path)


def _has_type(shape: Shape, value: Any) -> bool:
    if isinstance(value, bool):
        return bool(shape.type_name == "boolean")
    return isinstance(value, PYTHON_TYPES[shape.type_name])


def _check_items(shape: ListShape | MapShape, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, MapShape):
        for key, item in value.items():
            yield from _check(shape.value, item, f"{path}.{key}")
        return
    yield from _check_size(shape, len(value), value, path)
    for index, item in enumerate(value):
        yield from _check(shape.member, item, f"{path}.{index + 1}.member")


def _check_structure(
    shape: StructureShape, value: dict[str, Any], path: str
) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield (
                f"Value null at '{_join(path, name)}' failed to satisfy constraint: "
                "Member must not be null"
            )
    for name, item in value.items():
        member = shape.members.get(name)
        if member is None:
            yield f"Unknown member '{_join(path, name)}'"
        elif item is not None:
            yield from _check(member, item, _join(path, name))


def _check_text(shape: Shape, value: str, path: str) -> Iterator[str]:
    shown = f"Value '{value[:80]}' at '{path}' failed to satisfy constraint: "
    enum = shape.enum if isinstance(shape, StringShape) else []
    if enum and value not in enum:
        yield f"{shown}Member must satisfy enum value set: [{', '.join(enum)}]"
    yield from _check_size(shape, len(value), value[:80], path)
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(_python_pattern(pattern), value):
        yield f"{shown}Member must satisfy regular expression pattern: {pattern}"


def _check_size(shape: Shape, size: float, value: Any, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    of = "length" if shape.type_name in {"string", "list"} else "value"
    shown = f"Value '{value}' at '{path}' failed to satisfy constraint: "
    if low is not None and size < low:
        yield f"{shown}Member must have {of} greater than or equal to {low}"
    if high is not None and size > high:
        yield f"{shown}Member must have {of} less than or equal to {high}"


def _python_pattern(pattern: str) -> str:
    """Return a model's pattern in Python's dialect."""
    spaces = re.sub(r"\\p\{Zs?\}", r"\\s", pattern)
    words = re.sub(r"\\p\{[A-Za-z]+\}", r"\\w", spaces)
    return re.sub(r"(\\[ws])-", r"\1\\-", words)


def _join(path: str, name: str) -> str:
    shown = name[0].lower() + name[1:]
    return f"{path}.{shown}" if path else shown
