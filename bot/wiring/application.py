"""The application as the command line and Slack use it: settings in, use cases out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from billing.core.errors import GpucostError
from billing.core.estimate import EstimateRequest
from billing.core.money import USD
from billing.ledger.database import open_database
from bot.migrations import current, upgrade
from bot.settings import load_settings
from bot.use_cases.approvals_moving import UnknownRequestError
from bot.use_cases.auditing import against, posted_heads
from bot.use_cases.cards import people_names
from bot.use_cases.control import pause, resume
from bot.use_cases.cost import ask_cost
from bot.use_cases.digest import (
    DigestScope,
    digest_answer,
    last_week,
    queue_digest,
    week_of,
)
from bot.use_cases.digest_extras import digest_extras
from bot.use_cases.estimate import estimate_run
from bot.use_cases.freshness import stale_sources
from bot.use_cases.jobs import job_lines
from bot.use_cases.outlook import outlook_of
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from bot.use_cases.reconciliation import accuracy_notes
from bot.views.answers import Check, CostAnswer, DigestAnswer, EstimateAnswer, JobLine
from bot.views.digest import digest
from bot.views.plain import message_text
from bot.wiring.desks import Desks
from bot.wiring.parts import (
    default_region,
    open_store,
    rules_clock,
    tag_keys,
    team_budgets,
)
from bot.wiring.remembered import keep_estimate
from policies.core.approvals import ApprovalRequest, RequestState
from policies.core.finding import Evaluation

if TYPE_CHECKING:
    from policies.core.catalogue import Policy


#: A queue that answers is noted every minute; this leaves room for a restart.
EVENTS_EVERY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestOutcome:
    """What `gpucost digest` answers: the document, and the text of it."""

    document: Mapping[str, object]
    text: str


@dataclass(frozen=True)
class Application(Desks):
    """Everything gpucost does, over one store and one clock of rules and figures."""

    @property
    def default_region(self) -> str:
        """Return the region meant when none is named."""
        return default_region(self.settings)

    @property
    def currency(self) -> str:
        """Return the ledger's currency; USD while it is empty."""
        with self.store.read() as unit:
            return unit.ledger.currency() or USD

    # ---------------------------------------------------------------- questions

    def cost(self, question: CostQuestion) -> CostAnswer:
        """Answer what something has cost."""
        now = self.now()
        with self.store.read() as unit:
            return ask_cost(
                unit.ledger,
                question,
                prices=price_book(unit.ledger, self._own),
                keys=tag_keys(self.settings),
                stale=stale_sources(unit.ledger.freshness(), self.schedules, now),
                now=now,
            )

    def jobs(self, since: date | None, until: date | None) -> tuple[JobLine, ...]:
        """List jobs with what they cost and hold."""
        with self.store.read() as unit:
            return job_lines(
                unit.ledger,
                CostQuestion(since=since, until=until, by="job"),
                prices=price_book(unit.ledger, self._own),
                keys=tag_keys(self.settings),
                now=self.now(),
            )

    def estimate(self, plan: EstimateRequest, *, kept: bool = True) -> EstimateAnswer:
        """Estimate a run, and say whether a policy asks for approval of it.

        Estimates that are `kept` are judged later by what the run has cost.
        """
        with self.store.read() as unit:
            found = estimate_run(plan, price_book(unit.ledger, self._own), self.now())
        if kept:
            keep_estimate(self.store, found, self.now())
        rule = self.desk.rule_for(plan, found.high)
        return EstimateAnswer(
            estimate=found,
            required=rule is not None,
            policy=rule.policy if rule else "",
            over=rule.tier.over if rule else None,
            rule=rule,
        )

    @property
    def schedules(self) -> Mapping[str, timedelta]:
        """Return how often each source is read."""
        schedule = self.settings.config.schedule
        every = {
            "cost-explorer": schedule.cost_explorer,
            "inventory": schedule.inventory,
            "resources": schedule.inventory,
            "prices": schedule.prices,
        }
        # Read once by hand, an export has no age to be told.
        if self.settings.config.exports:
            every["exports"] = schedule.exports
        if self.settings.config.aws.events.queue_url:
            every["events"] = EVENTS_EVERY
        return every

    # ------------------------------------------------------------------ policies

    def plan(self, policies: Sequence[Policy]) -> Evaluation:
        """Say what policies find right now; nothing is recorded."""
        return self.enforcing.evaluate(policies)

    # ----------------------------------------------------------------- approvals

    def approval(self, request_id: str) -> ApprovalRequest:
        """Return one request.

        Raises:
            UnknownRequestError: There is none of this id.
        """
        with self.store.read() as unit:
            found = unit.journal.request(request_id)
        if found is None:
            raise UnknownRequestError(request_id)
        return found

    def approvals(self, state: str) -> Sequence[ApprovalRequest]:
        """Return requests, newest first; "" means in any state."""
        try:
            wanted = RequestState(state) if state else None
        except ValueError as error:
            names = ", ".join(one.value for one in RequestState)
            raise BadStateError(state, names) from error
        with self.store.read() as unit:
            return unit.journal.requests(state=wanted)

    def grant_token(self, request: ApprovalRequest) -> str | None:
        """Return the token a launcher shows for an approved request; else None."""
        if request.state is not RequestState.APPROVED:
            return None
        return self.grants.token_of(request)

    def names(self, requests: Sequence[ApprovalRequest]) -> Mapping[str, str]:
        """Return what to show for the people of requests: their e-mail where known."""
        with self.store.read() as unit:
            return people_names(unit, requests, prefer="email")

    # ------------------------------------------------------------------- service

    def digest_of(self, scope: DigestScope) -> DigestAnswer:
        """Gather the digest of a week."""
        now = self.now()
        keys = tag_keys(self.settings)
        with self.store.read() as unit:
            found = digest_answer(
                unit,
                scope,
                prices=price_book(unit.ledger, self._own),
                keys=keys,
                stale=stale_sources(unit.ledger.freshness(), self.schedules, now),
                now=now,
            )
            notes = accuracy_notes(unit, own=self._own, keys=keys, now=now)
            ahead = outlook_of(
                unit.ledger, scope, team_budgets(self.settings),
                prices=price_book(unit.ledger, self._own), keys=keys, now=now,
            )  # fmt: skip
            extras = digest_extras(
                unit, scope, past=unit.ledger.past_estimates(),
                prices=price_book(unit.ledger, self._own), keys=keys, now=now,
            )  # fmt: skip
        notes = (*found.notes, *notes)
        return replace(found, notes=notes, outlook=ahead, extras=extras)

    def digest(
        self, *, channel: str, week: str, team: str, dry_run: bool
    ) -> DigestOutcome:
        """Queue (or only render) the digest of a week."""
        now = self.now()
        since = week_of(week) if week else last_week(now)
        scope = DigestScope(since=since, team=team)
        answer = self.digest_of(scope)
        messages = digest(answer, people={}, now=now)
        queued = False
        if channel and not dry_run:
            queued = queue_digest(
                self.store, channel=channel, scope=scope, messages=messages, now=now
            )
        state = "queued" if queued else "not queued: that week was sent already"
        document = {
            "week": scope.label, "channel": channel or None, "team": team or None,
            "queued": queued, "currency": answer.currency, "total": answer.total.text(),
            "messages": [
                {"text": one.text, "blocks": [*one.blocks]} for one in messages
            ],
        }  # fmt: skip
        if channel and not dry_run:
            return DigestOutcome(
                document=document, text=f"digest {scope.label}: {state}"
            )
        return DigestOutcome(
            document=document, text="\n".join(map(message_text, messages))
        )

    def pause(self, reason: str) -> Mapping[str, object]:
        """Stop every action of every replica."""
        by = self.desk.caller_name()
        return self._named(pause(self.store, by=by, reason=reason, now=self.now()))

    def resume(self) -> Mapping[str, object]:
        """Allow actions again."""
        return self._named(
            resume(self.store, by=self.desk.caller_name(), now=self.now())
        )

    def _named(self, state: Mapping[str, object]) -> Mapping[str, object]:
        """Return a state with who did it by e-mail or name instead of a pseudonym."""
        with self.store.read() as unit:
            known = unit.people.lookup(str(state["by"])) or {}
        return {**state, "by": known.get("email") or known.get("name") or state["by"]}

    def doctor(self) -> Sequence[Check]:
        """Check everything gpucost depends on."""
        from bot.wiring.checks import doctor_checks  # noqa: PLC0415 - loads every vendor

        return doctor_checks(self)

    def check_database(self) -> Sequence[Check]:
        """Prove on the stored data that the invariants hold."""
        from bot.wiring.checks import database_checks  # noqa: PLC0415 - as above

        return database_checks(self)

    def verify_audit(self) -> tuple[Sequence[str], int, str]:
        """Check the audit chain, also against the heads that were posted of it."""
        with self.store.read() as unit:
            count, head = unit.audit.head()
            heads = posted_heads(unit, self.now())
            return [*unit.audit.verify(), *against(unit, heads)], count, head


class BadStateError(GpucostError, ValueError):
    """There is no such state of a request."""

    code = "bad_state"
    exit_code = 2

    def __init__(self, state: str, names: str) -> None:
        super().__init__(f"state must be one of {names}, got {state!r}")


@contextmanager
def open_application(config: str, *, upgrades: bool = False) -> Iterator[Application]:
    """Open the application for one command."""
    settings = load_settings(config)
    store = open_store(settings, upgrades=upgrades)
    try:
        yield Application(settings=settings, store=store, now=rules_clock(settings))
    finally:
        store.close()


def upgrade_database(config: str) -> tuple[str, str]:
    """Bring the schema to this release; return the versions before and after."""
    settings = load_settings(config)
    if not settings.environment.database_url:
        settings.config.data_dir.mkdir(parents=True, exist_ok=True)
    database = open_database(settings.database_url)
    try:
        return current(database.engine) or "", upgrade(database.engine)
    finally:
        database.close()
