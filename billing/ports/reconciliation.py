"""The bill in the grain that reconciliation needs, as a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from billing.core.reconciliation import BilledLine


class BilledLines(Protocol):
    """Lines of the bill, within one unit of work."""

    def billed_lines(self, since: date, until: date) -> Sequence[BilledLine]:
        """Return the bill of ``[since, until)`` before credits, as it was attributed."""
