"""Explain a figure: the lines it is made of, which sum to it exactly.

The figure is read as every answer reads it, from the daily rollups; the lines are read
apart, from the charges, the transfers and the running time. Whatever would be left
between the two is part of the explanation, never hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from billing.core.accrual import AccruedCell, Unpriced
from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.money import USD, Money, total
from billing.core.priced import category_of_product, pricing_of, service_of
from billing.ports import BillLedger, Freshness
from bot.use_cases.cost import UnknownJobError, ask_cost
from bot.use_cases.explain_figure import Figure, Part, Subject, read_figure
from bot.use_cases.explain_lines import charge_lines, fee_lines, transfer_lines
from bot.use_cases.explain_running import running_now, running_time
from bot.use_cases.groups import Part as Piece
from bot.use_cases.parts import (
    CostQuestion,
    Gathered,
    gather,
    parts_by,
)
from bot.use_cases.pricing import PriceBook
from bot.views.explain_values import Explanation, Line

#: Dimension of the rollup that tells a subject from the rest.
_DIMENSIONS = {
    Subject.REGION: "region",
    Subject.SERVICE: "service",
    Subject.PURCHASE: "purchase",
}
#: Running time that no job holds is untagged.
UNTAGGED = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"
NOT_ROUNDED = "amounts are exact to a billionth; prices per unit are cost / quantity"
ALLOCATED = (
    "allocated: the bill names no resource here, so the amount was spread by time held"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explainer:
    """Explains figures out of one snapshot of the ledger."""

    ledger: BillLedger
    prices: PriceBook
    keys: TagKeys
    stale: Sequence[Freshness]
    now: datetime

    def named(self, text: str) -> Figure:
        """Read a figure as somebody named it.

        Raises:
            BadFigureError: It names none.
        """

        def is_job(name: str) -> bool:
            return self.ledger.job_record(name.strip().lower()) is not None

        return read_figure(text, is_job=is_job)

    def explain(self, figure: Figure) -> Explanation:
        """List what a figure is made of.

        Raises:
            UnknownJobError: With the nearest names.
            NeedsExportError: The bill at hand cannot tell this dimension or metric.
        """
        record = self.ledger.job_record(figure.name)
        if figure.subject is Subject.JOB and record is None:
            raise UnknownJobError(figure.name, self.ledger.job_names())
        if figure.part in {Part.BURN, Part.NEXT_24H}:
            return self._running(figure)
        return self._cost(figure)

    def _cost(self, figure: Figure) -> Explanation:
        question = _question(figure)
        read = self._read(figure, question)
        wanted = [one for one in _pieces(read, figure) if _fits(one, figure.part)]
        currency = read.ledger.currency() or USD
        closed = total((one.amount for one in wanted if not one.is_open), currency)
        open_ = total((one.amount for one in wanted if one.is_open), currency)
        lines = self._lines(read, figure)
        known = total((line.amount for line in lines), currency)
        return Explanation(
            figure=figure.text,
            title=title_of(figure),
            currency=currency,
            metric=figure.metric,
            since=read.period.start,
            until=read.period.end,
            as_of=self.now,
            total=closed + open_,
            billed=closed,
            provisional=open_,
            lines=lines,
            difference=closed + open_ - known,
            billed_through=read.through,
            sources=tuple(read.freshness),
            stale=tuple(self.stale),
            unknown=tuple(one.text for one in read.accrued.unknown),
            notes=(*_notes(lines), *_untold(read.basis, lines)),
        )

    def _read(self, figure: Figure, question: CostQuestion) -> Gathered:
        """Gather what a figure needs; what is accrued is only what it holds."""
        read = gather(
            self.ledger, question, prices=self.prices, keys=self.keys, now=self.now
        )
        if figure.part in {Part.BILLED, Part.CREDITS}:
            return replace(read, accrued=replace(read.accrued, cells=(), unknown=()))
        cells = tuple(one for one in read.accrued.cells if _accrues(one, figure))
        unknown = tuple(one for one in read.accrued.unknown if _lacks(one, figure))
        accrued = replace(read.accrued, cells=cells, unknown=unknown)
        return replace(read, accrued=accrued)

    def _lines(self, read: Gathered, figure: Figure) -> tuple[Line, ...]:
        lines: list[Line] = [
            *charge_lines(read, figure),
            *transfer_lines(read, figure),
            *fee_lines(read, figure),
        ]
        lines = [line for line in lines if _has(line, figure.part)]
        lines += running_time(read, figure, keys=self.keys)
        return tuple(sorted(lines, key=_largest_first))

    def _running(self, figure: Figure) -> Explanation:
        """Explain what runs now and what it costs per hour, or in the next day."""
        answer = ask_cost(
            self.ledger,
            CostQuestion(job=figure.name, since=figure.since, until=figure.until),
            prices=self.prices,
            keys=self.keys,
            stale=self.stale,
            now=self.now,
        )
        is_burn = figure.part is Part.BURN
        nothing = Money.zero(answer.currency)
        lines = running_now(answer.running, self.prices, is_burn=is_burn)
        known = total((line.amount for line in lines), answer.currency)
        whole = answer.forecast_24h
        if is_burn:
            burn = answer.burn
            whole = None if burn is None else Money(burn.nanos, burn.currency)
        return Explanation(
            figure=figure.text,
            title=title_of(figure),
            currency=answer.currency,
            metric=answer.metric,
            since=self.now,
            until=self.now,
            as_of=self.now,
            total=whole,
            billed=nothing,
            provisional=whole or nothing,
            lines=tuple(sorted(lines, key=_largest_first)),
            difference=nothing if whole is None else whole - known,
            billed_through=answer.billed_through,
            sources=answer.freshness,
            stale=tuple(self.stale),
            unknown=tuple(
                f"{line.count} x {line.instance_type} {line.lifecycle} in {line.region}"
                " (no price known)"
                for line in answer.running
                if line.rate is None
            ),
            per_hour=is_burn,
        )


def title_of(figure: Figure) -> str:
    """Return a figure in words, without its days."""
    subject = {
        Subject.ALL: "all cost",
        Subject.JOB: figure.name,
    }.get(figure.subject, f"{figure.subject} {figure.name}")
    category = f", {figure.category.value}" if figure.category else ""
    part = {Part.NEXT_24H: "next 24 hours", Part.BURN: "burn rate"}.get(
        figure.part, figure.part.value
    )
    return f"{subject}{category}{f', {part}' if part else ''}"


def _accrues(cell: AccruedCell, figure: Figure) -> bool:
    """Tell whether running time may count for a figure's subject."""
    key = cell.key
    held = {
        Subject.BUCKET: (key.job or UNTAGGED) == f"{BUCKET_PREFIX}{figure.name}",
        Subject.REGION: key.region == figure.name,
        Subject.SERVICE: figure.name == service_of(key.kind),
        Subject.PURCHASE: pricing_of(key.lifecycle) == figure.name,
    }
    return held.get(figure.subject, True)


