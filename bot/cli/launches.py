"""`gpucost run`: start a command once its approval covers it."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from bot.cli.options import (
    GRANT_VARIABLE,
    ConfigOption,
    HoursOption,
    InstanceTypeOption,
    PurchaseOption,
    RegionOption,
)
from bot.cli.output import DENIED, PENDING, USAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from billing.core.errors import GpucostError
    from bot.settings import Settings
    from bot.wiring.launcher import Wish


#: An import may hold the database for longer than one wait of five seconds.
BUSY_TRIES = 6


class WhenDown(StrEnum):
    """What to do while gpucost cannot be asked."""

    CLOSED = "closed"
    OPEN = "open"
    OVER_LIMIT = "over-limit"


ReasonOption = Annotated[str, typer.Option(help="Why; shown to the approvers.")]
RequesterOption = Annotated[
    str, typer.Option(help="E-mail of who asks; default: the caller.")
]
GrantOption = Annotated[
    str,
    typer.Option(envvar=GRANT_VARIABLE, help="Use this grant, ask for none."),
]
TimeoutOption = Annotated[
    str, typer.Option(help="How long to wait for a decision; 0s asks once.")
]
WhenDownOption = Annotated[
    WhenDown,
    typer.Option(
        help="Without gpucost's database: start nothing, all, or what no policy limits."
    ),
]


def register(app: typer.Typer) -> None:
    """Add this family to the command line."""
    app.command(context_settings={"allow_interspersed_args": False})(run)


def run(
    command: Annotated[
        list[str], typer.Argument(help="What to start, after --.", metavar="CMD…")
    ],
    job: Annotated[str, typer.Option(help="Job id the run has.")],
    instance_type: InstanceTypeOption,
    count: Annotated[int, typer.Option(help="Instances at once.")],
    hours: HoursOption,
    purchase: PurchaseOption = "on-demand",
    region: RegionOption = "",
    reason: ReasonOption = "started with gpucost run",
    requester: RequesterOption = "",
    grant: GrantOption = "",
    timeout: TimeoutOption = "24h",
    when_down: WhenDownOption = WhenDown.CLOSED,
    config: ConfigOption = "",
) -> None:
    """Start a command once an approval covers it, and return its exit code.

    Asks for approval of the run, or uses the one there is, waits for the decision, and
    starts CMD with the grant in GPUCOST_GRANT. Signals go to CMD. When it is not
    started, the last line says why and the exit code is 3 (denied, expired, not
    covered) or 4 (nobody decided in time).
    """
    from billing.core.errors import GpucostError
    from bot.ports import SlackFailedError

    try:
        from bot.settings import load_settings
        from bot.use_cases.estimate import plan_of
        from bot.wiring.launcher import Wish, check_command
        from bot.wiring.parts import default_region
        from policies.core.quantities import parse_duration

        check_command(command)
        settings = load_settings(config)
        plan = plan_of(
            instance_type=instance_type, count=count, hours=hours, purchase=purchase,
            region=region or default_region(settings), job=job, is_time_limit=False,
        )  # fmt: skip
        wish = Wish(
            command=command, plan=plan, grant=grant, requester=requester, reason=reason,
            timeout=parse_duration(timeout, allow_zero=True),
        )  # fmt: skip
        code = _started(config, settings, wish, when_down)
    except SlackFailedError as error:
        _not_started(f"Slack could not be asked: {error.code}", DENIED)
    except GpucostError as error:
        _not_started("; ".join(filter(None, (str(error), error.hint))), _code_of(error))
    raise typer.Exit(code)


def _started(config: str, settings: Settings, wish: Wish, when_down: WhenDown) -> int:
    """Start a command as approved, or as configured while that cannot be known."""
    from bot.wiring.application import open_application
    from bot.wiring.launcher import (
        DOWN,
        Launcher,
        NotStartedError,
        run_under_limit,
        run_unrecorded,
    )

    def attempt() -> int:
        with open_application(config) as application:
            return Launcher(desk=application.desk, say=_say).run(wish)

    try:
        return _patiently(attempt)
    except DOWN as error:
        if when_down is WhenDown.CLOSED:
            advice = "nothing can be checked; --when-down open starts it unchecked"
            raise NotStartedError(f"{error}: {advice}") from error
        _say(f"{error}")
        if when_down is WhenDown.OVER_LIMIT:
            return run_under_limit(settings, wish, _say)
        return run_unrecorded(settings, wish, _say)


def _patiently(attempt: Callable[[], int]) -> int:
    """Try again while an import holds the database: nothing was started yet."""
    from billing.ledger.database import DatabaseBusyError

    for _ in range(BUSY_TRIES - 1):
        with suppress(DatabaseBusyError):
            return attempt()
    return attempt()


def _code_of(error: GpucostError) -> int:
    """Return 2 for what was typed wrong, 4 while it waits, 3 for everything else."""
    exit_code = getattr(error, "exit_code", DENIED)
    if isinstance(error, ValueError):
        return USAGE
    return exit_code if exit_code in {USAGE, PENDING} else DENIED


def _say(text: str) -> None:
    from bot.views.terminal import clean

    typer.echo(f"gpucost: {clean('; '.join(text.splitlines()))}", err=True)


def _not_started(reason: str, exit_code: int) -> NoReturn:
    _say(f"not started: {reason}")
    raise typer.Exit(exit_code)
