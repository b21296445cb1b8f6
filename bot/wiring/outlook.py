"""What is to come and what stands out, over one application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from billing.core.estimate_history import PastEstimate
from billing.core.periods import DAY, day_of
from billing.ports import RequestBudgetError, SourceUnavailableError
from billing.ports.anomalies import AnomalySource
from bot.use_cases.anomalies import AnomalyQuestion, ask_anomalies
from bot.use_cases.estimate_history import read_finished
from bot.use_cases.forecast import ask_forecast, ask_job_forecast
from bot.use_cases.pricing import price_book
from bot.views.outlook_answers import AnomalyAnswer, ForecastAnswer
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys, team_budgets

log = structlog.get_logger()

#: AWS is asked again for its findings after this long; it finds about three times a day.
ASK_AWS_EVERY = timedelta(hours=6)
#: How far back AWS's findings are read.
AWS_WINDOW = timedelta(days=60)


def judged(application: Application) -> Sequence[PastEstimate]:
    """Read what finished runs cost, and return past estimates with it."""
    judge(application, application.now())
    with application.store.read() as unit:
        return unit.ledger.past_estimates()


def judge(application: Application, now: datetime) -> int:
    """Read what finished runs cost; return how many were read."""
    with application.store.read() as unit:
        runs = read_finished(unit.ledger, now)
    if runs:
        with application.store.write() as unit:
            unit.ledger.record_finished(runs, now)
    return len(runs)


def forecast(application: Application, *, team: str, job: str) -> ForecastAnswer:
    """Forecast the end of the month: everything, a team, or a job."""
    settings, now = application.settings, application.now()
    with application.store.read() as unit:
        prices = price_book(unit.ledger, own_prices(settings))
        keys = tag_keys(settings)
        if job:
            return ask_job_forecast(unit.ledger, job, prices=prices, keys=keys, now=now)
        return ask_forecast(
            unit.ledger, team_budgets(settings), team=team,
            prices=prices, keys=keys, now=now,
        )  # fmt: skip


def anomalies(
    application: Application, question: AnomalyQuestion, *, asks_aws: bool
) -> AnomalyAnswer:
    """Judge days; AWS is asked too, unless it was a short while ago."""
    now = application.now()
    problem = read_aws_anomalies(application, now) if asks_aws else ""
    with application.store.read() as unit:
        answer = ask_anomalies(
            unit.ledger, question,
            prices=price_book(unit.ledger, own_prices(application.settings)),
            keys=tag_keys(application.settings), now=now,
        )  # fmt: skip
    return replace(answer, aws_problem=problem)


def read_aws_anomalies(application: Application, now: datetime) -> str:
    """Read AWS's findings when they are old; return why that failed, or ""."""
    with application.store.read() as unit:
        read_at = unit.ledger.aws_anomalies_read_at()
    if read_at is not None and now - read_at < ASK_AWS_EVERY:
        return ""
    since = day_of(now) - AWS_WINDOW
    try:
        found = _source(application).anomalies(since, day_of(now) + DAY)
    except (SourceUnavailableError, RequestBudgetError) as error:
        log.warning("aws_anomalies_not_read", code=error.code)
        return str(error)
    with application.store.write() as unit:
        unit.ledger.keep_aws_anomalies(found, since, now)
    return ""


def _source(application: Application) -> AnomalySource:
    from billing.aws.anomalies import CostAnomalyDetection  # noqa: PLC0415 - loads boto3

    return CostAnomalyDetection(application.aws.clients)
