"""What Slack's listeners call: use cases asked, answers rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from uuid import uuid4

import structlog

from billing.core.errors import GpucostError
from billing.core.estimate import EstimateRequest
from billing.ports import NeedsExportError
from bot.clock import system_now
from bot.ports import Directory, Message, OutboxMessage, SlackFailedError
from bot.slack.canonical import canonical_text, leaks_text, why_text
from bot.slack.directory import SlackDirectory
from bot.slack.grammar import Question, Run
from bot.slack.handlers import (
    Answer,
    Ask,
    Asker,
    Click,
    ClickOutcome,
    Handlers,
    Refused,
)
from bot.use_cases.cards import people_names
from bot.use_cases.control import pause, resume
from bot.use_cases.digest import DigestScope, last_week, week_of
from bot.use_cases.estimate import PlanTexts, read_plan, with_options
from bot.use_cases.parts import CostQuestion
from bot.views import status
from bot.views.answers import AskError
from bot.views.approval import request_filed, requests_list
from bot.views.asked import with_buttons
from bot.views.cost import cost_answer
from bot.views.digest import digest
from bot.views.errors import ask_error, needs_export, note
from bot.views.estimate import estimate_answer
from bot.views.request_form import estimate_told
from bot.views.text import channel as channel_mention
from bot.views.text import escape
from bot.wiring.alert_desk import AlertDesk
from bot.wiring.application import Application
from bot.wiring.slack_clicks import pressed
from bot.wiring.slack_explain import ExplainAnswers
from bot.wiring.slack_home import HomeDesk
from bot.wiring.slack_outlook import OutlookAnswers
from bot.wiring.slack_places import Places
from bot.wiring.slack_runs import RunAnswers
from bot.wiring.slack_subscriptions import SubscriptionAnswers
from policies.core.approvals import ApprovalRequest, Person

log = structlog.get_logger()

NOT_ADMIN = "Only the admins of gpucost may do this."
GUEST = "Guests may not ask about cost here."


@dataclass(frozen=True)
class SlackAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application
    directory: Directory

    def handlers(self) -> Handlers:
        """Return what the listeners call."""
        mine = HomeDesk(self.application, self.directory)
        answers: Mapping[str, Answer] = {
            "menu": mine.menu,
            "cost": self.cost,
            "top": self.cost,
            "team": self.cost,
            "account": self.cost,
            "estimate": self.estimate,
            "request": self.request,
            "approvals": self.approvals,
            "digest": self.digest,
            "pause": self.pause,
            "resume": self.resume,
            **ExplainAnswers(self.application, self.directory).answers(),
            **RunAnswers(self.application).answers(),
            **OutlookAnswers(self.application).answers(),
            **SubscriptionAnswers(
                self.application, self.directory, Places(self.application.settings)
            ).answers(),
        }
        zone = getattr(self.directory, "zone", None)
        return Handlers(
            now=self.application.now,
            click=self.click,
            alert=AlertDesk(self.application, self.directory).press,
            home=mine.home,
            priced=self.priced,
            setting=mine.change,
            enqueue=self.enqueue,
            refused=self.refused,
            failed=self.failed,
            seen=self.seen,
            zone=zone if zone is not None else lambda _user_id: UTC,
            answers={verb: self._guarded(answer) for verb, answer in answers.items()},
        )

    def _guarded(self, answer: Answer) -> Answer:
        """Let guests see nothing, and turn named failures into one sentence."""

        def guarded(ask: Ask) -> tuple[Message, ...]:
            config = self.application.settings.config
            if config.visibility.guests != "all":  # "own" shows nothing yet
                person = self.directory.person(ask.asker.user_id)
                if person is None or person.is_guest:
                    return (note(GUEST),)
            try:
                return answer(ask)
            except NeedsExportError:
                return (needs_export(ask.question.by or ask.question.verb),)
            except GpucostError as error:
                near = (*ask.question.near, *error.suggestions)
                told = AskError(message=str(error), suggestions=near, hint=error.hint)
                return (ask_error(told, command="/gpucost"),)

        return guarded

    # ---------------------------------------------------------------- questions

    def cost(self, ask: Ask) -> tuple[Message, ...]:
        """Answer about one job, or by job, team, account and so on."""
        answer = self.application.cost(cost_question(ask.question))
        asked = canonical_text(ask.question, ask.now)
        why = why_text(ask.question, ask.now)
        leaks = leaks_text(ask.question, ask.now)
        message = cost_answer(answer)
        return (with_buttons(message, asked, why=why, leaks=leaks),)

    def estimate(self, ask: Ask) -> tuple[Message, ...]:
        """Estimate a run."""
        answer = self.application.estimate(self._plan(ask.question.run))
        asked = canonical_text(ask.question, ask.now)
        return (with_buttons(estimate_answer(answer), asked),)

    def priced(self, asker: Asker, question: Question) -> str:
        """Say what the run of a form would cost; it is not kept as an estimate."""
        ask = Ask(asker=asker, question=question, now=self.application.now(), key="")
        told = self._guarded(self._form_estimate)(ask)
        return told[0].text if told else ""

    def _form_estimate(self, ask: Ask) -> tuple[Message, ...]:
        found = self.application.estimate(self._plan(ask.question.run), kept=False)
        return (note(estimate_told(found)),)

    def _plan(self, run: Run | None) -> EstimateRequest:
        assert run is not None  # the grammar gives these verbs a run
        texts = PlanTexts(
            instance_type=run.instance_type,
            count=run.count,
            hours=str(float(run.hours)),
            purchase=run.purchase,
            region=run.region or self.application.default_region,
            job=run.job,
            is_time_limit=run.is_time_limit,
        )
        return read_plan(with_options(texts, run.extras), self.application.now())

    def digest(self, ask: Ask) -> tuple[Message, ...]:
        """Show last week's digest, or that of a named week, to the asker alone."""
        window, target = ask.question.window, ask.question.target
        since = last_week(ask.now)
        if "W" in target.upper() and "-" in target:
            since = week_of(target.upper())
        elif window is not None:
            since = window.since
        answer = self.application.digest_of(DigestScope(since=since))
        return digest(answer, people={}, now=ask.now)

    # ---------------------------------------------------------------- approvals

    def request(self, ask: Ask) -> tuple[Message, ...]:
        """File a request for the asker."""
        person = self._person(ask.asker.user_id)
        run = ask.question.run
        stored = self.application.desk.file(
            self._plan(run),
            requester=person,
            caller=person.person_id,
            reason=run.reason if run else "",
        )
        place = self.application.desk.channel
        shown = channel_mention(place) or escape(place)
        return (request_filed(stored, people=self._names([stored]), channel=shown),)

    def approvals(self, ask: Ask) -> tuple[Message, ...]:
        """List requests."""
        requests = tuple(self.application.approvals(""))
        return (requests_list(requests, people=self._names(requests), now=ask.now),)

    def click(self, click: Click) -> ClickOutcome:
        """Do what a card's button asks; who may is looked up now."""
        person = self._person(click.asker.user_id)
        fresh = self.directory
        if isinstance(fresh, SlackDirectory):
            fresh = fresh.fresh()
        return pressed(self.application, click, person, fresh)

    def _person(self, slack_id: str) -> Person:
        person = self.directory.person(slack_id)
        if person is None:
            raise SlackFailedError("user_not_found", is_final=True)
        return person

    def _names(self, requests: Sequence[ApprovalRequest]) -> Mapping[str, str]:
        with self.application.store.read() as unit:
            return people_names(unit, requests)

    # ------------------------------------------------------------------ control

    def pause(self, ask: Ask) -> tuple[Message, ...]:
        """Stop every action; admins only."""
        by = self._admin(ask)
        if by is None:
            return (note(NOT_ADMIN),)
        pause(self.application.store, by=by, reason=ask.question.target, now=ask.now)
        names = {by: ask.asker.user_id}
        told = status.paused(
            by, since=ask.now, reason=ask.question.target, people=names
        )
        return (told,)

    def resume(self, ask: Ask) -> tuple[Message, ...]:
        """Allow actions again; admins only."""
        by = self._admin(ask)
        if by is None:
            return (note(NOT_ADMIN),)
        resume(self.application.store, by=by, now=ask.now)
        return (status.resumed(by, at=ask.now, people={by: ask.asker.user_id}),)

    def _admin(self, ask: Ask) -> str | None:
        """Return the pseudonym of an admin; None for everybody else."""
        admins, _ = self.directory.resolve(
            self.application.settings.config.slack.admins
        )
        if ask.asker.user_id not in admins:
            return None
        return self._person(ask.asker.user_id).person_id

    # ------------------------------------------------------------------ plumbing

    def enqueue(self, message: OutboxMessage) -> bool:
        """Store an effect."""
        with self.application.store.write() as unit:
            return unit.outbox.put(message, self.application.now())

    def seen(self, kind: str, key: str) -> bool:
        """Record a delivery; True when it was seen before."""
        with self.application.store.write() as unit:
            # How long a repetition may come is the system clock's matter, as signatures.
            return unit.control.seen(kind, key, system_now())

    def refused(self, refused: Refused) -> None:
        """Put a refusal on record."""
        log.warning("slack_refused", what=refused.what, reason=refused.reason)
        with self.application.store.write() as unit:
            unit.audit.append(
                "slack_refused",
                actor=unit.people.remember(slack_id=refused.asker.user_id),
                subject=refused.what,
                data={"reason": refused.reason},
                now=refused.now,
            )

    def failed(self, event: str, error: Exception) -> str:
        """Log a failure without its payload; return a reference for the person."""
        reference = uuid4().hex[:8]
        code = error.code if isinstance(error, (GpucostError, SlackFailedError)) else ""
        log.error(
            event, reference=reference, error=type(error).__name__, code=code,
            exc_info=None if code else error,
        )  # fmt: skip
        return reference


def cost_question(question: Question) -> CostQuestion:
    """Return the question behind a command about cost."""
    window, target = question.window, question.target
    asked = CostQuestion(
        since=window.since if window else None, until=window.until if window else None
    )
    if question.verb == "cost":
        return replace(asked, job=target)
    if question.verb == "team":
        return replace(asked, team=target.lower(), by="job")
    if question.verb == "account":
        return replace(asked, account=target, by="job")
    return replace(asked, by=question.by or "job")
