"""The guard rails in front of everything that would change AWS.

In this release nothing acts: a plan is checked by capability, limits and pause, and
then refused. No AWS client is made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policies.core.capabilities import allowance, refusal_of
from policies.core.document import Limits
from policies.core.evaluate import LATER
from policies.core.finding import Refusal, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAction:
    """One verb on one subject, as a policy would have it.

    Attributes:
        manager / lifecycle: As in the capability table.
    """

    policy: str
    verb: str
    subject: Subject
    manager: str
    lifecycle: str


class GuardedEnforcer:
    """Says what could be done; does nothing in this release."""

    def supports(self, verb: str, manager: str, lifecycle: str) -> str | None:
        """Return None when a verb fits, else the reason why it cannot work."""
        return refusal_of(verb, manager, lifecycle)


def check_plan(
    actions: Sequence[ProposedAction],
    limits: Limits,
    *,
    in_scope: int,
    paused_by: str = "",
) -> tuple[tuple[ProposedAction, ...], tuple[Refusal, ...]]:
    """Return the actions the guard rails let through, and every refusal.

    A pause refuses everything; one impossible action does not take the others with
    it; a plan above its limits is refused as a whole.
    """
    if paused_by:
        reason = f"actions are paused by {paused_by}"
        return (), tuple(_refusal(action, reason) for action in actions)
    possible: list[ProposedAction] = []
    refused: list[Refusal] = []
    for action in actions:
        reason_against = refusal_of(action.verb, action.manager, action.lifecycle)
        if reason_against is None:
            possible.append(action)
        else:
            refused.append(_refusal(action, reason_against))
    allowed = allowance(len(possible), in_scope, limits)
    if allowed.reason:
        refused += [_refusal(action, allowed.reason) for action in possible]
        possible = []
    return tuple(possible), tuple(refused)


def act(actions: Sequence[ProposedAction]) -> tuple[Refusal, ...]:
    """Refuse every action: acting comes in a later release."""
    return tuple(_refusal(action, LATER) for action in actions)


def _refusal(action: ProposedAction, reason: str) -> Refusal:
    return Refusal(
        policy=action.policy,
        action=f"{action.verb} {action.subject.id}",
        reason=reason,
    )
