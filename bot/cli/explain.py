"""The command that shows how a figure came about."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.costs import METRICS
from bot.cli.options import (
    ConfigOption,
    SinceOption,
    UntilOption,
    days_option,
    one_of,
)
from bot.cli.output import Format, FormatOption, emit, errors_told

#: Lines of a table before "and N more"; JSON shows all unless told otherwise.
LINES_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command()(explain)


def explain(
    figure: Annotated[
        str,
        typer.Argument(
            help="A job or a figure: job-123, job-123:compute, job-123@2026-11-12, "
            "bucket:idle, team:nlp, account:012345678901, all."
        ),
    ],
    since: SinceOption = "",
    until: UntilOption = "",
    metric: Annotated[
        str, typer.Option(help="effective, billed or list.")
    ] = "effective",
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Lines at most; default 20, in JSON all."),
    ] = None,
    offset: Annotated[int, typer.Option(min=0, help="Lines to skip.")] = 0,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show how a figure came about: its charges, prices, rules and freshness."""
    one_of(format_, "--metric", metric, METRICS)
    first, last = days_option(format_, since, until)
    with errors_told(format_):
        from billing.core.charges import Metric
        from bot.views.explain_document import explanation_document
        from bot.views.explain_terminal import explanation_text
        from bot.views.explain_words import Page
        from bot.wiring.application import open_application
        from bot.wiring.explain import Wanted
        from bot.wiring.explain import explain as explained_by

        wanted = Wanted(figure=figure, since=first, until=last, metric=Metric(metric))
        with open_application(config) as application:
            explained = explained_by(application, wanted)
        shown = limit or (LINES_SHOWN if format_ is Format.TABLE else None)
        page = Page(offset=offset, limit=shown)
        emit(
            format_,
            explanation_document(explained, page),
            lambda: explanation_text(explained, page),
        )
