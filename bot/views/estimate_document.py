"""The document of ``gpucost estimate``, whose keys are the contract's."""

from __future__ import annotations

from billing.core.money import Money
from bot.views.answers import EstimateAnswer
from bot.views.documents import Document, instant, money


def estimate_document(answer: EstimateAnswer) -> Document:
    """Return the document of an estimate.

    What adds no cost, such as the deadline, stands among the lines with a cost of 0.
    """
    estimate = answer.estimate
    nothing = Money.zero(estimate.compute.currency)
    lines = [(line.name, line.cost, line.basis) for line in estimate.lines]
    lines += [(note.name, nothing, note.text) for note in estimate.notes]
    return {
        "currency": estimate.compute.currency,
        "hourly": money(estimate.hourly),
        "compute": money(estimate.compute),
        "low": money(estimate.low),
        "expected": money(estimate.expected),
        "high": money(estimate.high),
        "lines": [
            {"name": name, "cost": money(cost), "basis": basis}
            for name, cost, basis in lines
        ],
        "price": {
            "per_hour": money(estimate.list_rate),
            "yours_per_hour": money(estimate.yours),
            "source": estimate.price_source,
            "as_of": instant(estimate.price_as_of),
        },
        "alternatives": [
            {"what": other.what, "expected": money(other.expected), "why": other.why}
            for other in estimate.alternatives
        ],
        "approval": {
            "required": answer.required,
            "policy": answer.policy or None,
            "over": money(answer.over),
        },
    }
