"""The end of the month as document, text and lines of a digest. Pure."""

from __future__ import annotations

from fractions import Fraction

from billing.core.estimate_history import percent
from billing.core.forecast_month import MonthForecast
from bot.views.documents import Document, instant, money
from bot.views.outlook_answers import (
    BudgetState,
    ForecastAnswer,
    JobForecast,
    TeamForecast,
)
from bot.views.terminal import amount, clean, table, when

NOT_KNOWN = "not known yet"


def forecast_document(answer: ForecastAnswer) -> Document:
    """Return the document of ``gpucost forecast``."""
    document: Document = {
        "currency": answer.currency,
        "month": f"{answer.month:%Y-%m}",
        "as_of": instant(answer.as_of),
    }
    if answer.job is not None:
        return document | {"job": _job_document(answer.job)}
    scope = {} if answer.scope is None else _team_document(answer.scope)
    return document | scope | {"teams": [_team_document(one) for one in answer.teams]}


def _job_document(job: JobForecast) -> Document:
    return {
        "job": job.job,
        "so_far": money(job.so_far),
        "burn_per_hour": money(job.burn),
        "ends_at": instant(job.ends_at),
        "end_is_planned": job.is_planned,
        "low": money(job.low),
        "expected": money(job.expected),
        "high": money(job.high),
    }


def _team_document(one: TeamForecast) -> Document:
    found = one.forecast
    return {
        "team": one.team or None,
        "known_until": instant(found.known_until),
        "so_far": money(found.so_far),
        "low": money(found.low),
        "expected": money(found.expected),
        "high": money(found.high),
        "method": found.method,
        "backtest": {
            "trials": found.backtest.trials,
            "judged": found.backtest.judged,
            "covered": found.backtest.covered,
            "coverage": _share(found.backtest.coverage),
            "median_error": _share(found.backtest.median_error),
        },
        "budget": None if one.budget is None else _budget_document(one.budget),
    }


def _budget_document(budget: BudgetState) -> Document:
    return {
        "amount": money(budget.amount),
        "used": _share(budget.used),
        "expected": _share(budget.expected),
        "exceeded_on": None
        if budget.exceeded_on is None
        else budget.exceeded_on.isoformat(),
    }


def _share(share: Fraction | None) -> float | None:
    return None if share is None else round(float(share), 4)


def forecast_text(answer: ForecastAnswer) -> str:
    """Return what ``gpucost forecast`` prints."""
    if answer.job is not None:
        return _job_text(answer.job, f"{answer.month:%Y-%m}")
    assert answer.scope is not None
    scope = answer.scope.forecast
    whose = f"team {answer.scope.team}" if answer.scope.team else "all teams"
    parts = [
        clean(f"{answer.month:%Y-%m}, {whose}: {range_text(scope)}"),
        clean(
            f"so far {scope.so_far}, known up to {when(scope.known_until)}; the rest"
            f" by {scope.method}"
        ),
        clean(scope.backtest.text),
    ]
    if answer.scope.budget is not None:
        parts.append(budget_text(answer.scope.budget))
    return "\n".join(parts) + (f"\n\n{_teams(answer)}" if answer.teams else "")


def _teams(answer: ForecastAnswer) -> str:
    head = ("team", "so far", "low", "expected", "high", "budget", "")
    rows = [
        (
            one.team, str(one.forecast.so_far), amount(one.forecast.low),
            amount(one.forecast.expected), amount(one.forecast.high),
            "-" if one.budget is None else str(one.budget.amount),
            "" if one.budget is None else _standing(one.budget),
        )
        for one in answer.teams
    ]  # fmt: skip
    return table([head, *rows], right=frozenset({1, 2, 3, 4, 5}))


def range_text(found: MonthForecast) -> str:
    """Say a forecast with its interval, or that there is too little to go by."""
    if found.expected is None:
        return f"{found.so_far} so far, its end is {NOT_KNOWN} (too little history)"
    if found.low is None or found.high is None:
        return f"{found.expected} expected at its end (too little history for a range)"
    return f"{found.expected} expected at its end, {found.low} to {found.high}"


def budget_text(budget: BudgetState) -> str:
    """Say how a month stands to its budget."""
    return f"budget {budget.amount}: {percent(budget.used)} used, {_standing(budget)}"


def _standing(budget: BudgetState) -> str:
    if budget.used > 1:
        return "over it already"
    if budget.expected is None:
        return f"{percent(budget.used)} used, end {NOT_KNOWN}"
    if budget.exceeded_on is not None:
        return f"{percent(budget.expected)} expected, used up on {budget.exceeded_on}"
    return f"{percent(budget.expected)} expected"


def _job_text(job: JobForecast, month: str) -> str:
    if job.burn is not None and not job.burn.nanos:
        return clean(f"{job.job}: nothing runs; {month} stays at {job.so_far}")
    ends = "as its estimate says" if job.is_planned else "if it runs on"
    return clean(
        f"{job.job}: {amount(job.expected)} expected at the end of {month}"
        f" ({ends}, until {when(job.ends_at)}); {job.low} if it stopped now,"
        f" {amount(job.high)} if it runs on to the end of the month; it costs"
        f" {amount(job.burn)} now"
    )
