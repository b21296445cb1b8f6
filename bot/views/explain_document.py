"""An explanation as the JSON document of `gpucost explain`; pure."""

from __future__ import annotations

from functools import singledispatch

from billing.core.money import total
from bot.views.documents import Document, instant, money
from bot.views.explain_values import (
    ChargeLine,
    Explanation,
    Line,
    RunningNow,
    RunningTime,
    TransferLine,
)
from bot.views.explain_words import Page
from bot.views.reconciliation import score_document


def explanation_document(explained: Explanation, page: Page) -> Document:
    """Return the document of `gpucost explain`; ``items`` are those of the page."""
    shown = page.of(explained.lines)
    currency = explained.currency
    return {
        "figure": explained.figure,
        "currency": currency,
        "metric": explained.metric.value,
        "per": "hour" if explained.per_hour else None,
        "since": instant(explained.since),
        "until": instant(explained.until),
        "as_of": instant(explained.as_of),
        "total": money(explained.total),
        "billed": money(explained.billed),
        "provisional": money(explained.provisional),
        "sum_of_items": money(
            total((line.amount for line in explained.lines), currency)
        ),
        "difference": money(explained.difference),
        "items_total": len(explained.lines),
        "offset": page.offset,
        "items": [line_document(line) for line in shown],
        "unknown": [*explained.unknown],
        "billed_through": {
            account: instant(through)
            for account, through in sorted(explained.billed_through.items())
        },
        "freshness": [
            {
                "source": one.source.value,
                "account": one.account,
                "as_of": instant(one.as_of),
                "reason": one.reason,
            }
            for one in explained.sources
        ],
        "stale": [one.source.value for one in explained.stale],
        "notes": [*explained.notes],
        "provisional_error_last_30_days": (
            None if explained.accuracy is None else score_document(explained.accuracy)
        ),
    }


@singledispatch
def line_document(line: Line) -> Document:
    """Return one line; ``kind`` tells what fields there are."""
    raise NotImplementedError(line)


@line_document.register
def _(line: ChargeLine) -> Document:
    return {
        "kind": "charge",
        "amount": money(line.amount),
        "key": line.key,
        "usage_type": line.usage_type or None,
        "record_type": line.record_type,
        "account": line.account,
        "region": line.region or None,
        "service": line.service or None,
        "category": line.category,
        "purchase": line.purchase,
        "source": line.source,
        "since": line.since.isoformat(),
        "until": line.until.isoformat(),
        "days": line.days,
        "charges": line.charges,
        "quantity": None if line.quantity is None else f"{line.quantity:f}",
        "unit": line.unit or None,
        "per_unit": None if line.unit_price is None else f"{line.unit_price:f}",
        "billed": money(line.billed),
        "effective": money(line.effective),
        "list": money(line.list_cost),
        "provisional": line.is_open,
    }


@line_document.register
def _(line: TransferLine) -> Document:
    return {
        "kind": "transfer",
        "amount": money(line.amount),
        "from_or_to": line.other,
        "rule": line.rule,
        "basis": line.basis,
        "evidence": line.evidence or None,
        "usage_type": line.usage_type or None,
        "account": line.account,
        "region": line.region or None,
        "category": line.category,
        "since": line.since.isoformat(),
        "until": line.until.isoformat(),
        "days": line.days,
        "provisional": line.is_open,
    }


@line_document.register
def _(line: RunningTime) -> Document:
    return {
        "kind": "running-time",
        "amount": money(line.amount),
        "formula": line.formula,
        "what": line.what,
        "count": line.count,
        "hours": round(line.running.total_seconds() / 3600, 6),
        "account": line.account,
        "region": line.region,
        "category": line.category,
        "purchase": line.purchase,
        "per_hour": money(line.rate),
        "list_per_hour": money(line.list_rate),
        "share_of_price": None if line.share is None else round(float(line.share), 6),
        "price_source": line.price_source or None,
        "price_as_of": instant(line.price_as_of),
        "prices": line.prices,
        "since": line.since.isoformat(),
        "until": line.until.isoformat(),
        "days": line.days,
        "job": line.job or None,
        "resources": [*line.resources],
        "basis": line.basis or None,
        "provisional": True,
    }


@line_document.register
def _(line: RunningNow) -> Document:
    return {
        "kind": "running-now",
        "amount": money(line.amount),
        "formula": line.formula,
        "what": line.what,
        "count": line.count,
        "region": line.region,
        "purchase": line.purchase,
        "per_hour": money(line.rate),
        "price_source": line.price_source or None,
        "price_as_of": instant(line.price_as_of),
        "provisional": True,
    }
