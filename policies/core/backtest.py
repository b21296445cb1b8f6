"""Replay policies over past facts: how often each would have fired, on what, at stake.

Given the facts of one instant after the other, findings open, last and end as they
would have; an action counts once its finding has been open for as long as its delay.
Pure: where past facts come from is someone else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from billing.core.money import Money
from policies.core.catalogue import Policy
from policies.core.evaluate import acts, evaluate
from policies.core.facts import Facts
from policies.core.finding import Finding
from policies.core.kinds.idle import IdlePolicy

#: Signals of which the past is kept, as hourly means.
KEPT_SIGNALS = frozenset({"gpu_utilization"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One finding from its opening to its end.

    Attributes:
        ended_at: When it was last found, plus one step; None when it was still open.
        cost_at_stake: The highest stated; None when never known.
        action: The first step that would have acted; "" when none would.
        acted_at: When it would have; None while its delay was not over.
    """

    policy: str
    subject: str
    job: str
    clause: str
    opened_at: datetime
    ended_at: datetime | None
    cost_at_stake: Money | None
    action: str = ""
    acted_at: datetime | None = None

    def lasted(self, until: datetime) -> timedelta:
        """Return how long it was open."""
        return (self.ended_at or until) - self.opened_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What became of one policy.

    Attributes:
        unknown: Subject-steps that could not be judged.
        judged_without: What it looks at and nothing is kept of; then it could have
            fired less, never more.
        over_limits: Steps at which its plan was above its limits.
    """

    policy: str
    kind: str
    mode: str
    fires: tuple[Fire, ...]
    unknown: int
    judged_without: tuple[str, ...] = ()
    over_limits: int = 0

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return what it fired on, sorted, each once."""
        return tuple(sorted({one.subject for one in self.fires}))


@dataclass(slots=True, kw_only=True)
class _Open:
    finding: Finding
    opened_at: datetime
    last_at: datetime
    stake: Money | None


@dataclass(slots=True, kw_only=True)
class _Tally:
    open: dict[str, _Open] = field(default_factory=dict)
    fires: list[Fire] = field(default_factory=list)
    unknown: int = 0
    over_limits: int = 0


def kept_part(policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """Return a policy as far as the past can judge it, and what it is judged without."""
    if not isinstance(policy, IdlePolicy):
        return policy, ()
    lost = tuple(name for name in policy.signals.limits if name not in KEPT_SIGNALS)
    if not lost:
        return policy, ()
    left = dict.fromkeys(lost)
    signals = policy.signals.model_copy(update=left)
    return policy.model_copy(update={"signals": signals}), lost


def replay(
    policies: Sequence[Policy],
    moments: Iterable[tuple[datetime, Facts]],
    step: timedelta,
) -> tuple[Replay, ...]:
    """Judge policies at each moment, in order of time, and join what lasted.

    Args:
        policies: In any mode; observing ones fire as enforcing ones would.
        moments: Instants a step apart, each with its facts.
        step: How far apart they are.
    """
    kept = {one.name: kept_part(one) for one in policies}
    judged = [part for part, _ in kept.values()]
    tallies = {one.name: _Tally() for one in policies}
    for now, facts in moments:
        evaluation = evaluate(judged, facts, now)
        for unknown in evaluation.unknown:
            tallies[unknown.policy].unknown += 1
        for refusal in evaluation.refused:
            tallies[refusal.policy].over_limits += refusal.action == "act"
        for finding in evaluation.findings:
            _see(tallies[finding.policy], finding, now)
        for tally in tallies.values():
            _close(tally, now, step)
    return tuple(_replay(one, tallies[one.name], kept[one.name][1]) for one in policies)


def _see(tally: _Tally, finding: Finding, now: datetime) -> None:
    found = tally.open.get(finding.fingerprint)
    if found is None:
        tally.open[finding.fingerprint] = _Open(
            finding=finding, opened_at=now, last_at=now, stake=finding.cost_at_stake
        )
        return
    found.last_at = now
    found.stake = _higher(found.stake, finding.cost_at_stake)
    if acts(finding):
        found.finding = finding


def _higher(left: Money | None, right: Money | None) -> Money | None:
    if left is None or right is None:
        return left or right
    return max(left, right)


def _close(tally: _Tally, now: datetime, step: timedelta) -> None:
    for fingerprint, found in list(tally.open.items()):
        if found.last_at < now:
            del tally.open[fingerprint]
            tally.fires.append(_fire(found, found.last_at + step))


def _fire(found: _Open, ended_at: datetime | None) -> Fire:
    finding = found.finding
    last = ended_at or found.last_at
    action, acted_at = "", None
    for one in finding.actions:
        if one.do in {"warn", "ask"}:
            continue
        action = one.do
        at = one.at if one.after is None else found.opened_at + one.after
        acted_at = max(at, found.opened_at) if at <= last else None
        break
    return Fire(
        policy=finding.policy,
        subject=finding.subject.id,
        job=finding.job,
        clause=finding.clause,
        opened_at=found.opened_at,
        ended_at=ended_at,
        cost_at_stake=found.stake,
        action=action,
        acted_at=acted_at,
    )


def _replay(policy: Policy, tally: _Tally, without: tuple[str, ...]) -> Replay:
    fires = tally.fires + [_fire(found, None) for found in tally.open.values()]
    return Replay(
        policy=policy.name,
        kind=policy.kind,
        mode=str(policy.mode),
        fires=tuple(sorted(fires, key=lambda one: (one.opened_at, one.subject))),
        unknown=tally.unknown,
        judged_without=without,
        over_limits=tally.over_limits,
    )
