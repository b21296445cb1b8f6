"""The answer of ``estimate``: a range with its parts, cheaper ways, and who is asked."""

from __future__ import annotations

from collections.abc import Sequence

from billing.core.estimate import Alternative, Estimate
from billing.core.money import Money
from bot.views.answers import EstimateAnswer, Json, Message
from bot.views.blocks import bullets, columns, context, fields, header, section
from bot.views.text import escape, fallback, name, plain
from bot.views.words import amount, hours, instant, plural

ALTERNATIVES_MAX = 5
_LINES_MAX = 12


def estimate_answer(answer: EstimateAnswer) -> Message:
    """Render an estimate and whether somebody must agree first."""
    estimate = answer.estimate
    ask = estimate.request
    shape = f"{plural(ask.count, 'instance')} of {plain(ask.instance_type, most=40)}"
    title = f"Estimate: {shape} for {hours(ask.hours)}"
    total = f"*{amount(estimate.expected)}* expected for {hours(ask.hours)}"
    span = f"from {amount(estimate.low)} to {amount(estimate.high)}"
    blocks = [
        header(title),
        section(f"{total}, {span}"),
        fields(_figures(estimate)),
        *_lines(estimate),
        *_notes(estimate),
        *alternatives_block(estimate.alternatives),
        section(_approval(answer)),
        context(_price_line(estimate)),
    ]
    text = f"{fallback(title, most=140)}: {amount(estimate.expected)} expected, {span}"
    return Message(text=text, blocks=tuple(blocks))


def _figures(estimate: Estimate) -> list[tuple[str, str]]:
    ask = estimate.request
    return [
        ("Region", name(ask.region, most=40)),
        ("Purchase", str(ask.purchase).replace("-", " ")),
        ("All instances", str(estimate.hourly)),
        ("Compute at list price", f"{amount(estimate.compute)} for {hours(ask.hours)}"),
        ("List price, one instance", str(estimate.list_rate)),
        ("Your price, one instance", str(estimate.yours)),
        ("Job", name(ask.job) if ask.job else ""),
    ]


def _lines(estimate: Estimate) -> list[Json]:
    shown = estimate.lines[:_LINES_MAX]
    rows = [(line.name, amount(line.cost)) for line in shown]
    reasons = [
        f"{escape(line.name, most=60)}: {escape(line.basis, most=160)}"
        for line in shown
        if line.basis
    ]
    table = columns([*rows, ("expected", amount(estimate.expected))])
    blocks = [section("*What it is made of*"), section(table)]
    return [*blocks, section(bullets(reasons))] if reasons else blocks


def _notes(estimate: Estimate) -> list[Json]:
    """Say what adds no cost but should be known, such as the deadline."""
    lines = [
        f"*{escape(note.name.capitalize(), most=60)}*: {escape(note.text, most=400)}"
        for note in estimate.notes[:_LINES_MAX]
    ]
    return [section("\n".join(lines))] if lines else []


def _price_line(estimate: Estimate) -> str:
    source = escape(estimate.price_source, most=80)
    return f"Price from {source}, as of {instant(estimate.price_as_of)}."


def alternatives_block(alternatives: Sequence[Alternative]) -> list[Json]:
    """List cheaper or other ways; an unknown price is said to be unknown."""
    if not alternatives:
        return []
    lines = [_alternative(one) for one in alternatives[:ALTERNATIVES_MAX]]
    left = len(alternatives) - ALTERNATIVES_MAX
    if left > 0:
        lines.append(f"and {left} more")
    return [section(f"*Other ways to run it*\n{bullets(lines)}")]


def _alternative(one: Alternative) -> str:
    price = "price unknown" if one.expected is None else amount(one.expected)
    why = f" ({escape(one.why, most=200)})" if one.why else ""
    return f"{escape(one.what, most=120)}: {price}{why}"


def _approval(answer: EstimateAnswer) -> str:
    """Say whether somebody must agree first, and by which policy."""
    if not answer.required:
        return "No policy asks for an approval of this."
    over = "" if answer.over is None else f": over {limit(answer.over)}"
    policy = f" (policy {name(answer.policy)})" if answer.policy else ""
    return f"*Needs an approval first*{over}{policy}."


def limit(money: Money) -> str:
    """Return a policy's limit without empty cents: ``$10,000``."""
    return amount(money).removesuffix(".00")
