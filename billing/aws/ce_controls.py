"""The bill's own totals by account and day, from two questions that must agree.

Must not know the detail that is compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from billing.aws.calls import whole
from billing.aws.ce_answers import (
    Amounts,
    CurrencySeen,
    DaySums,
    amount,
    groups_of,
    money,
    periods_of,
    texts,
)
from billing.aws.ce_calls import COST_AND_USAGE, SOURCE, cost_pages, require_days
from billing.aws.ce_queries import MetricNames, control
from billing.aws.session import AwsClients
from billing.core.charges import DayControl
from billing.core.money import MixedCurrencyError
from billing.core.periods import days_between
from billing.ports import IncompleteAnswerError
from billing.ports.currency import ForeignCurrencyError

#: Two answers that differ by less are equal: half a cent, in nano-units.
TOLERANCE_NANOS = 5_000_000
_NOTHING = "0"


class LacksNetError(Exception):
    """The answer has no net amounts, but has the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    billed: int
    effective: int
    text: str


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What the two questions said."""

    metrics: MetricNames
    currency: CurrencySeen
    totals: DaySums = field(default_factory=DaySums)
    by_account: DaySums = field(default_factory=DaySums)
    days: set[date] = field(default_factory=set)
    estimated: dict[date, bool] = field(default_factory=dict)
    cells: dict[str, dict[date, _Cell]] = field(default_factory=dict)

    def total(self, answer: Mapping[str, Any]) -> None:
        """Take one page of the ungrouped question."""
        for day, result in periods_of(answer):
            metrics = result["Total"]
            if self.metrics.billed not in metrics and "UnblendedCost" in metrics:
                raise LacksNetError
            cell = self._cell(metrics)
            self.days.add(day)
            self.totals.add(day, cell.billed, cell.effective)

    def accounts(self, answer: Mapping[str, Any]) -> None:
        """Take one page of the question grouped by account."""
        for day, result in periods_of(answer):
            self.estimated[day] = bool(result["Estimated"])
            for (account,), metrics in groups_of(result, 1):
                cell = self._cell_of(account, metrics)
                self.cells.setdefault(account, {})[day] = cell
                self.by_account.add(day, cell.billed, cell.effective)

    def _cell_of(self, account: str, metrics: Amounts) -> _Cell:
        try:
            return self._cell(metrics)
        except MixedCurrencyError as error:
            raise ForeignCurrencyError(
                SOURCE, [account], found=error.right, known=error.left
            ) from error

    def _cell(self, metrics: Amounts) -> _Cell:
        return _Cell(
            billed=amount(metrics, self.metrics.billed, self.currency),
            effective=amount(metrics, self.metrics.effective, self.currency),
            text=texts(metrics, self.metrics.control),
        )

    def controls(
        self, accounts: Sequence[str], days: Sequence[date], read_at: datetime
    ) -> Iterator[DayControl]:
        """Yield every day of every account; a day without a group is a known zero."""
        for account in sorted({*accounts, *self.cells}):
            cells = self.cells.get(account, {})
            for day in days:
                cell = cells.get(day) or _Cell(billed=0, effective=0, text=_NOTHING)
                estimated = self.estimated[day]
                yield DayControl(
                    account=account,
                    day=day,
                    billed=money(cell.billed, self.currency),
                    effective=money(cell.effective, self.currency),
                    fingerprint=f"{self.metrics.label}|{cell.text}|{estimated:d}",
                    is_estimated=estimated,
                    read_at=read_at,
                )


def read_controls(
    clients: AwsClients,
    since: date,
    until: date,
    *,
    accounts: Sequence[str] | None,
    metrics: MetricNames,
    currency: CurrencySeen,
    read_at: datetime,
) -> list[DayControl]:
    """Ask both questions about ``[since, until)`` and check that they agree.

    Raises:
        LacksNetError: Cost Explorer holds no net amounts for this caller.
        IncompleteAnswerError: A day or member is missing, or the answers disagree.
    """
    reading = _Reading(metrics=metrics, currency=currency)
    for by_account, take in ((False, reading.total), (True, reading.accounts)):
        asked = control(
            since, until, metrics=metrics, accounts=accounts, by_account=by_account
        )
        for answer in cost_pages(clients, asked):
            with whole(COST_AND_USAGE):
                take(answer)
    require_days(reading.days, since, until, account="")
    require_days(set(reading.estimated), since, until, account="")
    day = reading.totals.differs_on(reading.by_account, TOLERANCE_NANOS)
    if day is not None:
        message = f"the total of {day} is not the sum of its accounts: not used"
        raise IncompleteAnswerError(SOURCE, message)
    days = list(days_between(since, until))
    return list(reading.controls(accounts or (), days, read_at))
