"""The SQL that gives every format one shape: sums by what the ledger tells apart.

Rows are summed by the file's own columns, then the sums get the ledger's words; what the
words mean afterwards is decided in `billing.core.categories`. Pure text, in Athena's
dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from billing.exports.cells import AMOUNT, NO_TEXT, Cells, Grouped, first
from billing.exports.headers import ExportFormat, Table

#: The table that statements read: an engine gives its rows this name.
ROWS = "source_rows"

_NOTHING = f"CAST(0 AS {AMOUNT})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How the rows of one table become sums.

    Attributes:
        keys: Name -> expression over a row, which rows are grouped by.
        sums: Name -> aggregate over the rows of a group.
        words: The ledger's column -> expression over names of both.
        amounts: Billed and effective cost of a row, for the control.
    """

    keys: Mapping[str, str]
    sums: Mapping[str, str]
    words: Mapping[str, str]
    amounts: tuple[str, str]


def shape_of(table: Table, tags: Mapping[str, str], *, resource: str) -> Shape:
    """Return the shape of a table; ``tags`` is job key -> SQL of its value."""
    row = Cells(table)
    key = Grouped(row)
    build = _focus if table.format is ExportFormat.FOCUS else _cur
    named = {
        f"tag_{number}": f"NULLIF({key.of(value)}, '')"
        for number, value in enumerate(tags.values())
    }
    words, sums = build(row, key)
    words |= {"resource": key.of(resource) if resource else NO_TEXT} | named
    return Shape(
        keys=key.keys,
        sums=_counted(sums),
        words=words,
        amounts=(sums["billed"], sums["effective"]),
    )


def _counted(sums: Mapping[str, str]) -> dict[str, str]:
    """Return the aggregates: how many rows, and of each amount its sum and count."""
    found = {"lines": "COUNT(*)"}
    for name, value in sums.items():
        if name == "ends":
            found[name] = f"MAX({value})"
            continue
        if name != "final":
            found[name] = f"SUM({value})"
        found[f"{name}_n"] = f"COUNT({value})"
    return found


def _account(text: str) -> str:
    """Return account ids with the zeros that spreadsheets take away."""
    return f"CASE WHEN LENGTH({text}) < 12 THEN LPAD({text}, 12, '0') ELSE {text} END"


def _last(end: str) -> str:
    """Return the day that holds the last second before an (often exclusive) end."""
    return f"CAST({end} - INTERVAL '1' SECOND AS DATE)"


