"""Commands that run and check gpucost itself: serve, doctor, digest, pause, resume, audit."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import ConfigOption
from bot.cli.output import FAILED, Format, FormatOption, emit, errors_told

audit = typer.Typer(help="The record of who decided what.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    for command in (serve, doctor, digest, pause, resume):
        app.command()(command)
    app.add_typer(audit, name="audit")


def serve(config: ConfigOption = "") -> None:
    """Run Slack, schedules and HTTP until SIGTERM."""
    with errors_told(Format.TABLE):
        from bot.wiring.serving import serve as run

        run(config)


def doctor(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """Check credentials, permissions, tags, Slack, clock, schema and imports."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application:
            checks = application.doctor()
        emit(
            format_,
            documents.checks_document(checks),
            lambda: terminal.checks_text(checks),
        )
    if any(one.ok is False for one in checks):
        raise typer.Exit(FAILED)


def digest(
    channel: Annotated[str, typer.Option(help="Send it to this channel.")] = "",
    week: Annotated[str, typer.Option(help="ISO week, such as 2026-W48.")] = "",
    team: Annotated[str, typer.Option(help="Only this team.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print, send nothing.")
    ] = False,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Send (or print) the digest of a week of UTC billing days."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            outcome = application.digest(
                channel=channel, week=week, team=team, dry_run=dry_run
            )
        emit(format_, outcome.document, lambda: outcome.text)


def pause(
    reason: Annotated[str, typer.Option(help="Why; shown to everybody.")] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Stop every action of every replica, until resumed."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            state = application.pause(reason)
        emit(format_, state, lambda: f"paused by {state['by']} at {state['since']}")


def resume(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """Allow actions again."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            state = application.resume()
        emit(format_, state, lambda: "actions are allowed")


@audit.command()
def verify(
    head_: Annotated[
        str, typer.Option("--head", help="A hash that was posted, to hold it against.")
    ] = "",
    events: Annotated[int, typer.Option(help="Events that there were then.")] = 0,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Check the whole chain, also against heads that were posted of it."""
    with errors_told(format_):
        from bot.use_cases.auditing import against, read_head
        from bot.wiring.application import open_application

        then = read_head(events, head_) if head_ or events else None
        with open_application(config) as application:
            problems, count, head = application.verify_audit()
            if then is not None:
                with application.store.read() as unit:
                    problems = [*problems, *against(unit, [then])]
        emit(
            format_,
            {"events": count, "head": head, "problems": [*problems]},
            lambda: "\n".join(problems) or f"{count} events, the chain is whole",
        )
    if problems:
        raise typer.Exit(FAILED)


@audit.command()
def export(
    names: Annotated[
        bool, typer.Option("--names", help="Who the pseudonyms are, instead of events.")
    ] = False,
    after: Annotated[int, typer.Option(help="Only events after this number.")] = 0,
    config: ConfigOption = "",
) -> None:
    """Write the chain out as JSON lines: pseudonyms only; names are asked for apart."""
    with errors_told(Format.JSON):
        from bot.use_cases.auditing import exported, exported_names
        from bot.wiring.application import open_application

        with open_application(config) as application:
            store = application.store
            lines = exported_names(store) if names else exported(store, after=after)
            for line in lines:
                typer.echo(line)
