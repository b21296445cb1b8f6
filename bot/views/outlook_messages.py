"""The month's end, days that stand out, and waivers, as answers in Slack; pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.anomalies import causes_text
from bot.views.answers import Json, Message
from bot.views.blocks import bullets, context, header, section
from bot.views.forecast import NOT_KNOWN, budget_text, range_text
from bot.views.limits import fit_one
from bot.views.native import table
from bot.views.outlook_answers import (
    AnomalyAnswer,
    ForecastAnswer,
    JobForecast,
    TeamForecast,
)
from bot.views.people import People, who
from bot.views.text import escape, fallback, name
from bot.views.words import amount, day, days_of, instant, plural
from policies.core.waivers import Waiver

_ROWS_MAX = 25
_MOST = 10
_WAIVERS_MAX = 20


def forecast_message(answer: ForecastAnswer) -> Message:
    """Render what a month, a team's month or a job's month will come to."""
    month = f"{answer.month:%B %Y}"
    if answer.job is not None:
        return _job(answer.job, month)
    assert answer.scope is not None
    whose = f", team {answer.scope.team}" if answer.scope.team else ""
    title = f"Forecast of {month}{whose}"
    found = answer.scope.forecast
    lines = [f"*{escape(range_text(found), most=300)}*"]
    if answer.scope.budget is not None:
        lines.append(budget_text(answer.scope.budget).capitalize())
    small = (
        f"So far {amount(found.so_far)}, known up to {instant(found.known_until)};"
        f" the rest by {found.method}. {found.backtest.text.capitalize()}."
    )
    blocks = [header(title), section("\n".join(lines)), *_teams(answer.teams)]
    blocks.append(context(escape(small, most=600)))
    text = f"{fallback(title, most=140)}: {fallback(range_text(found), most=200)}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def _teams(teams: Sequence[TeamForecast]) -> list[Json]:
    if not teams:
        return []
    rows = [
        (
            one.team,
            one.forecast.so_far,
            NOT_KNOWN if one.forecast.expected is None else one.forecast.expected,
            "-" if one.budget is None else one.budget.amount,
        )
        for one in teams[:_ROWS_MAX]
    ]
    left = len(teams) - _ROWS_MAX
    more = [context(f"and {plural(left, 'more team')}")] if left > 0 else []
    head = ("team", "so far", "expected", "budget")
    return [table("Teams, the dearest first", head, rows), *more]


def _job(job: JobForecast, month: str) -> Message:
    title = f"Forecast of {job.job}, {month}"
    if job.burn is not None and not job.burn.nanos:
        line = f"Nothing runs: it stays at *{amount(job.so_far)}*."
    else:
        expected = NOT_KNOWN if job.expected is None else amount(job.expected)
        high = "unknown" if job.high is None else amount(job.high)
        burn = (
            "What it costs now is unknown: a price is missing."
            if job.burn is None
            else f"It costs {job.burn} now."
        )
        ends = "as its estimate says" if job.is_planned else "if it runs on"
        line = (
            f"*{expected}* expected, {ends} until {instant(job.ends_at)}.\n"
            f"{amount(job.low)} if it stopped now, {high} if it runs to the end of the"
            f" month. {burn}"
        )
    text = f"{fallback(title, most=140)}: {amount(job.so_far)} so far"
    return fit_one(Message(text=text, blocks=(header(title), section(line))))


def anomalies_message(answer: AnomalyAnswer) -> Message:
    """Render days that stand out, and what AWS itself found."""
    span = days_of(answer.since, answer.until)
    odd = answer.anomalies[:_MOST]
    if not answer.judged:
        said = "Nothing can be judged yet: two weeks of history are needed."
    elif not odd:
        said = f"Nothing out of the ordinary above {amount(answer.floor)}."
    else:
        noun = "day stands" if len(answer.anomalies) == 1 else "days stand"
        said = f"{len(answer.anomalies):,} {noun} out."
    lines = [
        f"{day(one.day)}, {escape(one.series, most=80)}: *{amount(one.cost)}* instead"
        f" of {amount(one.usual)}{_because(causes_text(one.causes))}"
        f"{' (may still move)' if one.is_open else ''}"
        for one in odd
    ]
    left = len(answer.anomalies) - len(odd)
    lines += [f"and {left:,} more"] if left > 0 else []
    blocks = [header("Out of the ordinary"), section(f"{said} {span} (UTC).")]
    blocks += [section(bullets(lines))] if lines else []
    blocks += _explained(answer)
    blocks += _aws(answer)
    return fit_one(Message(text=f"{said} {span}", blocks=tuple(blocks)))


def _because(causes: str) -> str:
    return f" ({escape(causes, most=200)})" if causes else ""


def _explained(answer: AnomalyAnswer) -> list[Json]:
    lines = [
        f"{day(one.day)}, {escape(one.series, most=80)}: {amount(one.cost)}, of which"
        f" {amount(one.paid)} was paid at once for a longer time: no anomaly"
        for one in answer.explained[:_MOST]
    ]
    return [section(bullets(lines))] if lines else []


def _aws(answer: AnomalyAnswer) -> list[Json]:
    if answer.aws_read_at is None:
        return [context("AWS Cost Anomaly Detection was not read yet.")]
    lines = [
        f"since {day(one.since)}: {amount(one.impact)} over what it expected,"
        f" {escape(one.service, most=80)}"
        for one in answer.aws[:_MOST]
    ]
    left = len(answer.aws) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    read = f"AWS Cost Anomaly Detection, read {instant(answer.aws_read_at)}"
    if not lines:
        return [context(f"{read}: no findings in these days.")]
    return [section(f"*AWS's own findings*\n{bullets(lines)}"), context(f"{read}.")]


def waivers_message(waivers: Sequence[Waiver], people: People) -> Message:
    """Render the waivers that have not ended."""
    if not waivers:
        said = "No waivers: every policy counts everywhere."
        return Message(text=said, blocks=(section(said),))
    title = plural(len(waivers), "waiver")
    lines = []
    for one in waivers[:_WAIVERS_MAX]:
        cap = "" if one.cap is None else f", up to {amount(one.cap)} in all"
        lines.append(
            f"*{one.state.value}*: {name(one.policy)} on {name(one.subject)} until"
            f" {instant(one.until)}{cap}, by {who(one.owner, people)}:"
            f" {escape(one.reason, most=120)} ({escape(one.waiver_id)})"
        )
    left = len(waivers) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    blocks = (header(title), section(bullets(lines)))
    return fit_one(Message(text=title, blocks=blocks))
