"""The commands of jobs: list them, and import where they ran."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, one_of
from bot.cli.output import (
    FAILED,
    USAGE,
    Format,
    FormatOption,
    emit,
    errors_told,
    fail,
)

JOB_FROM = ("jobid", "jobname", "comment", "wckey")

family = typer.Typer(
    help="List jobs with what they cost and hold; import where they ran.",
    invoke_without_command=True,
)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(family, name="jobs")


@family.callback()
def jobs(
    context: typer.Context,
    since: SinceOption = "",
    until: UntilOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List jobs with what they cost and hold; import where they ran."""
    if context.invoked_subcommand is None:
        from bot.cli.costs import jobs as listed

        listed(since, until, config, format_)


@family.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="What the scheduler's report is in.")],
    timezone: Annotated[
        str,
        typer.Option(help="Zone of times without an offset, such as Europe/Berlin."),
    ],
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Output of sacct --parsable2.")
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="job,resource_id (or host),start,end,gpus.")
    ] = False,
    job_from: Annotated[
        str, typer.Option(help=f"What names the job: {', '.join(JOB_FROM)} (Slurm).")
    ] = "jobid",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Import which job held which GPUs when; what is known already changes nothing."""
    if slurm == csv:
        fail(
            format_, "name the kind of file: either --slurm or --csv",
            code="bad_usage", exit_code=USAGE,
        )  # fmt: skip
    one_of(format_, "--job-from", job_from, JOB_FROM)
    with errors_told(format_):
        from billing.core.placements import PlacementSource
        from bot.views.placements import import_document, import_text
        from bot.wiring.application import open_application
        from bot.wiring.placements import import_file, zone_named

        zone = zone_named(timezone)
        with open_application(config) as application:
            done = import_file(
                application.store,
                file,
                PlacementSource.SLURM if slurm else PlacementSource.CSV,
                zone,
                job_from=job_from,  # type: ignore[arg-type] # one of JOB_FROM
                now=application.now(),
            )
        emit(format_, import_document(done), lambda: import_text(done))
    if done.skipped and not done.imported:
        raise typer.Exit(FAILED)
