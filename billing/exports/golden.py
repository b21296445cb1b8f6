"""Statements with rows of their own, to prove what an engine makes of the roll-up.

They read no table, so they may run on anybody's Athena. What is expected of them is what
DuckDB answers here, to the same text. Knows no engine but that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from billing.exports.cells import entry
from billing.exports.dialect import Dialect, literal, quoted, translated
from billing.exports.engine import EngineLimits, open_duckdb
from billing.exports.headers import Table
from billing.exports.rollup import control_sql, rollup_sql
from billing.exports.views import ROWS

Rows = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """One table of literal rows, and the statements that read it.

    Attributes:
        types: Column -> type, as Athena has them.
        tags: Job key -> the column that holds it.
    """

    name: str
    types: Mapping[str, str]
    rows: Sequence[Sequence[str | None]]
    tags: Mapping[str, str]

    def statements(self) -> Mapping[str, str]:
        """Return the roll-up and its control, each with its rows inside."""
        table = Table.of(self.types)
        values = ",\n".join(f"({self._values(row)})" for row in self.rows)
        names = ", ".join(quoted(name) for name in self.types)
        rows = f"(VALUES {values}) AS {ROWS} ({names})"
        tags = {
            key: entry(column, key, self.types[column])
            for key, column in self.tags.items()
        }
        return {
            f"{self.name}: rows to cells": rollup_sql(table, tags, ["i-held"], rows),
            f"{self.name}: control": control_sql(table, rows),
        }

    def _values(self, row: Sequence[str | None]) -> str:
        cells = zip(self.types.values(), row, strict=True)
        return ", ".join(_literal(kind, cell) for kind, cell in cells)


def _literal(kind: str, cell: str | None) -> str:
    if kind.startswith("MAP("):
        pairs = [pair.split("=", 1) for pair in (cell or "").split(";") if pair]
        keys, values = (
            ", ".join(literal(pair[part]) for pair in pairs) for part in (0, 1)
        )
        return f"MAP(ARRAY[{keys}], ARRAY[{values}])"
    return f"CAST({'NULL' if cell is None else literal(cell)} AS {kind})"


def expected(sql: str) -> Rows:
    """Return what DuckDB answers, as texts."""
    with open_duckdb(EngineLimits(memory="256MB", threads=1)) as connection:
        rows = connection.execute(translated(sql, Dialect.DUCKDB)).fetchall()
    return [[None if cell is None else str(cell) for cell in row] for row in rows]


def same(ours: Rows, theirs: Rows) -> bool:
    """Tell whether two answers say the same, whatever their order and spelling."""
    return _sorted(ours) == _sorted(theirs)


def _sorted(rows: Rows) -> list[tuple[str, ...]]:
    return sorted(tuple(_spelled(cell) for cell in row) for row in rows)


def _spelled(cell: str | None) -> str:
    """Return a number without needless places, an instant without its fraction."""
    if cell is None:
        return "NULL"
    text = cell.removesuffix(".000")
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return f"{number.normalize():f}" if number else "0"


def _times(first: str, last: str) -> tuple[str, str]:
    return f"{first} 00:00:00", f"{last} 00:00:00"


def _focus() -> Golden:
    month = "2026-09-01 00:00:00"
    types: dict[str, str] = {
        "BilledCost": "DOUBLE", "EffectiveCost": "DOUBLE", "ListCost": "DOUBLE",
        "BillingCurrency": "VARCHAR", "BillingPeriodStart": "TIMESTAMP",
        "ChargeCategory": "VARCHAR", "ChargeClass": "VARCHAR",
        "ChargePeriodStart": "TIMESTAMP", "ChargePeriodEnd": "TIMESTAMP",
        "CommitmentDiscountId": "VARCHAR", "CommitmentDiscountStatus": "VARCHAR",
        "ConsumedQuantity": "DOUBLE", "ConsumedUnit": "VARCHAR",
        "PricingCategory": "VARCHAR", "ProviderName": "VARCHAR", "RegionId": "VARCHAR",
        "ServiceCategory": "VARCHAR", "ServiceName": "VARCHAR", "SubAccountId": "VARCHAR",
        "ResourceId": "VARCHAR", "Tags": "MAP(VARCHAR, VARCHAR)", "InvoiceId": "VARCHAR",
        "x_UsageType": "VARCHAR",
    }  # fmt: skip
    base: dict[str, Any] = dict.fromkeys(types) | {
        "BilledCost": "0.1", "EffectiveCost": "0.1", "ListCost": "0.3",
        "BillingCurrency": "USD", "BillingPeriodStart": month, "ChargeCategory": "Usage",
        "ChargePeriodStart": month, "ChargePeriodEnd": "2026-09-01 01:00:00",
        "ConsumedQuantity": "1", "ConsumedUnit": "Hrs", "PricingCategory": "Standard",
        "ProviderName": "AWS", "RegionId": "us-east-2", "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud", "SubAccountId": "12345",
        "ResourceId": "i-1", "Tags": "job-id=job-1;team=cv",
        "x_UsageType": "BoxUsage:p5.48xlarge",
    }  # fmt: skip
    start, end = _times("2026-09-01", "2026-10-05")
    over: list[dict[str, str | None]] = [
        {},
        {"BilledCost": "0.2", "ListCost": None},
        {"Tags": "team=cv", "ResourceId": "i-2"},
        {"ResourceId": "i-held"},
        {
            "ChargeCategory": "Purchase",
            "CommitmentDiscountId": "sp",
            "BilledCost": "720",
        },
        {"CommitmentDiscountStatus": "Unused", "ChargePeriodEnd": end},
        {"ChargeClass": "Correction", "BilledCost": "-3.5", "EffectiveCost": "-3.5"},
        {"ProviderName": "Other Cloud"},
        {"ChargePeriodStart": "2026-08-31 00:00:00", "ChargePeriodEnd": start},
        {"InvoiceId": "7", "x_UsageType": "", "ServiceName": None},
    ]
    rows = [[*(base | one).values()] for one in over]
    return Golden(name="FOCUS", types=types, rows=rows, tags={"job-id": "Tags"})


_CUR_TYPES = {
    "bill_billing_period_start_date": "TIMESTAMP", "bill_invoice_id": "VARCHAR",
    "line_item_usage_account_id": "VARCHAR", "line_item_line_item_type": "VARCHAR",
    "line_item_usage_start_date": "TIMESTAMP",
    "line_item_usage_end_date": "TIMESTAMP", "line_item_usage_type": "VARCHAR",
    "line_item_usage_amount": "DOUBLE", "line_item_currency_code": "VARCHAR",
    "line_item_resource_id": "VARCHAR", "line_item_unblended_cost": "DOUBLE",
    "line_item_net_unblended_cost": "DOUBLE",
    "pricing_public_on_demand_cost": "VARCHAR", "pricing_unit": "VARCHAR",
    "reservation_unused_recurring_fee": "DOUBLE",
    "reservation_reservation_a_r_n": "VARCHAR",
    "savings_plan_savings_plan_effective_cost": "DOUBLE",
    "savings_plan_total_commitment_to_date": "DOUBLE",
    "savings_plan_used_commitment": "DOUBLE",
    "split_line_item_parent_resource_id": "VARCHAR",
    "resource_tags": "MAP(VARCHAR, VARCHAR)", "product": "MAP(VARCHAR, VARCHAR)",
}  # fmt: skip


def _cur() -> Golden:
    types = _CUR_TYPES
    month = "2026-09-01 00:00:00"
    base: dict[str, Any] = dict.fromkeys(types) | {
        "bill_billing_period_start_date": month,
        "line_item_usage_account_id": "012345678901",
        "line_item_line_item_type": "Usage", "line_item_usage_start_date": month,
        "line_item_usage_end_date": "2026-09-01 01:00:00",
        "line_item_usage_type": "BoxUsage:p5.48xlarge", "line_item_usage_amount": "1",
        "line_item_currency_code": "USD", "line_item_unblended_cost": "2.25",
        "pricing_public_on_demand_cost": "2.5", "pricing_unit": "Hrs",
        "resource_tags": "user_job-id=job-1", "product": "product_name=Amazon EC2",
    }  # fmt: skip
    kind, net = "line_item_line_item_type", "line_item_net_unblended_cost"
    over: list[dict[str, str | None]] = [
        {},
        {net: "1.8", "pricing_public_on_demand_cost": "n/a"},
        {kind: "SavingsPlanCoveredUsage", "savings_plan_savings_plan_effective_cost": "0.4"},
        {
            kind: "SavingsPlanRecurringFee", net: "1.8",
            "savings_plan_total_commitment_to_date": "2.25",
            "savings_plan_used_commitment": "2.1",
        },
        {kind: "SavingsPlanNegation", "line_item_unblended_cost": "-1"},
        {
            kind: "RIFee", "line_item_usage_end_date": "2026-10-01 00:00:00",
            "reservation_unused_recurring_fee": "4", "product": None,
        },
        {kind: "Tax", "line_item_usage_start_date": None, "bill_invoice_id": "7"},
        {"split_line_item_parent_resource_id": "i-1", "line_item_unblended_cost": "0"},
        {"resource_tags": None, "line_item_resource_id": "vol-1"},
    ]  # fmt: skip
    return Golden(
        name="CUR 2.0",
        types=types,
        rows=[[*(base | one).values()] for one in over],
        tags={"user_job-id": "resource_tags"},
    )


GOLDEN = (_focus(), _cur())
