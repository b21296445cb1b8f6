"""Values of policy keys back as text, the way a person would write them."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from fractions import Fraction
from typing import Any

from pydantic import BaseModel

from billing.core.money import Money
from policies.core.quantities import duration_text, money_text, percent_text


def spelled(value: Any) -> Any:  # noqa: ANN401 (any key's value)
    """Return text, lists and mappings of text for a value of a policy key.

    >>> spelled((Money.of("10000"), timedelta(minutes=30)))
    ['$10,000', '30m']
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Money):
        return money_text(value)
    if isinstance(value, timedelta):
        return duration_text(value) if value else "0m"
    if isinstance(value, Fraction):
        return percent_text(value)
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return {
            name: spelled(part) for name, part in fields.items() if part is not None
        }
    if isinstance(value, tuple | list):
        return [spelled(item) for item in value]
    return str(value)
