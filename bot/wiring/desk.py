"""Where approvals are asked for and decided, from the command line and from Slack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from threading import Event

import structlog

from billing.core.estimate import Estimate, EstimateRequest, NoPriceError
from billing.core.gpus import gpu_count
from billing.core.money import Money
from billing.ports import JobRecord
from bot.clock import Now, system_now
from bot.ports import Directory, SlackFailedError, Store
from bot.settings import Settings
from bot.use_cases.approval_context import decision_context
from bot.use_cases.approvals import Ask, asks_for, committed_cost, file_request
from bot.use_cases.approvals_changing import cancel
from bot.use_cases.approvals_due import escalate_now, expire_due
from bot.use_cases.approvals_moving import UnknownRequestError, VoteRefusedError
from bot.use_cases.approvals_voting import Ballot, VoteOutcome, vote
from bot.use_cases.deadlock import tell_deadlock
from bot.use_cases.estimate import checked, estimate_run
from bot.use_cases.pricing import price_book
from bot.wiring.grants import GrantDesk
from bot.wiring.parts import own_prices, tag_keys, team_budgets
from bot.wiring.people import (
    MailDirectory,
    NoIdentityError,
    caller_email,
    known_person,
    os_user,
    remember,
    slack_client,
    slack_directory,
    speaker_email,
)
from bot.wiring.remembered import keep_estimate
from bot.wiring.request_desk import RequestDesk
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    Person,
    RequestState,
    Verdict,
)
from policies.core.catalogue import Policy
from policies.core.paid_capacity import (
    counted_sentence,
    marginal_cost,
    paid_capacity,
)
from policies.core.rules import planned_job, rule_for

log = structlog.get_logger()

LOOK_AGAIN_S = 1.0
#: Used-up approvals of one plan that are looked at before the last one is returned.
PASSED_OVER_MAX = 100


@dataclass(frozen=True)
class ApprovalDesk:
    """Approvals over one store.

    Attributes:
        policies: Loads the current policies; judged are requests by those at filing.
    """

    settings: Settings
    store: Store
    now: Now
    policies: Callable[[], Sequence[Policy]]

    @cached_property
    def directory(self) -> Directory:
        """Return who people are: Slack's directory, else e-mail addresses."""
        if not self.settings.has_slack:
            return MailDirectory(self.store)
        from bot.slack.client import connect  # noqa: PLC0415 - loads the Slack SDK

        client = slack_client(self.settings)
        return slack_directory(client, connect(client), self.store)

    @property
    def channel(self) -> str:
        """Return where cards go."""
        slack = self.settings.config.slack
        return slack.approvals or slack.alerts

    @cached_property
    def grants(self) -> GrantDesk:
        """Return what knows whether an approval still covers a run."""
        return GrantDesk(settings=self.settings, store=self.store, now=self.now)

    # -------------------------------------------------------------------- asking

    def rule_for(
        self,
        plan: EstimateRequest,
        high: Money | None,
        *,
        owner: str = "",
        without: str = "",
    ) -> ApprovalRule | None:
        """Return the rule that decides a plan; None when nobody needs to be asked."""
        record = self.record_of(plan.job)
        with self.store.read() as unit:
            committed = committed_cost(
                unit, owner, plan.job, self.now(), without=without
            )
        job = planned_job(
            job=plan.job,
            team=record.team if record else "",
            owner=record.owner if record else "",
            environment=record.environment if record else "",
            instance_type=plan.instance_type,
            count=plan.count,
            gpus=gpu_count(plan.instance_type),
            high=high,
        )
        found = self.on_paid_capacity(plan)
        marginal = found[1] if found and high is not None else None
        return rule_for(self.policies(), job, high, committed, marginal=marginal)

    def on_paid_capacity(self, plan: EstimateRequest) -> tuple[Estimate, Money] | None:
        """Return an estimate and what of it adds to capacity that is paid for already."""
        with self.store.read() as unit:
            paid = paid_capacity(plan, unit.ledger.reservations(), self.now())
        found = self.estimate(plan) if paid else None
        return (found, marginal_cost(found, paid)) if found else None

    def file(
        self, plan: EstimateRequest, *, requester: Person, caller: str, reason: str
    ) -> ApprovalRequest:
        """File a request; an equal one that is live is returned instead."""
        plan = checked(plan)
        estimate = self.estimate(plan)
        owner = self._owner_of(plan.job) or requester.person_id
        rule = self.rule_for(plan, estimate.high if estimate else None, owner=owner)
        ask = Ask(
            plan=plan, estimate=estimate, requester=requester.person_id,
            caller=caller, reason=reason,
            context=self.context(plan, estimate) if rule else (),
        )  # fmt: skip
        asked_at = self.now()
        filed = self._file(ask, rule, owner)
        if estimate is not None and filed.created_at >= asked_at:
            keep_estimate(self.store, estimate, asked_at, request_id=filed.request_id)
        return self.warn_of_deadlock(filed)

    def _file(self, ask: Ask, rule: ApprovalRule | None, owner: str) -> ApprovalRequest:
        """Store a request; an equal approved one stands while it covers the plan."""
        passed_over: list[str] = []
        while True:
            filed = file_request(
                self.store,
                ask,
                rule,
                owner=owner,
                record=self.record_of(ask.plan.job),
                channel=self.channel,
                now=self.now(),
                passed_over=passed_over,
            )
            is_open = filed.state.is_open
            if is_open or self.grants.has_room(filed, ask.plan):
                return filed
            if len(passed_over) == PASSED_OVER_MAX:
                return filed
            passed_over.append(filed.request_id)

    def context(self, plan: EstimateRequest, found: Estimate | None) -> tuple[str, ...]:
        """Return what an approver would look up before deciding."""
        record = self.record_of(plan.job)
        paid = self.on_paid_capacity(plan)
        both = counted_sentence(*paid) if paid else ""
        with self.store.read() as unit:
            lines = decision_context(
                unit.ledger,
                found,
                team=record.team if record else "",
                budgets=team_budgets(self.settings),
                prices=price_book(unit.ledger, own_prices(self.settings)),
                keys=tag_keys(self.settings),
                now=self.now(),
            )
        return (both, *lines) if both else lines

    def warn_of_deadlock(self, request: ApprovalRequest) -> ApprovalRequest:
        """Tell the admins when nobody may decide; the next tier may then, if any."""
        try:
            is_stuck = tell_deadlock(
                self.store,
                self.directory,
                request,
                admins=self.settings.config.slack.admins,
                channel=self.channel,
                now=self.now(),
            )
        except SlackFailedError as error:
            # It is filed; that nobody may decide it shows when somebody tries.
            log.warning("approvers_not_looked_up", code=error.code)
            return request
        if not is_stuck:
            return request
        moved = escalate_now(
            self.store, request.request_id, channel=self.channel, now=self.now()
        )
        return moved or request

    def standing(self, plan: EstimateRequest, requester: str) -> ApprovalRequest | None:
        """Return an approval that still covers a plan of somebody; asks nobody.

        Slack is not needed: a restart must not wait for it.
        """
        who = remember(self.store, email=requester.strip().lower())
        with self.store.read() as unit:
            approved = unit.journal.requests(state=RequestState.APPROVED)
        same = (one for one in approved if one.requester == who and asks_for(one, plan))
        return next((one for one in same if self.grants.has_room(one, plan)), None)

    def file_from_cli(
        self, plan: EstimateRequest, *, requester: str, reason: str
    ) -> ApprovalRequest:
        """File a request as the authenticated caller, for somebody by e-mail."""
        person = known_person(self.directory, requester)
        return self.file(plan, requester=person, caller=self.caller_id(), reason=reason)

    def estimate(self, plan: EstimateRequest) -> Estimate | None:
        """Estimate a plan; None when nobody knows the price, so that a person decides."""
        with self.store.read() as unit:
            try:
                return estimate_run(
                    plan, price_book(unit.ledger, own_prices(self.settings))
                )
            except NoPriceError:
                return None

    def record_of(self, job: str) -> JobRecord | None:
        """Return what is known of a job; None when nothing is."""
        if not job:
            return None
        with self.store.read() as unit:
            return unit.ledger.job_record(job)

    def _owner_of(self, job: str) -> str:
        """Return the pseudonym of a job's owner as its tags name them; "" if unknown."""
        record = self.record_of(job)
        if record is None or not record.owner:
            return ""
        name = self.settings.config.owners.map.get(record.owner, record.owner)
        ids, _ = self.directory.resolve([name])
        if len(ids) != 1:
            return ""
        (key,) = ids
        known = self.directory.person(key) or self.directory.person_by_email(key)
        return known.person_id if known else ""

    # ------------------------------------------------------------------ deciding

    def vote(self, ballot: Ballot, directory: Directory | None = None) -> VoteOutcome:
        """Count one person's word."""
        return vote(
            self.store,
            directory or self.directory,
            ballot,
            channel=self.channel,
            now=self.now(),
        )

    def vote_from_cli(
        self, request_id: str, verdict: str, *, reason: str, as_email: str
    ) -> ApprovalRequest:
        """Vote as the authenticated caller, or as somebody an admin's setting allows."""
        email, is_asserted = speaker_email(self.settings, as_email)
        outcome = self.vote(
            Ballot(
                request_id=request_id,
                version=None,
                voter=known_person(self.directory, email),
                verdict=Verdict(verdict),
                reason=reason,
                asserted=is_asserted,
            )
        )
        if outcome.refused:
            raise VoteRefusedError(outcome.refused)
        return outcome.request

    def cancel(self, request_id: str) -> ApprovalRequest:
        """Withdraw a request as the authenticated caller."""
        return cancel(
            self.store,
            request_id,
            by=self.caller_id(),
            channel=self.channel,
            now=self.now(),
        )

    def expire(self) -> Sequence[ApprovalRequest]:
        """Deny by default what nobody decided in time."""
        return expire_due(self.store, channel=self.channel, now=self.now())

    def wait(self, request_id: str, timeout: timedelta) -> ApprovalRequest:
        """Wait until a request is decided, or the time is up.

        Raises:
            UnknownRequestError: There is none of this id.
        """
        ends, pause = system_now() + timeout, Event()
        while True:
            self.expire()
            with self.store.read() as unit:
                found = unit.journal.request(request_id)
            if found is None:
                raise UnknownRequestError(request_id)
            if not found.state.is_open or system_now() >= ends:
                return found
            pause.wait(LOOK_AGAIN_S)

    @cached_property
    def changes(self) -> RequestDesk:
        """Return where requests are changed and handed on."""
        return RequestDesk(self)

    # -------------------------------------------------------------------- people

    def caller_id(self) -> str:
        """Return the pseudonym of who runs this command."""
        return remember(self.store, email=caller_email(self.settings))

    def caller_name(self) -> str:
        """Return the pseudonym of who runs this command, by e-mail or by user name."""
        try:
            return self.caller_id()
        except NoIdentityError:
            return remember(self.store, name=f"user {os_user()}")
