"""Commands about what is to come: estimate, estimates, forecast, anomalies."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(estimate)
    app.command()(estimates)


def estimate(
    instance_type: Annotated[str, typer.Option(help="Such as p5.48xlarge.")],
    count: Annotated[int, typer.Option(help="Instances at once.")],
    hours: Annotated[
        str, typer.Option(help="Planned productive hours, such as 72 or 1.5.")
    ],
    purchase: Annotated[str, typer.Option(help="on-demand, spot, …")] = "on-demand",
    region: Annotated[str, typer.Option(help="Default: the configured region.")] = "",
    job: Annotated[str, typer.Option(help="Job id the run will have.")] = "",
    time_limit: Annotated[
        bool, typer.Option("--time-limit", help="The scheduler ends it at --hours.")
    ] = False,
    deadline: Annotated[
        str, typer.Option(help="When it must be done: 2026-12-05 or an instant (UTC).")
    ] = "",
    interruptible: Annotated[
        bool,
        typer.Option("--interruptible", help="It goes on from checkpoints on spot."),
    ] = False,
    stage: Annotated[str, typer.Option(help="experiment or production.")] = "",
    model_params: Annotated[
        str, typer.Option(help="Parameters of the model, such as 70B: checkpoints.")
    ] = "",
    bytes_per_param: Annotated[
        str, typer.Option(help="Of its weights; default 2.")
    ] = "",
    optimizer: Annotated[
        str, typer.Option(help="Saved with them: adam or none (default).")
    ] = "",
    checkpoint_every: Annotated[str, typer.Option(help="Default 30m.")] = "",
    keep: Annotated[
        str, typer.Option(help="How long a checkpoint is kept; default 7d.")
    ] = "",
    compare: Annotated[
        str, typer.Option(help="Compare with on-premises, managed, or both.")
    ] = "",
    on_premises: Annotated[
        str, typer.Option(help="'price=$300,000 kw=10.2 kwh=$0.10 utilisation=60% …'")
    ] = "",
    retrain_per_year: Annotated[
        str, typer.Option(help="How often it is run in a year.")
    ] = "",
    quoted_price: Annotated[
        str, typer.Option(help="Price of one instance and hour as AWS quoted it.")
    ] = "",
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
