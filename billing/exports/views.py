"""The SQL that gives every format one shape, a line of the bill per row.

Each column is an expression over the file's own columns, whatever their types. Pure text:
what the words mean afterwards is decided in `billing.core.categories`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from billing.exports.headers import ExportFormat, Table

AMOUNT = "DECIMAL(38,12)"
_NO_TEXT = "CAST(NULL AS VARCHAR)"
_NO_AMOUNT = f"CAST(NULL AS {AMOUNT})"

#: Columns by which lines are rolled up, tags apart.
KEYS = (
    *("account", "period", "day", "last", "region", "service", "usage_type"),
    *("record_type", "pricing", "hint", "unit"),
)


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Cells:
    """Expressions over a table's columns; an absent column is NULL."""

    table: Table

    def text(self, *names: str) -> str:
        """Return the first of the columns that holds a text."""
        found = []
        for column in self.table.columns(*names):
            is_text = self.table.types[column] == "VARCHAR"
            cell = quoted(column)
            found.append(cell if is_text else f"CAST({cell} AS VARCHAR)")
        return _first([f"NULLIF({one}, '')" for one in found], _NO_TEXT)

    def amount(self, *names: str, lenient: bool = False) -> str:
        """Return the first of the columns that holds a number, exact to 12 places."""
        cast = "TRY_CAST" if lenient else "CAST"
        found = []
        for column in self.table.columns(*names):
            is_text = self.table.types[column] == "VARCHAR"
            cell = f"NULLIF({quoted(column)}, '')" if is_text else quoted(column)
            found.append(f"{cast}({cell} AS {AMOUNT})")
        return _first(found, _NO_AMOUNT)

    def entry(self, column_name: str, key: str) -> str:
        """Return one text of a map, or of JSON in a text."""
        found = []
        for column in self.table.columns(column_name):
            if self.table.types[column].startswith("MAP("):
                value = f"{quoted(column)}[{literal(key)}]"
            else:
                path = literal(f'$."{key}"')
                value = f"JSON_EXTRACT_STRING(TO_JSON({quoted(column)}), {path})"
                if self.table.types[column] == "VARCHAR":
                    value = f"JSON_EXTRACT_STRING({quoted(column)}, {path})"
            found.append(f"NULLIF({value}, '')")
        return _first(found, _NO_TEXT)

    def instant(self, name: str) -> str:
        """Return an instant in UTC."""
        found = [
            f"CAST({quoted(one)} AS TIMESTAMP)" for one in self.table.columns(name)
        ]
        return _first(found, "CAST(NULL AS TIMESTAMP)")


def _first(expressions: list[str], absent: str) -> str:
    if not expressions:
        return absent
    if len(expressions) == 1:
        return expressions[0]
    return f"COALESCE({', '.join(expressions)})"


def line_sql(table: Table, tags: Mapping[str, str], relation: str) -> str:
    """Return the SELECT of all lines; ``tags`` is key -> SQL of its value.

    ``skip`` says why a row is not a line of this bill (NULL for those that are).
    """
    shape = _focus(table) if table.format is ExportFormat.FOCUS else _cur(table)
    for number, value in enumerate(tags.values()):
        shape[f"tag_{number}"] = value
    columns = ",\n  ".join(f"{value} AS {name}" for name, value in shape.items())
    within = (
        "SELECT * REPLACE (GREATEST(period, LEAST(day, LAST_DAY(period))) AS day,"
        " GREATEST(period, LEAST(last, LAST_DAY(period))) AS last)"
    )
    return f"{within}\nFROM (SELECT\n  {columns}\nFROM {relation})"


def _account(*texts: str) -> str:
    """Return account ids with the zeros that spreadsheets take away."""
    text = _first([*texts], _NO_TEXT)
    return f"CASE WHEN LENGTH({text}) < 12 THEN LPAD({text}, 12, '0') ELSE {text} END"


def _month(instant: str) -> str:
    return f"CAST(DATE_TRUNC('month', {instant}) AS DATE)"


