"""Let admins confirm that a policy, exactly as it is written, may act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from billing.core.attribution import nearest
from billing.core.errors import GpucostError
from bot.ports import Store
from policies.core.actions import CONFIRMATIONS, policy_hash
from policies.core.catalogue import Policy
from policies.core.document import Mode


class UnknownPolicyError(GpucostError):
    """No policy of this name is in force."""

    code = "unknown_policy"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no policy {name!r} is in force")
        self.suggestions = nearest(name, known)


class NotEnforcingError(GpucostError):
    """The policy would not act anyway, so there is nothing to confirm."""

    code = "not_enforcing"
    hint = "set mode: enforce in its file first"

    def __init__(self, policy: Policy) -> None:
        super().__init__(f"policy {policy.name!r} is in mode {policy.mode}")


def confirm_policy(
    store: Store, policies: Sequence[Policy], name: str, *, by: str, now: datetime
) -> Mapping[str, object]:
    """Store one admin's confirmation of a policy's present wording.

    Raises:
        UnknownPolicyError: With the nearest names.
        NotEnforcingError: It does not enforce.
    """
    policy = next((one for one in policies if one.name == name), None)
    if policy is None:
        raise UnknownPolicyError(name, [one.name for one in policies])
    if policy.mode is not Mode.ENFORCE:
        raise NotEnforcingError(policy)
    identity = policy_hash(policy)
    with store.write() as unit:
        if unit.journal.confirm_policy(name, identity, by=by, now=now):
            data = {"policy": name, "policy_hash": identity}
            unit.audit.append(
                "policy confirmed", actor=by, subject=name, data=data, now=now
            )
        confirmed = len(set(unit.journal.confirmed_by(name, identity)))
    return {
        "policy": name,
        "hash": identity,
        "confirmed": confirmed,
        "required": CONFIRMATIONS,
        "may_act": confirmed >= CONFIRMATIONS,
    }
