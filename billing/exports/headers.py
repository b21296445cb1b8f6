"""Which format a table of an export has, and which of its columns is which.

Headers come as ``lineItem/UnblendedCost``, ``line_item_unblended_cost`` or FOCUS names;
without marks and case they are one name. Pure; knows no file and no engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from billing.core.attribution import TagKeys, choose
from billing.exports.errors import IncompleteExportError

_MARKS = re.compile(r"[^a-z0-9]")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TAG_HEADER = re.compile(r"^resource_?tags[/_]", re.IGNORECASE)
_NAMED_MAX = 5


class ExportFormat(StrEnum):
    """Formats by what tells them apart: their columns."""

    FOCUS = "focus"
    CUR = "cur"


_REQUIRED: Mapping[ExportFormat, tuple[str, ...]] = {
    ExportFormat.FOCUS: (
        *("BilledCost", "EffectiveCost", "BillingCurrency", "BillingPeriodStart"),
        *("ChargeCategory", "ChargePeriodStart", "ChargePeriodEnd", "SubAccountId"),
    ),
    ExportFormat.CUR: (
        *("lineItem/UsageAccountId", "lineItem/LineItemType", "lineItem/UsageType"),
        *("lineItem/UsageStartDate", "lineItem/UsageEndDate"),
        *("lineItem/UnblendedCost", "lineItem/CurrencyCode"),
        "bill/BillingPeriodStartDate",
    ),
}


def plain(name: str) -> str:
    """Return a header as headers are compared.

    >>> plain("lineItem/UnblendedCost") == plain("line_item_unblended_cost")
    True
    """
    return _MARKS.sub("", name.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The columns of an export as the engine reads them.

    Attributes:
        types: Column -> SQL type, in the order of the file.
    """

    format: ExportFormat
    types: Mapping[str, str]
    _by_plain: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, types: Mapping[str, str]) -> Table:
        """Recognise the format of the columns.

        Raises:
            IncompleteExportError: A column that must be there is not.
        """
        by_plain: dict[str, tuple[str, ...]] = {}
        for name in types:
            by_plain[plain(name)] = (*by_plain.get(plain(name), ()), name)
        is_focus = plain("BilledCost") in by_plain
        found = ExportFormat.FOCUS if is_focus else ExportFormat.CUR
        missing = [name for name in _REQUIRED[found] if plain(name) not in by_plain]
        if missing:
            text = ", ".join(missing[:_NAMED_MAX])
            raise IncompleteExportError(
                f"not a complete {found.value} export: it has no column {text}"
            )
        return cls(format=found, types=types, _by_plain=by_plain)

    def columns(self, *names: str) -> tuple[str, ...]:
        """Return the columns that go by any of the names, in the order of the names."""
        return tuple(
            column for name in names for column in self._by_plain.get(plain(name), ())
        )

    def require(self, names: Iterable[str]) -> None:
        """Check that columns which a manifest lists are there.

        Raises:
            IncompleteExportError: One is not.
        """
        missing = sorted(name for name in names if plain(name) not in self._by_plain)
        if missing:
            text = ", ".join(repr(name) for name in missing[:_NAMED_MAX])
            raise IncompleteExportError(
                f"{len(missing)} columns of the manifest are not in the files: {text}"
            )

    def expect(self, wanted: ExportFormat | None) -> None:
        """Check the format against the one that was configured; None takes any.

        Raises:
            IncompleteExportError: It is another one.
        """
        if wanted is not None and wanted is not self.format:
            raise IncompleteExportError(
                f"its columns are those of a {self.format.value} export, not of"
                f" {wanted.value}: correct exports[].format"
            )

    def tag_columns(self, keys: TagKeys) -> Mapping[str, str]:
        """Return tag key -> column for job keys that have columns of their own."""
        found: dict[str, str] = {}
        for column in self.types:
            match = _TAG_HEADER.match(column)
            key = tag_key_of(column[match.end() :], keys.job) if match else ""
            if key:
                found.setdefault(key, column)
        return found


def tag_key_of(name: str, wanted: Sequence[str]) -> str:
    """Return the key that a column of tags stands for; "" when none of those wanted.

    Athena's spelling of a column loses case and marks, so those are compared last.

    >>> tag_key_of("user:JobId", ["JobId"]), tag_key_of("user_job_id", ["job-id"])
    ('user:JobId', 'job-id')
    """
    if is_wanted(name, wanted):
        return name
    own = name.removeprefix("user:").removeprefix("user_")
    for key in wanted:
        if own == name or own != own.lower():
            break
        snake = _WORD_START.sub("_", key).lower()
        if re.sub(r"[^a-z0-9]", "_", snake) == own:
            return key
    return ""


def is_wanted(key: str, wanted: Sequence[str]) -> bool:
    """Tell whether a tag key, as an export spells it, is one of those wanted."""
    return bool(choose({key: "x"}, wanted).key)