def _last(end: str) -> str:
    """Return the day that holds the last moment before an (often exclusive) end."""
    return f"CAST({end} - INTERVAL 1 MICROSECOND AS DATE)"


def _focus(table: Table) -> dict[str, str]:
    cell = Cells(table)
    category, status = (
        cell.text("ChargeCategory"),
        cell.text("CommitmentDiscountStatus"),
    )
    billed, listed = cell.amount("BilledCost"), cell.amount("ListCost")
    start, end = cell.instant("ChargePeriodStart"), cell.instant("ChargePeriodEnd")
    period = _month(cell.instant("BillingPeriodStart"))
    is_bought = f"{category} = 'Purchase' AND {cell.text('CommitmentDiscountId')} <> ''"
    provider = cell.text("ProviderName", "ServiceProviderName")
    final = cell.text("InvoiceId")
    usage_type = cell.text("x_UsageType", "SkuMeter")
    record = f"""CASE
    WHEN {cell.text("ChargeClass")} = 'Correction' AND {billed} < 0
      AND {category} <> 'Credit' THEN 'Refund'
    WHEN {status} = 'Unused' THEN 'Unused commitment'
    WHEN {category} = 'Usage' AND {status} = 'Used' THEN 'Committed usage'
    WHEN {is_bought} THEN 'Commitment purchase'
    ELSE {category} END"""
    is_usage = f"{category} = 'Usage' AND {status} IS DISTINCT FROM 'Unused'"
    return {
        "skip": f"CASE WHEN NOT ({provider} ILIKE 'aws' OR {provider} ILIKE 'amazon%')"
        f" THEN 'of ' || {provider} END",
        "account": _account(cell.text("SubAccountId", "BillingAccountId")),
        "period": period,
        "day": f"CAST({start} AS DATE)",
        "last": f"CASE WHEN {status} = 'Unused' THEN {_last(end)}"
        f" ELSE CAST({start} AS DATE) END",
        "ends": f"CASE WHEN {category} = 'Usage' THEN {end} END",
        "region": cell.text("RegionId"),
        "service": cell.text("ServiceName"),
        "usage_type": usage_type,
        "record_type": record,
        "pricing": cell.text("PricingCategory"),
        "hint": f"CASE WHEN {usage_type} IS NULL THEN {cell.text('ServiceCategory')} END",
        "unit": f"CASE WHEN {is_usage} THEN {cell.text('ConsumedUnit')} END",
        "currency": cell.text("BillingCurrency"),
        "is_final": f"{final} IS NOT NULL",
        "billed": billed,
        "effective": cell.amount("EffectiveCost"),
        "listed": f"CASE WHEN {is_bought} OR {status} = 'Unused' THEN 0"
        f" ELSE {listed} END",
        "quantity": f"CASE WHEN {is_usage} THEN {cell.amount('ConsumedQuantity')} END",
    }


