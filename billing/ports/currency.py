"""A bill in a currency that the ledger does not hold."""

from __future__ import annotations

from collections.abc import Iterable

from billing.ports.sources import SourceUnavailableError


class ForeignCurrencyError(SourceUnavailableError):
    """A bill is in another currency than the ledger; nothing is ever converted."""

    code = "mixed_currency"
    hint = "keep each billing currency in a database of its own"

    def __init__(
        self, source: str, accounts: Iterable[str], *, found: str, known: str
    ) -> None:
        named = sorted(accounts)
        whose = f"account {', '.join(named)}" if named else "these credentials"
        super().__init__(
            source,
            f"the bill of {whose} is in {found}, and the ledger holds {known}: "
            "nothing of it is used",
            account=named[0] if len(named) == 1 else "",
        )
