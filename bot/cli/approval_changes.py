"""Commands that change requests before and after they are decided."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Annotated

import typer

from billing.core.errors import GpucostError
from bot.cli.approvals import IdArgument, approval, leave, show_request
from bot.cli.options import ConfigOption
from bot.cli.output import Format, FormatOption, emit, errors_told

AsOption = Annotated[
    str, typer.Option("--as", help="E-mail; only under approvals.cli: trusted.")
]


class BadChangeError(GpucostError, ValueError):
    """A change cannot be read; nothing was changed."""

    code = "bad_change"
    exit_code = 2


def register(app: typer.Typer) -> None:
    """Add this family to the command line: it belongs to `gpucost approval`."""
    del app


@approval.command()
def ask(
    id_: IdArgument,
    question: Annotated[str, typer.Option(help="What you need to know.")],
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Send a request back with a question; it waits for the answer."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            changes = application.desk.changes
            moved = changes.ask_back(id_, question, by=changes.speaker(as_))
            show_request(application, moved, format_)
    leave(moved.state.value)


@approval.command()
def answer(
    id_: IdArgument,
    text: Annotated[str, typer.Option(help="The answer.")],
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Answer the question your request was sent back with."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            changes = application.desk.changes
            moved = changes.answer(id_, text, by=changes.speaker(as_).person_id)
            show_request(application, moved, format_)
    leave(moved.state.value)


@approval.command()
def edit(
    id_: IdArgument,
    instance_type: Annotated[str, typer.Option(help="Such as p5.48xlarge.")] = "",
    count: Annotated[int | None, typer.Option(help="Instances at once.")] = None,
    hours: Annotated[str, typer.Option(help="Planned productive hours.")] = "",
    purchase: Annotated[str, typer.Option(help="on-demand, spot, …")] = "",
    region: Annotated[str, typer.Option(help="Such as us-east-1.")] = "",
    reason: Annotated[
        str, typer.Option(help="Why; in place of the reason given.")
    ] = "",
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Change what your request asks for: a new version that nobody has approved."""
    with errors_told(format_):
        from bot.wiring.application import open_application
        from bot.wiring.request_desk import Edits

        edits = Edits(
            instance_type=instance_type, count=count, hours=_hours(hours),
            purchase=_purchase(purchase), region=region, reason=reason,
        )  # fmt: skip
        with open_application(config) as application:
            changes = application.desk.changes
            moved = changes.edit(id_, edits, by=changes.speaker(as_).person_id)
            show_request(application, moved, format_)
    leave(moved.state.value)


@approval.command()
def reassign(
    id_: IdArgument,
    to: Annotated[list[str], typer.Option(help="E-mail of an approver; repeatable.")],
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Ask certain approvers to decide; who may decide stays the same."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            changes = application.desk.changes
            moved = changes.reassign(id_, to, by=changes.speaker(as_))
            show_request(application, moved, format_)
    leave(moved.state.value)


@approval.command()
def supersede(
    id_: IdArgument,
    by: Annotated[str, typer.Option("--by", help="The request that takes its place.")],
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """End your request, and its grant, because another one took its place."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            changes = application.desk.changes
            speaker = changes.speaker(as_).person_id
            moved = changes.supersede(id_, by, by=speaker)
            show_request(application, moved, format_)


@approval.command(name="break-glass")
def break_glass(
    id_: IdArgument,
    reason: Annotated[str, typer.Option(help="Why it cannot wait; posted.")],
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Approve alone in an emergency, if the policy names you; loud and on record."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            moved = application.desk.changes.break_glass(id_, reason, as_email=as_)
            show_request(application, moved, format_)
    leave(moved.state.value)


@approval.command()
def delegate(
    to: Annotated[str, typer.Option(help="E-mail of who speaks for you.")],
    until: Annotated[
        str, typer.Option(help="A duration such as 7d, or an instant with its zone.")
    ],
    since: Annotated[str, typer.Option(help="Likewise; default: now.")] = "",
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Let somebody speak for you while you are away; takes the place of an earlier one."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            now = application.now()
            made = application.desk.changes.delegate(
                to, since=_instant("since", since, now) if since else None,
                until=_instant("until", until, now), as_email=as_,
            )  # fmt: skip
        document = {
            "id": made.delegation_id,
            "since": made.since.isoformat(),
            "until": made.until.isoformat(),
        }
        told = f"{to} speaks for you until {made.until:%Y-%m-%d %H:%M} UTC"
        emit(format_, document, lambda: told)


@approval.command()
def undelegate(
    as_: AsOption = "",
    config: ConfigOption = "",
    format_: FormatOption = Format.TABLE,
) -> None:
    """Speak for yourself again, from now on."""
    with errors_told(format_):
        from bot.wiring.application import open_application

        with open_application(config) as application:
            ended = application.desk.changes.undelegate(as_email=as_)
        told = "you speak for yourself again" if ended else "nobody spoke for you"
        emit(format_, {"ended": ended}, lambda: told)


@approval.command()
def delegations(
    config: ConfigOption = "", format_: FormatOption = Format.TABLE
) -> None:
    """List who speaks for whom, now or later."""
    with errors_told(format_):
        from bot.views.approval_documents import (
            delegations_document,
            delegations_text,
        )
        from bot.wiring.application import open_application

        with open_application(config) as application:
            found = application.desk.changes.delegations()
            names = application.desk.changes.names(found)
        emit(
            format_,
            delegations_document(found, names),
            lambda: delegations_text(found, names),
        )


def _instant(option: str, text: str, now: datetime) -> datetime:
    from policies.core.quantities import QuantityError, parse_duration

    try:
        return now + parse_duration(text)
    except QuantityError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = datetime.min  # noqa: DTZ901 - without a zone, refused below
    if at.tzinfo is None:
        message = (
            f"--{option}: expected a duration such as 7d, or an instant with its zone,"
            f" got {text!r}"
        )
        raise BadChangeError(message)
    return at.astimezone(UTC)


def _hours(text: str) -> Fraction | None:
    if not text:
        return None
    try:
        hours = Fraction(text)
    except (ValueError, ZeroDivisionError):
        hours = Fraction(0)
    if hours <= 0:
        message = f"--hours: expected more than no time, such as 24, got {text!r}"
        raise BadChangeError(message)
    return hours


def _purchase(text: str) -> str:
    from billing.core.prices import Purchase

    names = [one.value for one in Purchase]
    if text and text not in names:
        message = f"--purchase: expected one of {', '.join(names)}, got {text!r}"
        raise BadChangeError(message)
    return text