def _cur(table: Table) -> dict[str, str]:
    cell = Cells(table)
    kind = cell.text("lineItem/LineItemType")
    billed = cell.amount("lineItem/NetUnblendedCost", "lineItem/UnblendedCost")
    start = cell.instant("lineItem/UsageStartDate")
    day = f"COALESCE(CAST({start} AS DATE), {_period(cell)})"
    end = cell.instant("lineItem/UsageEndDate")
    is_usage = f"{kind} IN ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage')"
    is_split = cell.text("splitLineItem/ParentResourceId")
    listed = cell.amount("pricing/publicOnDemandCost", lenient=True)
    service = _first(
        [
            cell.text("product/ProductName"),
            cell.entry("product", "product_name"),
            cell.text("product/servicename", "lineItem/ProductCode"),
        ],
        _NO_TEXT,
    )
    return {
        # Rows of split cost allocation repeat their parents' cost as weights.
        "skip": f"CASE WHEN {is_split} <> '' AND COALESCE({billed}, 0) = 0"
        " THEN 'split cost allocation' END",
        "account": _account(
            cell.text("lineItem/UsageAccountId", "bill/PayerAccountId")
        ),
        "period": _period(cell),
        "day": day,
        "last": f"CASE WHEN {kind} = 'RIFee' THEN {_last(end)} ELSE {day} END",
        "ends": f"CASE WHEN {is_usage} THEN {end} END",
        "region": cell.text("product/regionCode", "product/region"),
        "service": service,
        "usage_type": cell.text("lineItem/UsageType"),
        "record_type": kind,
        "pricing": _NO_TEXT,
        "hint": _NO_TEXT,
        "unit": f"CASE WHEN {is_usage} THEN {cell.text('pricing/unit')} END",
        "currency": cell.text("lineItem/CurrencyCode"),
        "is_final": f"{cell.text('bill/InvoiceId')} IS NOT NULL",
        "billed": billed,
        "effective": _effective(cell, kind, billed),
        # A public price of nothing for something that costs is no price.
        "listed": f"CASE WHEN {is_usage} THEN CASE WHEN {billed} <> 0"
        f" THEN NULLIF({listed}, 0) ELSE {listed} END"
        f" WHEN {_commitment(cell, kind)} THEN 0 ELSE {billed} END",
        "quantity": f"CASE WHEN {is_usage} THEN"
        f" {cell.amount('lineItem/UsageAmount')} END",
    }


def _period(cell: Cells) -> str:
    return _month(cell.instant("bill/BillingPeriodStartDate"))


def _commitment(cell: Cells, kind: str) -> str:
    """Return the condition of rows that pay or take back commitments."""
    reserved = cell.text("reservation/ReservationARN")
    return (
        f"({kind} IN ('RIFee', 'SavingsPlanNegation', 'SavingsPlanRecurringFee',"
        f" 'SavingsPlanUpfrontFee') OR ({kind} = 'Fee' AND {reserved} <> ''))"
    )


def _effective(cell: Cells, kind: str, billed: str) -> str:
    """Return the amortised cost: each record type has a column of its own.

    Fees count by what of them was not used, since usage carries the rest; what pays a
    commitment up front, or takes a covered cost back, is nothing.
    """
    plan, reserved = "savingsPlan/", "reservation/"
    covered = cell.amount(
        f"{plan}NetSavingsPlanEffectiveCost", f"{plan}SavingsPlanEffectiveCost"
    )
    discounted = cell.amount(f"{reserved}NetEffectiveCost", f"{reserved}EffectiveCost")
    left = (
        f"({cell.amount(f'{plan}TotalCommitmentToDate')}"
        f" - {cell.amount(f'{plan}UsedCommitment')})"
    )
    net, gross = (
        cell.amount(f"lineItem/{name}")
        for name in ("NetUnblendedCost", "UnblendedCost")
    )
    # Commitments are told before discounts: what is left gets those of the fee.
    unused_plan = f"""CASE WHEN {net} IS NULL OR {net} = {gross} OR {gross} = 0 THEN {left}
      ELSE CAST(CAST({left} AS DOUBLE) * ({net} / {gross}) AS {AMOUNT}) END"""
    fee, recurring = (
        cell.amount(f"{reserved}Net{name}", f"{reserved}{name}")
        for name in ("UnusedAmortizedUpfrontFeeForBillingPeriod", "UnusedRecurringFee")
    )
    # An empty half is no half; both empty are unknown.
    unused = f"CASE WHEN {fee} IS NULL THEN {recurring}"
    unused += f" ELSE {fee} + COALESCE({recurring}, 0) END"
    return f"""CASE {kind}
    WHEN 'SavingsPlanCoveredUsage' THEN {covered}
    WHEN 'DiscountedUsage' THEN {discounted}
    WHEN 'SavingsPlanRecurringFee' THEN {unused_plan}
    WHEN 'RIFee' THEN {unused}
    ELSE CASE WHEN {_commitment(cell, kind)} THEN 0 ELSE {billed} END END"""
