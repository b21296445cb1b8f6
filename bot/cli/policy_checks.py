"""Commands that try policies out: test, diff, explain, backtest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import ConfigOption, days_option
from bot.cli.output import FAILED, USAGE, Format, FormatOption, emit, errors_told, fail


def register(policy: typer.Typer) -> None:
    """Add these to the commands on policies."""
    policy.command(name="test")(run_tests)
    policy.command()(diff)
    policy.command()(explain)
    policy.command()(backtest)


def run_tests(
    paths: Annotated[
        list[Path], typer.Argument(help="Policies and *.test.yaml, files or folders.")
    ],
    format_: FormatOption = Format.TABLE,
) -> None:
    """Run the table tests that lie beside policies; exit 1 when one fails."""
    with errors_told(format_):
        from bot.views.policy_checks import tests_document, tests_text
        from policies.core.casebook import run_case
        from policies.load import load_casebooks, load_policies

        policies, errors = load_policies(paths)
        books, more = load_casebooks(paths)
        if errors or more:
            message = "\n".join(str(error) for error in (*errors, *more))
            fail(format_, message, code="invalid_policies", exit_code=USAGE)
        tested = [
            (file, run_case(case, policies))
            for file, book in books
            for case in book.tests
        ]
        if not tested:
            fail(
                format_, "no tests were found", code="no_tests", exit_code=USAGE,
                hint="name a file such as idle.test.yaml, or the folder it lies in",
            )  # fmt: skip
        emit(format_, tests_document(tested), lambda: tests_text(tested))
    if any(one.differences for _, one in tested):
        raise typer.Exit(FAILED)


def diff(
    old: Annotated[Path, typer.Argument(help="Policies in force, file or folder.")],
    new: Annotated[Path, typer.Argument(help="Policies to come, file or folder.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show what a change of policies changes: in their keys, and in what is found now."""
    with errors_told(format_):
        from bot.views.policy_checks import diff_document, diff_text
        from bot.wiring.application import open_application
        from policies.core.comparing import finding_changes, key_changes
        from policies.core.evaluate import evaluate

        with open_application(config) as application:
            before = application.load_policies([old])
            after = application.load_policies([new])
            now = application.now()
            facts = application.facts([*before, *after])
        keys = key_changes(before, after)
        findings = finding_changes(
            evaluate(before, facts, now), evaluate(after, facts, now)
        )
        emit(format_, diff_document(keys, findings), lambda: diff_text(keys, findings))


def explain(
    subject: Annotated[str, typer.Argument(help="A job, an instance or a team.")],
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Default: GPUCOST_POLICIES.")
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Say of every policy what it makes of one subject, and what decided."""
    with errors_told(format_):
        from bot.views.policy_explained import explained_document, explained_text
        from bot.wiring.application import open_application
        from policies.core.explained import UnknownSubjectError, explained

        with open_application(config) as application:
            policies = application.load_policies(paths)
            facts = application.facts(policies)
            answer = explained(policies, facts, subject, application.now())
        if answer is None:
            raise UnknownSubjectError(subject, facts)
        emit(format_, explained_document(answer), lambda: explained_text(answer))


def backtest(
    path: Annotated[Path, typer.Argument(help="Policies, file or folder.")],
    since: Annotated[str, typer.Option(help="First UTC day, such as 2026-10-01.")],
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Replay policies over what is stored: fires, subjects, dollars at stake, actions."""
    first, _ = days_option(format_, since, "")
    assert first is not None
    with errors_told(format_):
        from bot.views.backtest import backtest_document, backtest_text
        from bot.wiring.application import open_application
        from bot.wiring.backtest import run_backtest

        with open_application(config) as application:
            policies = application.load_policies([path])
            replays, period = run_backtest(application, policies, first)
            currency = application.currency
        emit(
            format_,
            backtest_document(replays, period.start, period.end, currency),
            lambda: backtest_text(replays, period.start, period.end),
        )
