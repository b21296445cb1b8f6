"""Anomalies as document, text and lines of a digest. Pure."""

from __future__ import annotations

from billing.core.anomalies import Anomaly, Cause
from billing.ports.anomalies import AwsAnomaly
from bot.views.cost import group_label
from bot.views.documents import Document, instant, money
from bot.views.outlook_answers import AnomalyAnswer
from bot.views.terminal import clean, table, when

_NAMED = 3


def anomalies_document(answer: AnomalyAnswer) -> Document:
    """Return the document of ``gpucost anomalies``."""
    return {
        "currency": answer.currency,
        "since": answer.since.isoformat(),
        "until": answer.until.isoformat(),
        "floor": money(answer.floor),
        "judged": answer.judged,
        "items": [_document(one) for one in answer.anomalies],
        "explained": [
            {
                "series": one.series,
                "day": one.day.isoformat(),
                "cost": money(one.cost),
                "paid_at_once": money(one.paid),
            }
            for one in answer.explained
        ],
        "aws": {
            "read_at": None
            if answer.aws_read_at is None
            else instant(answer.aws_read_at),
            "problem": answer.aws_problem or None,
            "items": [_aws_document(one) for one in answer.aws],
        },
    }


def _document(one: Anomaly) -> Document:
    return {
        "series": one.series,
        "day": one.day.isoformat(),
        "cost": money(one.cost),
        "usual": money(one.usual),
        "excess": money(one.excess),
        "deviations": round(float(one.deviations), 1),
        "provisional": one.is_open,
        "causes": [
            {"key": cause.key, "cost": money(cause.cost), "usual": money(cause.usual)}
            for cause in one.causes
        ],
    }


def _aws_document(one: AwsAnomaly) -> Document:
    return {
        "id": one.anomaly_id,
        "since": one.since.isoformat(),
        "until": None if one.until is None else one.until.isoformat(),
        "service": one.service,
        "region": one.region or None,
        "account": one.account or None,
        "usage_type": one.usage_type or None,
        "impact": money(one.impact),
        "expected": money(one.expected),
        "actual": money(one.actual),
        "monitor": one.monitor,
        "feedback": one.feedback or None,
    }


def anomalies_text(answer: AnomalyAnswer) -> str:
    """Return what ``gpucost anomalies`` prints."""
    span = f"{answer.since} to {answer.until} (UTC days, the last one excluded)"
    if not answer.judged:
        head = f"{span}: nothing can be judged, two weeks of history are needed"
    elif answer.anomalies:
        head = f"{span}: {_counted(len(answer.anomalies))}"
    else:
        head = f"{span}: nothing out of the ordinary above {answer.floor}"
    parts = [head, _items(answer), _explained(answer), _aws(answer)]
    return "\n\n".join(part for part in parts if part)


def _counted(count: int) -> str:
    return f"{count} anomal{'y' if count == 1 else 'ies'}"


def _items(answer: AnomalyAnswer) -> str:
    if not answer.anomalies:
        return ""
    head = ("day", "where", "cost", "usual", "excess", "")
    rows = [
        (
            str(one.day), one.series, str(one.cost), str(one.usual), str(one.excess),
            causes_text(one.causes) + (" (may still move)" if one.is_open else ""),
        )
        for one in answer.anomalies
    ]  # fmt: skip
    return table([head, *rows], right=frozenset({2, 3, 4}))


def causes_text(causes: tuple[Cause, ...]) -> str:
    """Name what grew: a new job, or one that cost more."""
    named = [
        f"{group_label(one.key)} {'new, ' if not one.usual.nanos else ''}"
        f"+{one.cost - one.usual}"
        for one in causes[:_NAMED]
    ]
    return ", ".join(named)


def _explained(answer: AnomalyAnswer) -> str:
    return "\n".join(
        clean(
            f"{one.day} {one.series}: {one.cost}, of which {one.paid} was paid at once"
            " for a longer time: no anomaly"
        )
        for one in answer.explained
    )


def _aws(answer: AnomalyAnswer) -> str:
    if answer.aws_problem:
        problem = f"AWS Cost Anomaly Detection could not be asked: {answer.aws_problem}"
        if answer.aws_read_at is None:
            return clean(problem)
        lines = [f"{problem} (last read {when(answer.aws_read_at)})"]
    elif answer.aws_read_at is None:
        return ""
    else:
        lines = []
    if not answer.aws:
        return "\n".join(
            [*map(clean, lines), "AWS Cost Anomaly Detection: no findings"]
        )
    lines.append("AWS Cost Anomaly Detection")
    rows = [
        (
            str(one.since), "goes on" if one.until is None else f"to {one.until}",
            str(one.impact), one.service, one.region, one.account,
        )
        for one in answer.aws
    ]  # fmt: skip
    return "\n".join([*map(clean, lines), table(rows, right=frozenset({2}))])
