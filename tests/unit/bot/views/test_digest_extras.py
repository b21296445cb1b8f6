"""What a digest says besides cost; a diff is the review."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from inline_snapshot import snapshot

from billing.core.estimate_history import Score
from billing.core.leaks import Leak, LeakFound
from bot.views.digest import digest
from bot.views.digest_extras import mover_line
from bot.views.digest_values import DigestExtras, Mover, Saved
from tests.builders import usd
from tests.builders_bot import NOW, PEOPLE, drawn, make_digest
from tests.unit.bot.views.test_outlook_answers import make_waiver


def make_extras(**changes: object) -> DigestExtras:
    extras = DigestExtras(
        leaks=(
            LeakFound(leak=Leak.IDLE, amount=usd("1320.96"), evidence=()),
            LeakFound(
                leak=Leak.RESTARTS, amount=usd("400"), evidence=(), missing="progress"
            ),
        ),
        leaks_missing=1,
        waivers=(make_waiver(),),
        denied=2,
        saved=Saved(amount=usd("812.4"), actions=5, denied=1, unpriced=1),
        score=Score(judged=10, waiting=1, within=8, median_error=Fraction(1, 10)),
    )
    return replace(extras, **changes)  # type: ignore[arg-type]


def _last(answer: DigestExtras, now: datetime = NOW) -> str:
    return drawn(
        digest(replace(make_digest(), extras=answer), people=PEOPLE, now=now)[-1]
    )


def test_details_stand_in_the_thread() -> None:
    assert _last(make_extras()) == snapshot("""\
Details of GPU costs 2026-W48
------
*Avoidable*
• *$1,320.96* idle and boot: stop instances that wait; start from an image that
   holds everything
• *at least $400.00* work lost at restarts: write checkpoints more often, and resume
   from the newest
• 1 leak could not be judged whole
*Waivers in force*
• `stop-idle-gpus` on `job-123` until 4 Dec 2026 00:00 UTC: profiling until friday
*Saved by policies*: about $812.40 by 3 actions, an estimate: at most a day each,
   until the machine came back. Not counted: 1 called not idle, 1 without a known
   price.
*Called not idle*: 2 findings. A policy may be too eager.
*Estimates*: 8 of 10 runs cost between low and high (80 %, 80 % is meant), the
   expected value was off by 10 % in the median.\
""")


def test_a_week_in_which_nothing_happened_has_no_thread() -> None:
    extras = make_extras(
        leaks=(), leaks_missing=0, waivers=(), denied=0, score=None,
        saved=Saved(amount=usd("0"), actions=0),
    )  # fmt: skip
    messages = digest(replace(make_digest(), extras=extras), people=PEOPLE, now=NOW)

    assert len(messages) == 1


def test_actions_that_nobody_can_price_are_not_called_zero() -> None:
    extras = make_extras(saved=Saved(amount=usd("0"), actions=1, unpriced=1))

    assert "nothing that can be told" in _last(extras)
    assert "about $0" not in _last(extras)


def test_what_moved_the_total_is_named() -> None:
    movers = (
        Mover(key="job-123", moved=usd("2000"), is_new=False),
        Mover(key="job-200", moved=usd("430"), is_new=True),
        Mover(key="bucket:idle", moved=usd("-90.5"), is_new=False),
        Mover(key="job-9", moved=usd("0"), is_new=False),
    )

    assert mover_line(movers) == snapshot(
        "Mostly: job-123 (+$2,000.00), job-200 (new, +$430.00), (idle capacity) (-$90.50)."
    )
    assert mover_line(movers[3:]) == ""