def _lacks(one: Unpriced, figure: Figure) -> bool:
    """Tell whether running time without a price would count for a figure."""
    category = category_of_product(one.product)
    held = {
        Subject.BUCKET: (one.job or UNTAGGED) == f"{BUCKET_PREFIX}{figure.name}",
        Subject.REGION: one.region == figure.name,
    }
    return held.get(figure.subject, True) and figure.category in {None, category}


def _question(figure: Figure) -> CostQuestion:
    subjects = {
        Subject.JOB: "job",
        Subject.TEAM: "team",
        Subject.ACCOUNT: "account",
    }
    field = subjects.get(figure.subject)
    return CostQuestion(
        since=figure.since,
        until=figure.until,
        metric=figure.metric,
        **({field: figure.name} if field else {}),  # type: ignore[arg-type] # one of the names above
    )


def _pieces(read: Gathered, figure: Figure) -> list[Piece]:
    """Return the pieces of the figure, as every other answer counts them."""
    question = _question(figure)
    if figure.subject is Subject.BUCKET:
        # The bill keeps buckets by their key where a job's cost stands by its id.
        question = replace(question, job=f"{BUCKET_PREFIX}{figure.name}")
    if figure.category is not None:
        parts = parts_by(read, question, "category")
        return [one for one in parts if one.key == figure.category]
    dimension = _DIMENSIONS.get(figure.subject, "")
    parts = parts_by(read, question, dimension)
    return [one for one in parts if not dimension or one.key == figure.name]


def _fits(piece: Piece, part: Part) -> bool:
    if part is Part.CREDITS:
        return piece.is_credit
    wanted = {Part.BILLED: False, Part.PROVISIONAL: True}.get(part, piece.is_open)
    return not piece.is_credit and piece.is_open is wanted


def _has(line: Line, part: Part) -> bool:
    """Tell whether a line of the bill belongs to a part of the figure."""
    is_credit = getattr(line, "is_credit", False)
    is_open = getattr(line, "is_open", False)
    if part is Part.CREDITS:
        return is_credit
    wanted = {Part.BILLED: False, Part.PROVISIONAL: True}.get(part, is_open)
    return not is_credit and is_open is wanted


def _largest_first(line: Line) -> tuple[int, str]:
    return (-abs(line.amount.nanos), repr(line))


def _untold(basis: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """Return how running time was priced, where no line says it itself."""
    told = {getattr(line, "basis", "") for line in lines} - {""}
    return [text for text in basis if not any(text.endswith(one) for one in told)]


def _notes(lines: Sequence[Line]) -> tuple[str, ...]:
    has_allocated = any(getattr(line, "basis", "") == "allocated" for line in lines)
    return (NOT_ROUNDED, ALLOCATED) if has_allocated else (NOT_ROUNDED,)