def _focus(row: Cells, key: Grouped) -> tuple[dict[str, str], dict[str, str]]:
    category, status = (
        key.text("ChargeCategory"),
        key.text("CommitmentDiscountStatus"),
    )
    is_commitment = key.of(_present(row.text("CommitmentDiscountId")))
    start, end = key.day("ChargePeriodStart"), row.instant("ChargePeriodEnd")
    is_bought = f"({category} = 'Purchase' AND {is_commitment} = 'yes')"
    is_unused = f"COALESCE({status} = 'Unused', FALSE)"
    is_usage = f"({category} = 'Usage' AND NOT {is_unused})"
    unused = f"{row.text('CommitmentDiscountStatus')} = 'Unused'"
    last = key.of(f"CASE WHEN {unused} THEN {_last(end)} END")
    provider = key.text("ProviderName", "ServiceProviderName")
    usage_type = key.text("x_UsageType", "SkuMeter")
    has_no_list = f"{is_bought} OR {is_unused}"
    words = {
        "skip": f"CASE WHEN NOT (LOWER({provider}) = 'aws'"
        f" OR LOWER({provider}) LIKE 'amazon%') THEN 'of ' || {provider} END",
        "account": _account(key.text("SubAccountId", "BillingAccountId")),
        "period": key.month("BillingPeriodStart"),
        "day": start,
        "last": f"COALESCE({last}, {start})",
        "ends": f"CASE WHEN {category} = 'Usage' THEN ends END",
        "region": key.text("RegionId"),
        "service": key.text("ServiceName"),
        "usage_type": usage_type,
        "record_type": f"""CASE
    WHEN {key.text("ChargeClass")} = 'Correction' AND {category} <> 'Credit'
      AND {_is_negative(row, key)} THEN 'Refund'
    WHEN {is_unused} THEN 'Unused commitment'
    WHEN {category} = 'Usage' AND {status} = 'Used' THEN 'Committed usage'
    WHEN {is_bought} THEN 'Commitment purchase'
    ELSE {category} END""",
        "pricing": key.text("PricingCategory"),
        "hint": f"CASE WHEN {usage_type} IS NULL THEN {key.text('ServiceCategory')} END",
        "unit": f"CASE WHEN {is_usage} THEN {key.text('ConsumedUnit')} END",
        "currency": key.text("BillingCurrency"),
        "listed": f"CASE WHEN {has_no_list} THEN {_NOTHING} ELSE listed END",
        "listed_n": f"CASE WHEN {has_no_list} THEN lines ELSE listed_n END",
        "quantity": f"CASE WHEN {is_usage} THEN quantity END",
        "quantity_n": f"CASE WHEN {is_usage} THEN quantity_n ELSE 0 END",
    }
    return words, {
        "billed": row.amount("BilledCost"),
        "effective": row.amount("EffectiveCost"),
        "listed": row.amount("ListCost"),
        "quantity": row.amount("ConsumedQuantity"),
        "final": row.text("InvoiceId"),
        "ends": end,
    }


def _present(value: str) -> str:
    """Return 'yes' for a row that has the value: there are fewer of those than values."""
    return (
        NO_TEXT if value == NO_TEXT else f"CASE WHEN {value} IS NOT NULL THEN 'yes' END"
    )


def _is_negative(row: Cells, key: Grouped) -> str:
    """Return whether a correction gives back: told for those rows alone."""
    if not row.table.columns("ChargeClass"):
        return "FALSE"
    name = key.of(
        f"CASE WHEN {row.text('ChargeClass')} = 'Correction'"
        f" AND {row.amount('BilledCost')} < 0 THEN 'yes' END"
    )
    return f"{name} = 'yes'"


def _cur(row: Cells, key: Grouped) -> tuple[dict[str, str], dict[str, str]]:
    kind = key.text("lineItem/LineItemType")
    billed = row.amount("lineItem/NetUnblendedCost", "lineItem/UnblendedCost")
    period = key.month("bill/BillingPeriodStartDate")
    day = f"COALESCE({key.day('lineItem/UsageStartDate')}, {period})"
    end = row.instant("lineItem/UsageEndDate")
    service = first(
        [
            key.text("product/ProductName"),
            key.entry("product", "product_name"),
            key.text("product/servicename", "lineItem/ProductCode"),
        ],
        NO_TEXT,
    )
    row_kind = row.text("lineItem/LineItemType")
    last = key.of(f"CASE WHEN {row_kind} = 'RIFee' THEN {_last(end)} END")
    words = {
        "skip": _split(row, key, billed),
        "account": _account(key.text("lineItem/UsageAccountId", "bill/PayerAccountId")),
        "period": period,
        "day": day,
        "last": f"COALESCE({last}, {day})",
        "ends": f"CASE WHEN {_is_usage(kind)} THEN ends END",
        "region": key.text("product/regionCode", "product/region"),
        "service": service,
        "usage_type": key.text("lineItem/UsageType"),
        "record_type": kind,
        "pricing": NO_TEXT,
        "hint": NO_TEXT,
        "unit": f"CASE WHEN {_is_usage(kind)} THEN {key.text('pricing/unit')} END",
        "currency": key.text("lineItem/CurrencyCode"),
        "listed": "listed",
        "listed_n": "listed_n",
        "quantity": f"CASE WHEN {_is_usage(kind)} THEN quantity END",
        "quantity_n": f"CASE WHEN {_is_usage(kind)} THEN quantity_n ELSE 0 END",
    }
    return words, {
        "billed": billed,
        "effective": _effective(row, row_kind, billed),
        "listed": _listed(row, row_kind, billed),
        "quantity": row.amount("lineItem/UsageAmount"),
        "final": row.text("bill/InvoiceId"),
        "ends": end,
    }


