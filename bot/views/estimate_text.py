"""What ``gpucost estimate`` prints in a terminal."""

from __future__ import annotations

from textwrap import wrap

from bot.views.answers import EstimateAnswer
from bot.views.terminal import amount, clean, table

_WIDTH = 88
_INDENT = "  "


def estimate_text(answer: EstimateAnswer) -> str:
    """Return an estimate as text: the range, what it is made of, other ways."""
    estimate = answer.estimate
    plan = estimate.request
    head = (
        f"{plan.count} x {plan.instance_type} for {float(plan.hours):g} h, "
        f"{plan.purchase.value}, {plan.region}: "
        f"{estimate.low} to {estimate.high}, expected {estimate.expected}"
    )
    price = (
        f"list price {estimate.list_rate} from {estimate.price_source} of "
        f"{estimate.price_as_of:%Y-%m-%d}, yours {estimate.yours}; "
        f"compute {estimate.compute}"
    )
    lines = [(line.name, str(line.cost), line.basis) for line in estimate.lines]
    notes = "\n".join(_note(note.name, note.text) for note in estimate.notes)
    parts = [
        clean(head), clean(price), table(lines, right=frozenset({1})), notes,
        _ways(answer), clean(_approval(answer)),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _approval(answer: EstimateAnswer) -> str:
    if not answer.required:
        return "needs no approval"
    return f"needs approval: policy {answer.policy}, over {answer.over}"


def _note(name: str, text: str) -> str:
    return "\n".join(_wrapped(f"{name}: {text}"))


def _ways(answer: EstimateAnswer) -> str:
    """List other ways, each with its reason on the lines below it."""
    ways = answer.estimate.alternatives
    if not ways:
        return ""
    heads = table(
        [(one.what, amount(one.expected)) for one in ways], right=frozenset({1})
    )
    lines = ["other ways"]
    for head, way in zip(heads.splitlines(), ways, strict=True):
        lines += [head, *_wrapped(way.why, indent=_INDENT)]
    return "\n".join(lines)


def _wrapped(text: str, *, indent: str = "") -> list[str]:
    return wrap(
        clean(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent or _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
