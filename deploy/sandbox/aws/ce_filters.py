"""Cost Explorer's filter expressions, checked and turned into predicates.

It must not know periods or groups: a filter sees one line at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deploy.sandbox.aws.ce_rules import GROUP_DIMENSIONS, invalid
from deploy.sandbox.aws.world import CostSeed

FILTER_DIMENSIONS = (
    *GROUP_DIMENSIONS,
    "LINKED_ACCOUNT_NAME",
    "PAYER_ACCOUNT",
    "SERVICE_CODE",
    "USAGE_TYPE_GROUP",
    "SCOPE",
)
DIMENSION_MATCHES = {"EQUALS", "CASE_SENSITIVE", "CASE_INSENSITIVE"}
TAG_MATCHES = {*DIMENSION_MATCHES, "ABSENT"}
MIN_OPERANDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One visible line with the tags that count at the asked instant."""

    seed: CostSeed
    tags: dict[str, str]
    payer: str


Predicate = Callable[[Line], bool]


def always(_line: Line) -> bool:
    """Accept every line."""
    return True


def dimension(line: Line, key: str) -> str:
    """Return a line's value of a dimension, as Cost Explorer spells it."""
    seed = line.seed
    family = (seed.instance_type or "").split(".", maxsplit=1)[0]
    known: dict[str, str | None] = {
        "SERVICE": seed.service,
        "USAGE_TYPE": seed.usage_type,
        "RECORD_TYPE": seed.record_type,
        "LINKED_ACCOUNT": seed.account,
        "PAYER_ACCOUNT": line.payer,
        "REGION": seed.region,
        "OPERATION": seed.operation,
        "PURCHASE_TYPE": seed.purchase_type,
        "INSTANCE_TYPE": seed.instance_type,
        "INSTANCE_TYPE_FAMILY": family or None,
        "INSTANCE_FAMILY": family or None,
        "SAVINGS_PLAN_ARN": seed.savings_plan_arn,
        "RESOURCE_ID": seed.resource,
        "BILLING_ENTITY": "AWS",
        "LEGAL_ENTITY_NAME": "Amazon Web Services, Inc.",
        "INVOICING_ENTITY": "Amazon Web Services, Inc.",
    }
    value = known.get(key)
    if value is not None:
        return value
    return "No" + key.replace("_", " ").title().replace(" ", "")


def compile_filter(
    expression: dict[str, Any] | None,
    allowed: tuple[str, ...] = FILTER_DIMENSIONS,
) -> Predicate:
    """Return the predicate of an expression, or refuse the expression."""
    if expression is None:
        return always
    present = [key for key, value in expression.items() if value is not None]
    if len(present) != 1:
        message = (
            "Expression must contain exactly one of And, Or, Not, Dimensions, Tags, "
            f"CostCategories; found {sorted(present)}"
        )
        raise invalid(message)
    name = present[0]
    value = expression[name]
    if name in {"And", "Or"}:
        return _combine(name, value, allowed)
    if name == "Not":
        inner = compile_filter(value, allowed)
        return lambda line: not inner(line)
    if name == "Dimensions":
        return _dimension_filter(value, allowed)
    return _tag_filter(name, value)


def _combine(name: str, parts: list[Any], allowed: tuple[str, ...]) -> Predicate:
    if len(parts) < MIN_OPERANDS:
        message = f"{name} expression must have at least {MIN_OPERANDS} operands."
        raise invalid(message)
    tests = [compile_filter(part, allowed) for part in parts]
    join = all if name == "And" else any
    return lambda line: join(test(line) for test in tests)


def _dimension_filter(value: dict[str, Any], allowed: tuple[str, ...]) -> Predicate:
    key = value.get("Key")
    if key is None:
        message = "Dimension key must not be null."
        raise invalid(message)
    if key not in allowed:
        message = f"Dimension {key} is not allowed."
        raise invalid(message)
    options = _options(value, DIMENSION_MATCHES, f"Dimension {key}")
    wanted = _values(value, f"Dimension {key}")
    fold = "CASE_INSENSITIVE" in options
    folded = {_fold(text, fold=fold) for text in wanted}
    return lambda line: _fold(dimension(line, key), fold=fold) in folded


def _tag_filter(name: str, value: dict[str, Any]) -> Predicate:
    key = value.get("Key")
    if not key:
        message = f"{name} key must not be null."
        raise invalid(message)
    options = _options(value, TAG_MATCHES, f"{name} {key}")
    of_tags = name == "Tags"
    if "ABSENT" in options:
        if value.get("Values"):
            message = f"{name} {key}: Values must be empty with MatchOption ABSENT."
            raise invalid(message)
        return lambda line: not (line.tags.get(key) if of_tags else None)
    fold = "CASE_INSENSITIVE" in options
    wanted = {_fold(text, fold=fold) for text in _values(value, f"{name} {key}")}
    if not of_tags:
        return lambda _line: "" in wanted
    return lambda line: _fold(line.tags.get(key, ""), fold=fold) in wanted


def _options(value: dict[str, Any], allowed: set[str], subject: str) -> set[str]:
    options = set(value.get("MatchOptions") or [])
    wrong = sorted(options - allowed)
    if wrong:
        message = f"{subject}: MatchOptions {wrong} are not supported."
        raise invalid(message)
    return options


def _values(value: dict[str, Any], subject: str) -> list[str]:
    values = value.get("Values") or []
    if not values:
        message = f"{subject}: Values must not be empty."
        raise invalid(message)
    return list(values)


def _fold(text: str, *, fold: bool) -> str:
    return text.casefold() if fold else text
