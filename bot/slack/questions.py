"""One command, read: what the grammar returns and every answer is asked with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, time, tzinfo
from fractions import Fraction

from bot.slack.windows import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When somebody asks, and by which calendar."""

    now: datetime
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What somebody plans to run, as typed.

    Attributes:
        region: "" for the configured one.
        extras: Further options by name, sorted; a flag has the value "".
    """

    instance_type: str
    count: int
    hours: Fraction
    purchase: str = "on-demand"
    region: str = ""
    job: str = ""
    reason: str = ""
    is_time_limit: bool = False
    extras: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """When somebody wants digests, and of whom.

    Attributes:
        every: ``day``, ``week`` or ``month``.
        weekday: Of a weekly one; Monday is 0.
        team: "" for everything.
    """

    every: str
    weekday: int
    at: time
    team: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One command, read.

    Attributes:
        verb: ``menu`` or one of ``VERBS``.
        target: Job, figure, team, account, ISO week, item or reason, by verb; ""
            when none.
        by: Breakdown of ``top``; ``team`` or ``job`` of ``forecast``.
        window: None when none was typed.
        job: Whom a confirmed item belongs to; the second one of ``compare``.
        page: Of a list with more lines than one message shows; 1 is the first.
        near: Verbs that a mistyped job name may have meant.
        wish: Of ``subscribe``.
        said: The words of a window that depends on the asker's calendar; "" else.
    """

    verb: str
    target: str = ""
    by: str = ""
    window: Window | None = None
    run: Run | None = None
    wish: Wish | None = None
    job: str = ""
    page: int = 1
    near: tuple[str, ...] = ()
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadQuestion:
    """Everything that is wrong with a command, and what may have been meant."""

    problems: tuple[str, ...]
    near: tuple[str, ...] = ()
