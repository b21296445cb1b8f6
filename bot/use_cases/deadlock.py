"""See at once that nobody may decide a request, instead of letting it wait.

Who may is looked up again at each vote: this only warns.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.ports import Directory, Store
from bot.use_cases.cards import card_key, people_names, post
from bot.views.refusal import nobody_can_decide
from policies.core.approvals import (
    ApprovalRequest,
    RequestState,
    can_be_decided,
    refusal,
)


def tell_deadlock(
    store: Store,
    directory: Directory,
    request: ApprovalRequest,
    *,
    admins: Sequence[str],
    channel: str,
    now: datetime,
) -> bool:
    """Queue a word to the admins when too few people may decide; True when it is so."""
    if request.state is not RequestState.PENDING or request.rule is None:
        return False
    if can_be_decided(
        request.rule.tier.required, _independent(directory, request, now)
    ):
        return False
    if channel:
        named, _ = directory.resolve(admins)
        with store.write() as unit:
            names = people_names(unit, [request])
            told = nobody_can_decide(request, people=names, admins=sorted(named))
            key = card_key(request).removesuffix("card") + "nobody"
            unit.outbox.put(post(key, channel, told), now)
    return True


def _independent(
    directory: Directory, request: ApprovalRequest, now: datetime
) -> set[str]:
    """Return people who may vote: as many as are needed, for each one is looked up."""
    assert request.rule is not None
    tier = request.rule.tier
    eligible, _ = directory.resolve(tier.approvers)
    found: set[str] = set()
    for key in sorted(eligible):
        person = directory.person(key) or directory.person_by_email(key)
        if person is not None and refusal(request, person, eligible, now) is None:
            found.add(person.person_id)
        if len(found) >= tier.required:
            break
    return found
