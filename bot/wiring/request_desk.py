"""Where requests are sent back, answered, edited, handed on, and what time does to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from billing.core.estimate import EstimateRequest
from billing.core.prices import Purchase
from bot.clock import system_now
from bot.ports import Directory, UnitOfWork
from bot.use_cases import approvals_changing as changing
from bot.use_cases import approvals_due as due
from bot.use_cases.approvals import basis_of, idempotency_key, pieces_of
from bot.use_cases.approvals_delegating import delegate, undelegate
from bot.use_cases.approvals_moving import VoteRefusedError, known
from bot.use_cases.approvals_voting import Ballot
from bot.use_cases.estimate import checked
from bot.use_cases.pricing import price_book
from bot.use_cases.receipts import Till, send_receipts
from bot.views.approval_buttons import switch_of
from bot.wiring.parts import own_prices, tag_keys
from bot.wiring.people import known_person, speaker_email
from policies.core.approvals import (
    ApprovalRequest,
    Envelope,
    Person,
    RequestEvent,
    Verdict,
)
from policies.core.delegations import Delegation

if TYPE_CHECKING:
    from bot.wiring.desk import ApprovalDesk


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What of a request is to change; None and "" leave a part as it is."""

    instance_type: str = ""
    count: int | None = None
    hours: Fraction | None = None
    purchase: str = ""
    region: str = ""
    reason: str = ""


