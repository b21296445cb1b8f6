"""Commands about what is to come: estimate, estimates, forecast, anomalies."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import (
    ConfigOption,
    HoursOption,
    InstanceTypeOption,
    PurchaseOption,
    RegionOption,
    SinceOption,
    UntilOption,
    days_option,
)
from bot.cli.output import USAGE, Format, FormatOption, emit, errors_told, fail

CountOption = Annotated[int, typer.Option(help="Instances at once.")]
JobOption = Annotated[str, typer.Option(help="Job id the run will have.")]
TimeLimitOption = Annotated[
    bool, typer.Option("--time-limit", help="The scheduler ends it at --hours.")
]
DeadlineOption = Annotated[
    str, typer.Option(help="When it must be done: 2026-12-05 or an instant (UTC).")
]
InterruptibleOption = Annotated[
    bool, typer.Option("--interruptible", help="It goes on from checkpoints on spot.")
]
StageOption = Annotated[str, typer.Option(help="experiment or production.")]
ParamsOption = Annotated[
    str, typer.Option(help="Parameters of the model, such as 70B: checkpoints.")
]
BytesOption = Annotated[str, typer.Option(help="Of its weights; default 2.")]
OptimizerOption = Annotated[
    str, typer.Option(help="Saved with them: adam or none (default).")
]
EveryOption = Annotated[str, typer.Option(help="Default 30m.")]
KeepOption = Annotated[
    str, typer.Option(help="How long a checkpoint is kept; default 7d.")
]
CompareOption = Annotated[
    str, typer.Option(help="Compare with on-premises, managed, or both.")
]
OwnOption = Annotated[
    str, typer.Option(help="'price=$300,000 kw=10.2 kwh=$0.10 utilisation=60% …'")
]
RetrainOption = Annotated[str, typer.Option(help="How often it is run in a year.")]
QuotedOption = Annotated[
    str, typer.Option(help="Price of one instance and hour as AWS quoted it.")
]


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(estimate)
    app.command()(estimates)
    app.command()(forecast)
    app.command()(anomalies)


def estimate(
    instance_type: InstanceTypeOption,
    count: CountOption,
    hours: HoursOption,
    purchase: PurchaseOption = "on-demand",
    region: RegionOption = "",
    job: JobOption = "",
    time_limit: TimeLimitOption = False,
    deadline: DeadlineOption = "",
    interruptible: InterruptibleOption = False,
    stage: StageOption = "",
    model_params: ParamsOption = "",
    bytes_per_param: BytesOption = "",
    optimizer: OptimizerOption = "",
    checkpoint_every: EveryOption = "",
    keep: KeepOption = "",
    compare: CompareOption = "",
    on_premises: OwnOption = "",
    retrain_per_year: RetrainOption = "",
    quoted_price: QuotedOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Estimate a run before it starts: low, expected and high."""
    with errors_told(format_):
        from bot.use_cases.estimate import PlanTexts, read_plan
        from bot.views.estimate_document import estimate_document
        from bot.views.estimate_text import estimate_text
        from bot.wiring.application import open_application

        with open_application(config) as application:
            texts = PlanTexts(
                instance_type=instance_type, count=count, hours=hours, purchase=purchase,
                region=region or application.default_region, job=job,
                is_time_limit=time_limit, deadline=deadline,
                is_interruptible=interruptible, stage=stage, model_params=model_params,
                bytes_per_param=bytes_per_param, optimizer=optimizer,
                checkpoint_every=checkpoint_every, keep=keep, compare=compare,
                on_premises=on_premises, retrain_per_year=retrain_per_year,
                quoted_price=quoted_price,
            )  # fmt: skip
            answer = application.estimate(read_plan(texts, application.now()))
        emit(format_, estimate_document(answer), lambda: estimate_text(answer))


def estimates(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """Judge past estimates by what their jobs cost."""
    with errors_told(format_):
        from bot.views.estimate_score import score_document, score_text
        from bot.wiring.application import open_application
        from bot.wiring.outlook import judged

        with open_application(config) as application:
            past = judged(application)
        emit(format_, score_document(past), lambda: score_text(past))


def forecast(
    team: Annotated[str, typer.Option(help="Only this team.")] = "",
    job: Annotated[str, typer.Option(help="Only this job.")] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Forecast what the month will have cost at its end, against budgets."""
    if team and job:
        fail(
            format_, "give --team or --job, not both",
            code="bad_usage", exit_code=USAGE,
        )  # fmt: skip
    with errors_told(format_):
        from bot.views.forecast import forecast_document, forecast_text
        from bot.wiring.application import open_application
        from bot.wiring.outlook import forecast as outlook

        with open_application(config) as application:
            answer = outlook(application, team=team, job=job)
        emit(format_, forecast_document(answer), lambda: forecast_text(answer))


def anomalies(
    team: Annotated[str, typer.Option(help="Only this team.")] = "",
    since: SinceOption = "",
    until: UntilOption = "",
    floor: Annotated[
        str, typer.Option(help="Least dollars over the usual; default $100.")
    ] = "",
    no_aws: Annotated[
        bool, typer.Option("--no-aws", help="Do not ask AWS for its findings.")
    ] = False,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List days that cost far more than usual, and AWS's own findings."""
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from bot.use_cases.anomalies import AnomalyQuestion
        from bot.views.anomalies import anomalies_document, anomalies_text
        from bot.wiring.application import open_application
        from bot.wiring.outlook import anomalies as outlook
        from policies.core.quantities import parse_money

        question = AnomalyQuestion(
            since=first, until=last, team=team,
            floor=parse_money(floor) if floor else None,
        )  # fmt: skip
        with open_application(config) as application:
            answer = outlook(application, question, asks_aws=not no_aws)
        emit(format_, anomalies_document(answer), lambda: anomalies_text(answer))
