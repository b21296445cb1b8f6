"""Errors of files in the reader's words, with the place of the key or value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from rapidfuzz import fuzz, process

from billing.core.errors import GpucostError
from policies.core.conditions import ConditionError
from policies.core.fields import ChoiceError
from policies.load.tree import Node, Problem, find

NEAR_ENOUGH = 60.0
TEXT_MAX = 300

_EXPECTED = {
    "string_type": "expected text",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "set_type": "expected a list",
    "dict_type": "expected keys with values",
    "model_type": "expected keys with values",
    "model_attributes_type": "expected keys with values",
    "int_parsing": "expected a whole number",
    "int_type": "expected a whole number",
    "bool_parsing": "expected true or false",
    "bool_type": "expected true or false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadError:
    """One thing wrong with a file.

    Attributes:
        line / column: Place of the offending key or value, from 1.
        policy: Name of the policy it belongs to; "" outside policies.
        message: What is wrong and what was expected.
        suggestion: What to do; "" when the message says it.
    """

    file: str
    line: int
    column: int
    policy: str
    message: str
    suggestion: str = ""

    @property
    def text(self) -> str:
        """Return message and suggestion, without the place."""
        return f"{self.message}; {self.suggestion}" if self.suggestion else self.message

    def order(self) -> tuple[str, int, int, str]:
        """Return the sort key: by place, then by message."""
        return (self.file, self.line, self.column, self.message)

    def __str__(self) -> str:
        """Return ``file:line:column: policy 'name': what, expected; fix``."""
        policy = f"policy {self.policy!r}: " if self.policy else ""
        return f"{self.file}:{self.line}:{self.column}: {policy}{self.text}"


def located(file: str, problem: Problem, *, policy: str = "") -> LoadError:
    """Return a problem of a text as an error of a file."""
    return LoadError(
        file=file,
        line=problem.line,
        column=problem.column,
        policy=_short(policy),
        message=_short(problem.message),
        suggestion=problem.fix,
    )


def _short(text: str) -> str:
    """Keep an error on one line of bounded length, whatever a file holds."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return shown if len(shown) <= TEXT_MAX else f"{shown[:TEXT_MAX]}…"


def nearest(wrong: str, choices: Collection[str]) -> str:
    """Return "did you mean" with the nearest choice; "" when none is near."""
    found = process.extractOne(
        wrong,
        [str(one) for one in choices],
        scorer=fuzz.ratio,
        score_cutoff=NEAR_ENOUGH,
    )
    return f"did you mean {found[0]!r}?" if found and wrong else ""


def problems_of(
    error: ValidationError,
    node: Node,
    model: type[BaseModel],
    *,
    skip: Collection[tuple[str | int, ...]] = (),
) -> Iterator[Problem]:
    """Yield what a model refuses in a tree, in our words and with places."""
    for detail in error.errors(include_url=False):
        loc = tuple(step for step in detail["loc"] if step != "[key]")
        if loc not in skip:
            yield _problem(detail, loc, node, model)


def _problem(
    detail: ErrorDetails,
    loc: tuple[str | int, ...],
    node: Node,
    model: type[BaseModel],
) -> Problem:
    kind = detail["type"]
    name = _key(loc)
    if kind == "missing":
        place = find(node, loc[:-1])
        return _at(place, f"missing key {name!r}", "add it", loc)
    if kind == "extra_forbidden":
        known = _keys_at(model, loc[:-1])
        fix = nearest(name, known) or f"keys here are {', '.join(known)}"
        place = find(node, loc, at_key=True)
        return _at(place, f"unknown key {name!r}", fix, loc)
    place = find(node, loc)
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, GpucostError):
        return _of_value(cause, name, place, loc)
    return _at(
        place, f"{name}: {_expected(detail)}" if name else _expected(detail), "", loc
    )


def _key(loc: tuple[str | int, ...]) -> str:
    """Return the last key of a path, the one a reader looks for."""
    return next((step for step in reversed(loc) if isinstance(step, str)), "")


def _at(place: Node, message: str, fix: str, loc: tuple[str | int, ...]) -> Problem:
    return Problem(
        line=place.line, column=place.column, message=message, fix=fix, path=loc
    )


def _of_value(
    cause: GpucostError, name: str, place: Node, loc: tuple[str | int, ...]
) -> Problem:
    """Describe a value that its own parser refused."""
    prefix = f"{name}: " if name else ""
    fix = cause.hint
    if isinstance(cause, ChoiceError | ConditionError) and cause.wrong:
        fix = nearest(cause.wrong, cause.choices) or fix
    problem = _at(place, f"{prefix}{cause}", fix, loc)
    if isinstance(cause, ConditionError) and place.kind == "scalar":
        return _inside(problem, cause, place)
    return problem


def _inside(problem: Problem, cause: ConditionError, place: Node) -> Problem:
    """Move a problem of a condition to its place inside a value on one line."""
    if "\n" in place.text or place.end_line != place.line:
        within = f" (line {cause.line}, column {cause.column} of the condition)"
        return Problem(
            line=problem.line,
            column=problem.column,
            message=problem.message + within,
            fix=problem.fix,
            path=problem.path,
        )
    quote = 0 if place.is_plain else 1
    return Problem(
        line=place.line,
        column=place.column + quote + cause.column - 1,
        message=problem.message,
        fix=problem.fix,
        path=problem.path,
    )


def _expected(detail: ErrorDetails) -> str:
    """Say what was expected, without the validator's own prose."""
    kind = detail["type"]
    shown = _shown(detail.get("input"))
    context: Mapping[str, Any] = detail.get("ctx", {})
    if kind in _EXPECTED:
        return f"{_EXPECTED[kind]}, got {shown}"
    if kind in {"literal_error", "enum"}:
        return f"expected {context.get('expected', 'another word')}, got {shown}"
    if kind == "value_error":
        return str(context.get("error", "this value cannot be used"))
    limits = [f"{name} {value}" for name, value in context.items() if name != "error"]
    return f"cannot be used ({', '.join(limits) or kind}), got {shown}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)[:60]


def _keys_at(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a model knows at a path."""
    current: type[BaseModel] | None = model
    for step in path:
        if isinstance(step, str) and current is not None:
            current = _model_of(current, step)
    if current is None:
        return []
    fields = current.model_fields
    return [field.alias or name for name, field in fields.items()]


def _model_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    for name, field in model.model_fields.items():
        if key == (field.alias or name):
            return _first_model(field.annotation)
    return None


def _first_model(annotation: object) -> type[BaseModel] | None:
    """Find the model inside an annotation such as ``tuple[Tier, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (_first_model(part) for part in get_args(annotation))
    return next((found for found in inner if found is not None), None)