def _split(row: Cells, key: Grouped, billed: str) -> str:
    """Return why rows of split cost allocation are no lines: they repeat their parents'."""
    parent = row.text("splitLineItem/ParentResourceId")
    if parent == NO_TEXT:
        return NO_TEXT
    return key.of(
        f"CASE WHEN {parent} IS NOT NULL AND COALESCE({billed}, 0) = 0"
        " THEN 'split cost allocation' END"
    )


def _is_usage(kind: str) -> str:
    return f"{kind} IN ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage')"


def _listed(row: Cells, kind: str, billed: str) -> str:
    """Return the list cost; a public price of nothing for what costs is no price."""
    listed = row.amount("pricing/publicOnDemandCost", lenient=True)
    return (
        f"CASE WHEN {_is_usage(kind)} THEN CASE WHEN {billed} <> 0"
        f" THEN NULLIF({listed}, 0) ELSE {listed} END"
        f" WHEN {_commitment(row, kind)} THEN 0 ELSE {billed} END"
    )


def _commitment(row: Cells, kind: str) -> str:
    """Return the condition of rows that pay or take back commitments."""
    reserved = row.text("reservation/ReservationARN")
    return (
        f"({kind} IN ('RIFee', 'SavingsPlanNegation', 'SavingsPlanRecurringFee',"
        f" 'SavingsPlanUpfrontFee') OR ({kind} = 'Fee' AND {reserved} <> ''))"
    )


def _effective(row: Cells, kind: str, billed: str) -> str:
    """Return the amortised cost: each record type has a column of its own.

    Fees count by what of them was not used, since usage carries the rest; what pays a
    commitment up front, or takes a covered cost back, is nothing.
    """
    plan, reserved = "savingsPlan/", "reservation/"
    covered = row.amount(
        f"{plan}NetSavingsPlanEffectiveCost", f"{plan}SavingsPlanEffectiveCost"
    )
    discounted = row.amount(f"{reserved}NetEffectiveCost", f"{reserved}EffectiveCost")
    left = (
        f"({row.amount(f'{plan}TotalCommitmentToDate')}"
        f" - {row.amount(f'{plan}UsedCommitment')})"
    )
    net, gross = (
        row.amount(f"lineItem/{name}") for name in ("NetUnblendedCost", "UnblendedCost")
    )
    # Commitments are told before discounts: what is left gets those of the fee.
    share = f"CAST({net} AS DOUBLE) / CAST({gross} AS DOUBLE)"
    unused_plan = f"""CASE WHEN {net} IS NULL OR {net} = {gross} OR {gross} = 0
      THEN CAST({left} AS {AMOUNT})
      ELSE CAST(CAST({left} AS DOUBLE) * ({share}) AS {AMOUNT}) END"""
    fee, recurring = (
        row.amount(f"{reserved}Net{name}", f"{reserved}{name}")
        for name in ("UnusedAmortizedUpfrontFeeForBillingPeriod", "UnusedRecurringFee")
    )
    # An empty half is no half; both empty are unknown.
    unused = f"CASE WHEN {fee} IS NULL THEN {recurring}"
    unused += f" ELSE CAST({fee} + COALESCE({recurring}, 0) AS {AMOUNT}) END"
    return f"""CASE {kind}
    WHEN 'SavingsPlanCoveredUsage' THEN {covered}
    WHEN 'DiscountedUsage' THEN {discounted}
    WHEN 'SavingsPlanRecurringFee' THEN {unused_plan}
    WHEN 'RIFee' THEN {unused}
    ELSE CASE WHEN {_commitment(row, kind)} THEN 0 ELSE {billed} END END"""
