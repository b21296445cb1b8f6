"""What a digest says besides cost: what moved it, leaks, waivers, what was saved. Values."""

from __future__ import annotations

from dataclasses import dataclass

from billing.core.estimate_history import Score
from billing.core.leaks import LeakFound
from billing.core.money import Money
from policies.core.waivers import Waiver


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    """One job or bucket and how much it moved the total."""

    key: str
    moved: Money
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What actions spared; an estimate, never part of any cost.

    Attributes:
        amount: Of the actions whose rate is known.
        actions: Actions that were done.
        denied: Of those, how many somebody called Not idle: they count nothing.
        unpriced: Of those, how many have an unknown price.
    """

    amount: Money
    actions: int
    denied: int = 0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestExtras:
    """What a digest says besides cost.

    Attributes:
        leaks: What was avoidable, the dearest first.
        leaks_missing: How many kinds of leaks could not be judged whole.
        waivers: Those that hold now.
        denied: How many findings people called Not idle in the span.
        score: How good past estimates were; None for a team's digest.
    """

    leaks: tuple[LeakFound, ...]
    leaks_missing: int
    waivers: tuple[Waiver, ...]
    denied: int
    saved: Saved
    score: Score | None = None