@dataclass(frozen=True)
class RequestDesk:
    """Changes of requests, through the desk that files and decides them."""

    desk: ApprovalDesk

    # ------------------------------------------------------------------- changing

    def ask_back(
        self,
        request_id: str,
        question: str,
        *,
        by: Person,
        directory: Directory | None = None,
    ) -> ApprovalRequest:
        """Send a request back with a question."""
        return changing.ask_back(
            self.desk.store, directory or self.desk.directory, request_id, by=by,
            question=question, channel=self.desk.channel, now=self.desk.now(),
        )  # fmt: skip

    def answer(self, request_id: str, words: str, *, by: str) -> ApprovalRequest:
        """Answer the question a request waits for."""
        return changing.answer(
            self.desk.store, request_id, by=by, words=words,
            channel=self.desk.channel, now=self.desk.now(),
        )  # fmt: skip

    def edit(self, request_id: str, edits: Edits, *, by: str) -> ApprovalRequest:
        """Change what a request asks for: a new version, priced and judged anew."""
        with self.desk.store.read() as unit:
            request = known(unit, request_id)
        plan = _plan(request.envelope, edits)
        return self._edit(request, plan, by=by, reason=edits.reason)

    def switch(
        self, request_id: str, version: int, way: int, *, by: str
    ) -> ApprovalRequest:
        """Change a request to one of the cheaper ways its card named."""
        with self.desk.store.read() as unit:
            request = known(unit, request_id)
        ways = request.alternatives
        changed = (
            switch_of(request.envelope, ways[way])
            if request.version == version and way < len(ways)
            else None
        )
        if changed is None:
            raise VoteRefusedError("the request changed since this card was posted")
        return self._edit(request, _plan(changed, Edits()), by=by, reason="")

    def _edit(
        self, request: ApprovalRequest, plan: EstimateRequest, *, by: str, reason: str
    ) -> ApprovalRequest:
        desk, plan = self.desk, checked(plan)
        found = desk.estimate(plan)
        rule = desk.rule_for(
            plan, found.high if found else None, owner=request.owner,
            without=request.request_id,
        )  # fmt: skip
        with desk.store.read() as unit:
            pieces = pieces_of(
                unit, request.owner, plan.job, desk.now(), without=request.request_id
            )
        change = changing.Change(
            plan=plan,
            estimate=found,
            rule=rule,
            key=idempotency_key(request.requester, plan),
            basis=basis_of(found),
            reason=reason.strip(),
            pieces=pieces,
            context=desk.context(plan, found) if rule else (),
        )
        moved = changing.edit(
            desk.store, request.request_id, change, by=by, channel=desk.channel,
            now=desk.now(),
        )  # fmt: skip
        return desk.warn_of_deadlock(moved)

    def reassign(
        self, request_id: str, emails: Sequence[str], *, by: Person
    ) -> ApprovalRequest:
        """Name who of the approvers should decide."""
        people = [known_person(self.desk.directory, one) for one in emails]
        admins, _ = self.desk.directory.resolve(self.desk.settings.config.slack.admins)
        return changing.reassign(
            self.desk.store, self.desk.directory, request_id, people, by=by,
            is_admin=bool({by.slack_id, by.email} & admins),
            channel=self.desk.channel, now=self.desk.now(),
        )  # fmt: skip

    def supersede(self, request_id: str, successor: str, *, by: str) -> ApprovalRequest:
        """End a request because another one took its place."""
        return changing.supersede(
            self.desk.store, request_id, by=by, successor=successor,
            channel=self.desk.channel, now=self.desk.now(),
        )  # fmt: skip

    def break_glass(
        self, request_id: str, reason: str, *, as_email: str
    ) -> ApprovalRequest:
        """Approve alone in an emergency, as somebody the policy names."""
        email, is_asserted = speaker_email(self.desk.settings, as_email)
        outcome = self.desk.vote(
            Ballot(
                request_id=request_id,
                version=None,
                voter=known_person(self.desk.directory, email),
                verdict=Verdict.BREAK_GLASS,
                reason=reason,
                asserted=is_asserted,
            )
        )
        if outcome.refused:
            raise VoteRefusedError(outcome.refused)
        return outcome.request

    # ----------------------------------------------------------------- delegating

    def delegate(
        self, to: str, *, since: datetime | None, until: datetime, as_email: str
    ) -> Delegation:
        """Let somebody else speak for the caller until an end."""
        absent, now = self.speaker(as_email), self.desk.now()
        return delegate(
            self.desk.store, absent, known_person(self.desk.directory, to),
            since=since or now, until=until, channel=self.desk.channel, now=now,
        )  # fmt: skip

    def undelegate(self, *, as_email: str) -> int:
        """Take the caller's approvals back."""
        speaker = self.speaker(as_email)
        return undelegate(self.desk.store, speaker.person_id, self.desk.now())

    def delegations(self) -> Sequence[Delegation]:
        """Return who speaks for whom now or will."""
        with self.desk.store.read() as unit:
            return unit.journal.delegations(self.desk.now())

    def names(self, found: Sequence[Delegation]) -> Mapping[str, str]:
        """Return e-mail or name of the people of delegations, where known."""
        names = {}
        with self.desk.store.read() as unit:
            for key in {who for one in found for who in (one.from_id, one.to_id)}:
                known_as = unit.people.lookup(key) or {}
                names[key] = known_as.get("email") or known_as.get("name") or key
        return names

    def speaker(self, as_email: str) -> Person:
        """Return whose word a command is."""
        email, _ = speaker_email(self.desk.settings, as_email)
        return known_person(self.desk.directory, email)

    # ----------------------------------------------------------------------- time

    def chase(self) -> Sequence[tuple[str, RequestEvent]]:
        """Escalate and remind where it is time."""
        desk = self.desk
        return due.chase(
            desk.store, desk.directory, channel=desk.channel, now=desk.now()
        )

    def settle(self) -> Sequence[ApprovalRequest]:
        """Close grants that cover nothing more."""
        desk = self.desk
        return due.settle_grants(
            desk.store, channel=desk.channel, now=desk.now(), system_now=system_now()
        )

    def receipts(self) -> Sequence[str]:
        """Send receipts of runs that ended; return the requests they are for."""
        desk = self.desk

        def till_of(unit: UnitOfWork) -> Till:
            prices = price_book(unit.ledger, own_prices(desk.settings))
            keys = tag_keys(desk.settings)
            return Till(prices=prices, keys=keys, channel=desk.channel)

        if not desk.channel:
            return ()
        return send_receipts(
            desk.store, till_of, now=desk.now(), system_now=system_now()
        )


def _plan(envelope: Envelope, edits: Edits) -> EstimateRequest:
    return EstimateRequest(
        instance_type=edits.instance_type or envelope.instance_type,
        count=envelope.count if edits.count is None else edits.count,
        hours=envelope.hours if edits.hours is None else edits.hours,
        purchase=Purchase(edits.purchase) if edits.purchase else envelope.purchase,
        region=edits.region or envelope.region,
        job=envelope.job,
    )
