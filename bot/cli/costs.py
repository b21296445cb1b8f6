"""Commands that ask what was spent: cost, jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.leaks import LEAK, tell_leaks
from bot.cli.options import (
    ConfigOption,
    SinceOption,
    UntilOption,
    days_option,
    one_of,
)
from bot.cli.output import Format, FormatOption, emit, errors_told

DIMENSIONS = (
    "job",
    "team",
    "category",
    "service",
    "day",
    "account",
    "region",
    "purchase",
    LEAK,
)
METRICS = ("effective", "billed", "list")


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(cost)


def cost(
    job: Annotated[str, typer.Argument(help="A job id, such as job-123.")] = "",
    team: Annotated[str, typer.Option(help="Only jobs of this team.")] = "",
    account: Annotated[str, typer.Option(help="Only this account id.")] = "",
    by: Annotated[
        str, typer.Option(help=f"Break down by {', '.join(DIMENSIONS)}.")
    ] = "",
    since: SinceOption = "",
    until: UntilOption = "",
    metric: Annotated[
        str, typer.Option(help="effective, billed or list.")
    ] = "effective",
    net: Annotated[
        bool, typer.Option("--net", help="Include credits and refunds.")
    ] = False,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Say what a job, a team or everything has cost."""
    one_of(format_, "--by", by, ("", *DIMENSIONS))
    one_of(format_, "--metric", metric, METRICS)
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from billing.core.charges import Metric
        from bot.use_cases.parts import CostQuestion
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        question = CostQuestion(
            job=job, team=team, account=account, by=by, since=first, until=last,
            metric=Metric(metric), is_net=net,
        )  # fmt: skip
        with open_application(config) as application:
            if by == LEAK:
                tell_leaks(application, question, format_)
                return
            answer = application.cost(question)
        emit(
            format_, documents.cost_document(answer), lambda: terminal.cost_text(answer)
        )


def jobs(
    since: SinceOption = "",
    until: UntilOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List jobs with what they cost and hold."""
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application:
            lines = application.jobs(first, last)
        emit(format_, documents.jobs_document(lines), lambda: terminal.jobs_text(lines))
