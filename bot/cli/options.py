"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

import typer

from bot.cli.output import USAGE, Format, fail

ConfigOption = Annotated[
    str,
    typer.Option(
        "--config", envvar="GPUCOST_CONFIG", help="Configuration file (YAML)."
    ),
]
SinceOption = Annotated[
    str, typer.Option("--since", help="First UTC billing day, inclusive (2026-11-01).")
]
UntilOption = Annotated[
    str, typer.Option("--until", help="Last UTC billing day, exclusive; default now.")
]
#: Where `gpucost run` puts the grant, for what it starts.
GRANT_VARIABLE = "GPUCOST_GRANT"
InstanceTypeOption = Annotated[str, typer.Option(help="Such as p5.48xlarge.")]
HoursOption = Annotated[str, typer.Option(help="Planned productive hours of the run.")]
PurchaseOption = Annotated[str, typer.Option(help="on-demand, spot, …")]
RegionOption = Annotated[str, typer.Option(help="Default: the configured region.")]


def day_option(chosen: Format, name: str, text: str) -> date | None:
    """Read a day, or an instant cut to its UTC day; None when not given."""
    if not text:
        return None
    try:
        if len(text) == len("2026-11-01"):
            return date.fromisoformat(text)
        instant = datetime.fromisoformat(text)
        return (
            (instant if instant.tzinfo else instant.replace(tzinfo=UTC))
            .astimezone(UTC)
            .date()
        )
    except ValueError:
        fail(
            chosen, f"{name} must be a day such as 2026-11-01, got {text!r}",
            code="bad_usage", exit_code=USAGE,
        )  # fmt: skip


def days_option(
    chosen: Format, since: str, until: str
) -> tuple[date | None, date | None]:
    """Read ``--since`` and ``--until``; the second must be the later one."""
    first = day_option(chosen, "--since", since)
    last = day_option(chosen, "--until", until)
    if first is not None and last is not None and last <= first:
        fail(
            chosen,
            f"--until must be a day after --since, got {first} to {last}",
            code="bad_usage",
            hint="--until is exclusive: name the day after the last one",
            exit_code=USAGE,
        )
    return first, last


def one_of(chosen: Format, name: str, text: str, known: tuple[str, ...]) -> None:
    """Refuse anything but one of the known words; "" may be among them."""
    if text not in known:
        names = ", ".join(word for word in known if word)
        fail(
            chosen, f"{name} must be one of {names}, got {text!r}",
            code="bad_usage", exit_code=USAGE,
        )  # fmt: skip
