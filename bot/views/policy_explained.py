"""What every policy makes of one subject: JSON and terminal."""

from __future__ import annotations

from billing.core.money import USD, Money
from bot.views.terminal import clean
from policies.core.explained import APART, Explained, Ruling

Document = dict[str, object]
_AMOUNTS = frozenset({"job.spent", "job.predicted", "job.rate", "instance.rate"})


def explained_document(answer: Explained) -> Document:
    """Return an explanation as JSON; amounts as decimal text."""
    return {
        "subject": answer.subject,
        "values": {name: _value(name, one) for name, one in answer.values.items()},
        "rulings": [_ruling(one) for one in answer.rulings],
    }


def _value(name: str, value: object) -> object:
    if name in _AMOUNTS and isinstance(value, int):
        return Money(value, USD).text()
    return value


def _ruling(one: Ruling) -> Document:
    return {
        "policy": one.policy,
        "kind": one.kind,
        "mode": one.mode,
        "outcome": one.outcome,
        "missing": one.missing or None,
        "refused": [f"{some.action}: {some.reason}" for some in one.refused],
        "findings": [
            {
                "severity": finding.severity.value,
                "clause": finding.clause,
                "explanation": [*finding.explanation],
                "evidence": [
                    {
                        "name": item.name,
                        "value": item.value,
                        "unit": item.unit,
                        "threshold": item.threshold,
                    }
                    for item in finding.evidence
                ],
                "actions": [step.do for step in finding.actions],
            }
            for finding in one.findings
        ],
    }


def explained_text(answer: Explained) -> str:
    """Return an explanation for the terminal: values, then one policy after the other."""
    lines = [answer.subject, ""]
    width = max((len(name) for name in answer.values), default=0)
    for name, value in answer.values.items():
        shown = value
        if name in _AMOUNTS and isinstance(value, int):
            shown = Money(value, USD)
        elif isinstance(value, list):
            shown = ", ".join(str(one) for one in value)
        elif isinstance(value, dict):
            shown = ", ".join(f"{key}={one}" for key, one in sorted(value.items()))
        lines.append(f"  {name:<{width}}  {shown}")
    for one in answer.rulings:
        lines += ["", *_ruling_lines(one)]
    return "\n".join(clean(line) for line in lines)


def _ruling_lines(one: Ruling) -> list[str]:
    lines = [f"{one.policy} ({one.kind}, {one.mode}): {one.outcome}"]
    if one.missing:
        lines.append(f"  missing: {one.missing}")
    for finding in one.findings:
        lines.append(f"  {finding.severity.value}: {finding.clause}")
        lines += [f"  {text}" for text in finding.explanation]
        if finding.actions:
            steps = ", ".join(step.do for step in finding.actions)
            lines.append(f"  would: {steps}")
    lines += [f"  refused: {some.action}: {some.reason}" for some in one.refused]
    if one.outcome == APART:
        lines.append("  its scope (where, accounts, kind) leaves this out")
    return lines
