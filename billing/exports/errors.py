"""What can be wrong with an export, in words; each of them changes nothing stored."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from billing.ports import IncompleteAnswerError, SourceUnavailableError

SOURCE = "exports"


class UnreadableExportError(SourceUnavailableError):
    """A file of an export could not be read to its end, or is not what it says."""

    code = "unreadable_export"

    def __init__(self, message: str) -> None:
        super().__init__(SOURCE, message)


class IncompleteExportError(IncompleteAnswerError):
    """A file, column or amount that must be there is missing."""

    def __init__(self, message: str) -> None:
        super().__init__(SOURCE, message)


class EmptyExportError(IncompleteExportError):
    """An export has no lines of an AWS bill; a month that just began may not."""

    def __init__(self) -> None:
        super().__init__("the export holds no lines of an AWS bill")


class ExportCurrencyError(SourceUnavailableError):
    """An export holds a currency that is not the ledger's; nothing is ever converted."""

    code = "mixed_currency"
    hint = "keep each billing currency in a database of its own"

    def __init__(self, found: Mapping[str, Decimal], known: str | None) -> None:
        sums = ", ".join(f"{amount:f} {name}" for name, amount in sorted(found.items()))
        wanted = f"the ledger holds {known}" if known else "a ledger holds one currency"
        super().__init__(SOURCE, f"the export holds {sums}; {wanted}")


class ImbalancedExportError(SourceUnavailableError):
    """What was rolled up does not sum to the rows; nothing of it is believed."""

    code = "imbalance"

    def __init__(self, what: str) -> None:
        super().__init__(SOURCE, f"the export does not sum to its own rows: {what}")
