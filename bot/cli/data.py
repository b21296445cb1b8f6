"""Commands that fill and keep the ledger: ingest, db."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import ConfigOption, SinceOption, UntilOption, days_option
from bot.cli.output import (
    FAILED,
    USAGE,
    Format,
    FormatOption,
    emit,
    errors_told,
    fail,
)
from bot.cli.progress import told


class IngestSource(StrEnum):
    """What `ingest` can read in this version."""

    COST_EXPLORER = "cost-explorer"
    INVENTORY = "inventory"
    PRICES = "prices"
    EXPORTS = "exports"
    METRICS = "metrics"
    ALL = "all"


db = typer.Typer(help="Keep the database.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(ingest)
    app.add_typer(db, name="db")


def ingest(
    source: Annotated[
        IngestSource, typer.Option("--source", help="Which source to read.")
    ] = IngestSource.ALL,
    since: SinceOption = "",
    until: UntilOption = "",
    full: Annotated[
        bool, typer.Option("--full", help="Read every day in detail, moved or not.")
    ] = False,
    path: Annotated[
        str, typer.Option("--path", help="Folder or file of one export to read.")
    ] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Read the bill, the fleet and prices into the ledger."""
    first, last = days_option(format_, since, until)
    if path and source is not IngestSource.EXPORTS:
        fail(
            format_, f"--path is of --source exports, not of {source.value}",
            code="bad_usage", exit_code=USAGE,
        )  # fmt: skip
    with errors_told(format_):
        from bot.use_cases.ingest import Reach
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application, told() as progress:
            outcome = application.intake.read(
                source.value,
                Reach(since=first, until=last, is_full=full),
                path=path,
                progress=progress,
            )
        document = documents.ingest_document(outcome.imports, outcome.errors)
        document["tag_keys"] = documents.tag_keys_document(outcome.tag_keys)
        document["notes"] = [*outcome.notes]
        emit(format_, document, lambda: terminal.ingest_text(outcome))
    if outcome.has_failed:
        raise typer.Exit(FAILED)


@db.command()
def upgrade(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """Bring the database schema to this version."""
    with errors_told(format_):
        from bot.wiring.application import upgrade_database

        before, after = upgrade_database(config)
        emit(
            format_,
            {"before": before, "after": after},
            lambda: f"schema {before or 'none'} -> {after}",
        )


@db.command()
def backup(
    out: Annotated[str, typer.Option("--out", help="New file to write.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Write everything stored to one file, while others work on."""
    with errors_told(format_):
        from bot.wiring.backup import backup_to

        document = backup_to(config, Path(out))
        emit(
            format_, document, lambda: f"{out}: everything as of {document['taken_at']}"
        )


@db.command()
def restore(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A backup.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Put a backup in place of everything stored, and pause actions."""
    with errors_told(format_):
        from bot.views.backup import restored_text
        from bot.wiring.backup import restore_from

        document = restore_from(config, Path(path)).document()
        emit(format_, document, lambda: restored_text(path, document))


@db.command()
def check(config: ConfigOption = "", format_: FormatOption = Format.TABLE) -> None:
    """Prove on the stored data that sums, rollups and the audit chain hold."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application:
            checks = application.check_database()
        emit(
            format_,
            documents.checks_document(checks),
            lambda: terminal.checks_text(checks),
        )
    if any(one.ok is False for one in checks):
        raise typer.Exit(FAILED)
