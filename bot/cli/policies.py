"""Commands on policies: validate, plan, apply, confirm, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import policy_checks
from bot.cli.options import ConfigOption
from bot.cli.output import FAILED, USAGE, Format, FormatOption, emit, errors_told, fail

policy = typer.Typer(
    help="Check policies and see what they would do.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    policy_checks.register(policy)
    app.add_typer(policy, name="policy")


@policy.command()
def validate(
    paths: Annotated[list[Path], typer.Argument(help="Policy files or folders.")],
    format_: FormatOption = Format.TABLE,
) -> None:
    """Check policy files; every error at once, each with its place."""
    with errors_told(format_):
        from bot.views.terminal import clean
        from policies.load import load_policies

        loaded, errors = load_policies(paths)
        document = {
            "policies": [one.name for one in loaded],
            "errors": [
                {
                    "file": str(error.file),
                    "line": error.line,
                    "column": error.column,
                    "policy": error.policy or None,
                    "message": error.text,
                }
                for error in errors
            ],
        }
        lines = [str(error) for error in errors] or [_loaded_text(len(loaded))]
        emit(format_, document, lambda: "\n".join(clean(line) for line in lines))
    if errors:
        raise typer.Exit(USAGE)


def _loaded_text(count: int) -> str:
    return f"{count} {'policy' if count == 1 else 'policies'}, no errors"


@policy.command()
def schema() -> None:
    """Print the JSON Schema of policy files, for editors."""
    from policies.load import json_schema

    typer.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@policy.command()
def plan(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Default: GPUCOST_POLICIES.")
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Show what the policies find right now and what they would do; change nothing."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application:
            policies = application.load_policies(paths)
            if not policies:
                fail(
                    format_, "no policies to plan", code="no_policies", exit_code=USAGE,
                    hint="name files, or set GPUCOST_POLICIES to a file or folder",
                )  # fmt: skip
            evaluation = application.plan(policies)
            currency = application.currency
        emit(
            format_,
            documents.plan_document(evaluation, currency),
            lambda: terminal.plan_text(evaluation),
        )
    if evaluation.refused and not evaluation.findings:
        raise typer.Exit(FAILED)


@policy.command()
def apply(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Default: GPUCOST_POLICIES.")
    ] = None,
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Evaluate as plan does, tell and warn, and do what is due and allowed by now."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.views.acting import outcomes_document, outcomes_text
        from bot.wiring.application import open_application

        with open_application(config) as application:
            policies = application.load_policies(paths)
            if not policies:
                fail(
                    format_, "no policies to apply", code="no_policies", exit_code=USAGE,
                    hint="name files, or set GPUCOST_POLICIES to a file or folder",
                )  # fmt: skip
            evaluation, outcomes = application.enforcing.apply(policies)
            currency = application.currency
            ended = [(one.action, one.state, one.reason) for one in outcomes]
        emit(
            format_,
            documents.plan_document(evaluation, currency) | outcomes_document(ended),
            lambda: terminal.plan_text(evaluation) + outcomes_text(ended),
        )


@policy.command()
def confirm(
    name: Annotated[str, typer.Argument(help="Name of a policy in force.")],
    as_: Annotated[
        str,
        typer.Option("--as", help="Whose word; only where approvals.cli is trusted."),
    ] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Say as an admin that a policy, exactly as it is written now, may act."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            state = application.enforcing.confirm(
                application.load_policies(None),
                name,
                as_email=as_,
                directory=application.desk.directory,
            )
        emit(
            format_,
            state,
            lambda: (
                f"{state['policy']} ({state['hash']}): confirmed by"
                f" {state['confirmed']} of {state['required']} admins"
            ),
        )
