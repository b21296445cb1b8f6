"""Commands on approval requests."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import (
    GRANT_VARIABLE,
    ConfigOption,
    HoursOption,
    InstanceTypeOption,
    PurchaseOption,
    RegionOption,
)
from bot.cli.output import DENIED, PENDING, Format, FormatOption, emit, errors_told

approval = typer.Typer(
    help="Ask for approval of a run, and decide.", no_args_is_help=True
)
ReasonOption = Annotated[str, typer.Option(help="Why; shown to the approvers.")]
IdArgument = Annotated[str, typer.Argument(help="Such as apr-7k2m9q.")]


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.add_typer(approval, name="approval")


@approval.command()
def request(
    job: Annotated[str, typer.Option(help="Job id the run will have.")],
    instance_type: Annotated[str, typer.Option(help="Such as p5.48xlarge.")],
    count: Annotated[int, typer.Option(help="Instances at once.")],
    hours: Annotated[str, typer.Option(help="Planned productive hours.")],
    requester: Annotated[str, typer.Option(help="E-mail of who asks.")],
    reason: ReasonOption,
    purchase: Annotated[str, typer.Option(help="on-demand, spot, …")] = "on-demand",
    region: Annotated[str, typer.Option(help="Default: the configured region.")] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Ask for approval of a run; equal requests are one."""
    with errors_told(format_):
        from bot.use_cases.estimate import plan_of
        from bot.wiring.application import open_application

        with open_application(config) as application:
            plan = plan_of(
                instance_type=instance_type, count=count, hours=hours, purchase=purchase,
                region=region or application.default_region, job=job, is_time_limit=False,
            )  # fmt: skip
            stored = application.desk.file_from_cli(
                plan, requester=requester, reason=reason
            )
            show_request(application, stored, format_)
    leave(stored.state.value)


@approval.command()
def show(
    id_: IdArgument, config: ConfigOption = "", format_: FormatOption = Format.TABLE
) -> None:
    """Show one request."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            show_request(application, application.approval(id_), format_)


@approval.command(name="list")
def list_(
    state: Annotated[str, typer.Option(help="Only requests in this state.")] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """List requests, newest first."""
    with errors_told(format_):
        from bot.views import documents, terminal
        from bot.wiring.application import open_application

        with open_application(config) as application:
            requests = application.approvals(state)
            names = application.names(requests)
            currency = application.currency
            document = {
                "requests": [
                    documents.approval_document(
                        one, names, currency, grant=application.grant_token(one)
                    )
                    for one in requests
                ]
            }
        emit(format_, document, lambda: terminal.approvals_text(requests, names))


@approval.command()
def wait(
    id_: IdArgument,
    timeout: Annotated[str, typer.Option(help="Such as 30m; 0s asks once.")] = "24h",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Wait until a request is decided."""
    with errors_told(format_):
        from bot.wiring.application import open_application
        from policies.core.quantities import parse_duration

        with open_application(config) as application:
            stored = application.desk.wait(
                id_, parse_duration(timeout, allow_zero=True)
            )
            show_request(application, stored, format_)
    leave(stored.state.value)


@approval.command()
def cancel(
    id_: IdArgument, config: ConfigOption = "", format_: FormatOption = Format.TABLE
) -> None:
    """Withdraw a request that is still pending."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            show_request(application, application.desk.cancel(id_), format_)


@approval.command()
def approve(
    id_: IdArgument,
    reason: ReasonOption = "",
    as_: Annotated[
        str, typer.Option("--as", help="E-mail; only under approvals.cli: trusted.")
    ] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Approve a request as the authenticated caller."""
    _vote(id_, "approve", reason, as_, config, format_)


@approval.command()
def deny(
    id_: IdArgument,
    reason: ReasonOption,
    as_: Annotated[
        str, typer.Option("--as", help="E-mail; only under approvals.cli: trusted.")
    ] = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Deny a request as the authenticated caller; the reason is shown."""
    _vote(id_, "deny", reason, as_, config, format_)


@approval.command()
def verify(
    grant: Annotated[
        str,
        typer.Option(envvar=GRANT_VARIABLE, help="The grant of an approved request."),
    ],
    job: Annotated[str, typer.Option(help="Job id the launch has.")],
    instance_type: InstanceTypeOption,
    count: Annotated[int, typer.Option(help="Instances to start now.")],
    hours: HoursOption,
    purchase: PurchaseOption = "on-demand",
    region: RegionOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Tell whether a grant covers a launch; nothing is started or recorded."""
    with errors_told(format_):
        from bot.use_cases.estimate import plan_of
        from bot.views import documents
        from bot.wiring.application import open_application

        with open_application(config) as application:
            plan = plan_of(
                instance_type=instance_type, count=count, hours=hours, purchase=purchase,
                region=region or application.default_region, job=job, is_time_limit=False,
            )  # fmt: skip
            found = application.grants.verify(grant, plan)
        told = f"not covered: {found.reason}" if found.reason else "covered"
        emit(format_, documents.coverage_document(found.reason), lambda: told)
    if not found.is_covered:
        raise typer.Exit(DENIED)


def _vote(
    id_: str, verdict: str, reason: str, as_: str, config: str, format_: Format
) -> None:
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            stored = application.desk.vote_from_cli(
                id_, verdict, reason=reason, as_email=as_
            )
            show_request(application, stored, format_)
    leave(stored.state.value)


def show_request(application: object, request_: object, format_: Format) -> None:
    """Print one request."""
    from bot.views import documents, terminal
    from bot.wiring.application import Application
    from policies.core.approvals import ApprovalRequest

    assert isinstance(application, Application)
    assert isinstance(request_, ApprovalRequest)
    names = application.names([request_])
    emit(
        format_,
        documents.approval_document(
            request_,
            names,
            application.currency,
            grant=application.grant_token(request_),
        ),
        lambda: terminal.approval_text(request_, names),
    )


def leave(state: str) -> None:
    """Leave with the exit code of a state: denied and expired 3, waiting 4."""
    if state in {"pending", "needs-info"}:
        raise typer.Exit(PENDING)
    if state != "approved":
        raise typer.Exit(DENIED)
