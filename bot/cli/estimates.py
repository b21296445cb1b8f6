"""Commands about what is to come: estimate."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(estimate)


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
                is_interruptible=interruptible, stage=stage,
            )  # fmt: skip
            answer = application.estimate(read_plan(texts, application.now()))
        emit(format_, estimate_document(answer), lambda: estimate_text(answer))
