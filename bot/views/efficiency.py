"""How well runs used what they cost, side by side, as JSON and for a terminal; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from billing.core.efficiency import UNITS, Efficiency, Scaling, Work
from billing.core.leaks import LeakReport
from billing.core.money import Money
from billing.core.progress import Counter
from bot.views.documents import Document, instant, money
from bot.views.terminal import AT_LEAST, UNKNOWN, amount, clean, duration_text, table

AT_MOST = "at most "
_NONE = "-"
_UNIT_NAMES: Mapping[Counter, str] = {
    Counter.STEPS: "step",
    Counter.SAMPLES: "1,000 samples",
    Counter.TOKENS: "million tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """One run of a comparison.

    Attributes:
        since / until: The window that its figures are of.
    """

    efficiency: Efficiency
    report: LeakReport
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer:
    """Two runs side by side.

    Attributes:
        scaling: None with ``not_scaled``: why.
    """

    currency: str
    first: RunAnswer
    second: RunAnswer
    scaling: Scaling | None
    not_scaled: str = ""

    @property
    def runs(self) -> tuple[RunAnswer, RunAnswer]:
        """Return both."""
        return self.first, self.second


def compare_document(answer: CompareAnswer) -> Document:
    """Return the document of `gpucost compare`."""
    return {
        "currency": answer.currency,
        "items": [_run(one) for one in answer.runs],
        "scaling": _scaling(answer.scaling),
        "scaling_missing": answer.not_scaled or None,
    }


def _run(run: RunAnswer) -> Document:
    found, facts = run.efficiency, run.efficiency.facts
    return {
        "job": facts.job,
        "since": instant(run.since),
        "until": instant(run.until),
        "total": money(facts.total),
        "total_is_at_least": facts.is_at_least,
        "compute": money(facts.compute),
        "avoidable": money(run.report.avoidable),
        "gpu_hours": number(facts.gpu_hours),
        "accelerators": sorted(facts.accelerators),
        "per_gpu_hour": money(found.per_gpu_hour),
        "utilization_pct": number(found.utilization_pct),
        "measured_pct": number(found.measured_pct),
        "effective_per_gpu_hour": money(found.effective_gpu_hour),
        "missing": found.missing or None,
        "work": [
            _work(found.work[counter]) for counter in Counter if counter in found.work
        ],
    }


def _work(work: Work) -> Document:
    progress = work.progress
    return {
        "counter": progress.counter.value,
        "value": progress.last_value,
        "useful": progress.useful,
        "lost": progress.lost,
        "restarts": len(progress.restarts),
        "gaps": len(progress.gaps),
        "first_at": instant(progress.first_at),
        "last_at": instant(progress.last_at),
        "unit": UNITS[progress.counter],
        "per_unit": money(work.per_unit),
        "per_unit_is_at_most": work.is_at_most,
        "per_gpu_hour": number(work.per_gpu_hour),
        "gpus": number(work.gpus),
        "missing": work.missing or None,
    }


def _scaling(found: Scaling | None) -> Document | None:
    if found is None:
        return None
    return {
        "counter": found.counter.value,
        "gpus": [number(found.first.gpus), number(found.second.gpus)],
        "per_gpu_hour": [
            number(found.first.per_gpu_hour),
            number(found.second.per_gpu_hour),
        ],
        "efficiency_pct": number(found.efficiency_pct),
    }


def number(value: Fraction | None) -> float | None:
    """Return a figure with at most four places; None stays unknown."""
    return None if value is None else round(float(value), 4)


# ---------------------------------------------------------------------------- terminal


def compare_text(answer: CompareAnswer) -> str:
    """Return what `gpucost compare` prints."""
    head = ("", *(one.efficiency.facts.job for one in answer.runs))
    rows = [head, *compare_rows(answer)]
    notes = [
        f"{one.efficiency.facts.job}: {one.efficiency.missing}"
        for one in answer.runs
        if one.efficiency.missing
    ]
    parts = [
        table(rows, right=frozenset({1, 2})),
        clean(scaling_text(answer)),
        "\n".join(clean(note) for note in notes),
    ]
    return "\n\n".join(part for part in parts if part)


def scaling_text(answer: CompareAnswer) -> str:
    """Return in one sentence how the second run scales against the first."""
    found = answer.scaling
    if found is None:
        return f"scaling efficiency: not known, {answer.not_scaled}"
    first, second = (one.efficiency.facts.job for one in answer.runs)
    percent = round(found.efficiency_pct)
    return (
        f"scaling efficiency {percent} %: a GPU hour of {second} ({_gpus(found.second)})"
        f" does {percent} % of the {found.counter.value} of one of {first}"
        f" ({_gpus(found.first)})"
    )


def _gpus(work: Work) -> str:
    if work.gpus is None:
        return f"GPUs {UNKNOWN}"
    count = f"{float(work.gpus):,.1f}".removesuffix(".0")
    return f"{count} {'GPU' if count == '1' else 'GPUs'}"


def compare_rows(answer: CompareAnswer) -> Sequence[tuple[str, ...]]:
    """Return every figure that is compared, with its name."""

    def row(name: str, tell: Callable[[RunAnswer], str]) -> tuple[str, ...]:
        return (name, *(tell(one) for one in answer.runs))

    return [
        row("total", _total),
        row("avoidable", _avoidable),
        row("GPU hours", lambda one: _figure(one.efficiency.facts.gpu_hours)),
        row("per GPU hour", lambda one: amount(one.efficiency.per_gpu_hour)),
        row("GPU utilisation", lambda one: _share(one.efficiency.utilization_pct)),
        row(
            "per GPU hour at 100 %",
            lambda one: amount(one.efficiency.effective_gpu_hour),
        ),
        *(line for counter in Counter for line in _work_rows(answer, counter)),
    ]


def _work_rows(answer: CompareAnswer, counter: Counter) -> list[tuple[str, ...]]:
    works = [one.efficiency.work.get(counter) for one in answer.runs]
    if not any(works):
        return []
    rows: list[tuple[str, Callable[[Work], str]]] = [
        (counter.value, lambda work: f"{work.progress.useful:,}"),
        (f"{counter.value} done again", lambda work: f"{work.progress.lost:,}"),
        (f"per {_UNIT_NAMES[counter]}", _per_unit),
        (f"{counter.value} per GPU hour", lambda work: _figure(work.per_gpu_hour)),
        ("last report", _span),
    ]
    return [
        (name, *(_NONE if work is None else tell(work) for work in works))
        for name, tell in rows
    ]


def _span(work: Work) -> str:
    progress = work.progress
    return duration_text(progress.last_at - progress.first_at) + " after the first"


def _per_unit(work: Work) -> str:
    if work.per_unit is None:
        return UNKNOWN
    return f"{AT_MOST if work.is_at_most else ''}{small(work.per_unit)}"


def small(value: Money) -> str:
    """Return an amount for people; below ten cents with the digits that matter.

    >>> small(Money.of("0.004231")), small(Money.of("2"))
    ('$0.0042', '$2.00')
    """
    if not 0 < abs(value.nanos) < 100_000_000:  # noqa: PLR2004 - ten cents
        return str(value)
    places = 9 - len(str(abs(value.nanos))) + 2
    figure = f"{abs(value.nanos) / 1_000_000_000:.{places}f}"
    sign = "-" if value.nanos < 0 else ""
    symbol = str(Money(0, value.currency)).removesuffix("0.00")
    return f"{sign}{symbol}{figure}"


def _total(run: RunAnswer) -> str:
    facts = run.efficiency.facts
    return f"{AT_LEAST if facts.is_at_least else ''}{facts.total}"


def _avoidable(run: RunAnswer) -> str:
    is_least = any(one.missing for one in run.report.leaks)
    return f"{AT_LEAST if is_least else ''}{run.report.avoidable}"


def _figure(value: Fraction | None) -> str:
    return UNKNOWN if value is None else f"{float(value):,.1f}"


def _share(value: Fraction | None) -> str:
    return UNKNOWN if value is None else f"{float(value):.1f} %"
