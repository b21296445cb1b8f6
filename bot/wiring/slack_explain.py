"""What Slack's questions about single figures call: how computed, whose, what is idle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property

from billing.core.periods import start_of
from bot.ports import Directory, Message
from bot.slack.canonical import canonical_text, next_page, why_text
from bot.slack.grammar import CONFIRM, UNDO, Question
from bot.slack.handlers import Answer, Ask
from bot.slack.windows import Window
from bot.use_cases.parts import CostQuestion, window
from bot.use_cases.pricing import price_book
from bot.use_cases.team_months import team_months
from bot.use_cases.untagged_confirm import named
from bot.views.asked import with_buttons
from bot.views.errors import note
from bot.views.explain import LINES_SHOWN, explained_answer
from bot.views.explain_words import Page
from bot.views.facts import checkpoints_message, coverage_message, idle_message
from bot.views.facts_values import IdleAnswer
from bot.views.mine import Mine, budget_message, mine_message
from bot.views.untagged import (
    ITEMS_SHOWN,
    NOT_ALLOWED,
    kept_message,
    taken_back_message,
    undo_key,
    untagged_message,
)
from bot.views.untagged_values import UntaggedAnswer
from bot.wiring.application import Application
from bot.wiring.explain import Wanted, explain
from bot.wiring.facts import checkpoint_locations, known_now
from bot.wiring.kept import Kept
from bot.wiring.owners import Owners
from bot.wiring.parts import own_prices, tag_keys
from bot.wiring.untagged import give, take_back, target, untagged

IDLE_FOR = timedelta(minutes=1)


@dataclass(frozen=True)
class ExplainAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application
    directory: Directory

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers by verb of the grammar."""
        return {
            "why": self.why,
            "untagged": self.untagged,
            CONFIRM: self.give,
            UNDO: self.take_back,
            "idle": self.idle,
            "coverage": self.coverage,
            "checkpoints": self.checkpoints,
            "me": self.me,
            "budget": self.budget,
        }

    @property
    def owners(self) -> Owners:
        """Return what knows who owns a job."""
        return Owners(settings=self.application.settings, directory=self.directory)

    def why(self, ask: Ask) -> tuple[Message, ...]:
        """Show how a figure came about, one page of its lines."""
        question = ask.question
        since, until = _days(question)
        wanted = Wanted(figure=question.target, since=since, until=until)
        explained = explain(self.application, wanted)
        page = Page(offset=(question.page - 1) * LINES_SHOWN, limit=LINES_SHOWN)
        has_more = bool(page.left(explained.lines))
        return (_with_more(explained_answer(explained, page), ask, has_more=has_more),)

    # ---------------------------------------------------------------- untagged

    def untagged(self, ask: Ask) -> tuple[Message, ...]:
        """List untagged cost, one page, with buttons that give it to a job."""
        question = ask.question
        answer = untagged(self.application, *_days(question))
        offset = (question.page - 1) * ITEMS_SHOWN
        message = untagged_message(
            answer, offset=offset, commands=_commands(answer, ask)
        )
        has_more = len(answer.items) > offset + ITEMS_SHOWN
        return (_with_more(message, ask, has_more=has_more),)

    def give(self, ask: Ask) -> tuple[Message, ...]:
        """Give an item to a job: admins, and the job's owner."""
        question = ask.question
        if not self._may(ask, question.job):
            return (note(NOT_ALLOWED),)
        what = target(self.application, question.target, *_days(question))
        done = give(self.application, what, question.job, by=self._who(ask))
        undo = Question(verb=UNDO, target=str(done.confirmed.number))
        message = kept_message(
            done.confirmed,
            days=done.days,
            again=done.again,
            undo=canonical_text(undo, ask.now),
        )
        return (message,)

    def take_back(self, ask: Ask) -> tuple[Message, ...]:
        """Take back what was said of an item: admins, and the job's owner."""
        with self.application.store.read() as unit:
            held = named(unit, ask.question.target)
        if not self._may(ask, held.job):
            return (note(NOT_ALLOWED),)
        done = take_back(self.application, ask.question.target, by=self._who(ask))
        return (taken_back_message(done.confirmed, days=done.days),)

    def _may(self, ask: Ask, job: str) -> bool:
        """Tell whether somebody may give cost to a job, looked up now."""
        with self.application.store.read() as unit:
            record = unit.ledger.job_record(job.strip().lower())
        owner = record.owner if record else ""
        return self.owners.is_admin(ask.asker.user_id) or self.owners.is_owner(
            ask.asker.user_id, owner
        )

    def _who(self, ask: Ask) -> str:
        person = self.directory.person(ask.asker.user_id)
        if person is not None:
            return person.person_id
        with self.application.store.write() as unit:
            return unit.people.remember(slack_id=ask.asker.user_id)

    # ------------------------------------------------------------------- facts

    @cached_property
    def _idle(self) -> Kept[str, IdleAnswer]:
        """Keep an answer for a minute: every reading of signals costs money."""
        return Kept(IDLE_FOR, self.application.now)

    def idle(self, ask: Ask) -> tuple[Message, ...]:
        """Show which GPU instances are idle now."""
        answer = self._idle.get("", lambda: known_now(self.application).idle())
        return (_with_more(idle_message(answer), ask),)

    def coverage(self, ask: Ask) -> tuple[Message, ...]:
        """Show what commitments cover."""
        message = coverage_message(known_now(self.application).coverage())
        return (_with_more(message, ask),)

    def checkpoints(self, ask: Ask) -> tuple[Message, ...]:
        """Show the checkpoints of the retention policies' locations."""
        places = checkpoint_locations(self.application)
        message = checkpoints_message(known_now(self.application).checkpoints(places))
        return (_with_more(message, ask),)

    # ------------------------------------------------------------------ people

    def me(self, ask: Ask) -> tuple[Message, ...]:
        """Show the jobs whose owner tag is the asker."""
        since, until = _days(ask.question)
        lines = self.application.jobs(since, until)
        mine = self.owners.of(ask.asker.user_id, {one.owner for one in lines})
        period = window(CostQuestion(since=since, until=until), ask.now)
        message = mine_message(
            Mine(
                who=self.owners.names(ask.asker.user_id),
                since=period.start,
                until=period.end,
                jobs=tuple(one for one in lines if one.owner in mine),
            )
        )
        return (_with_more(message, ask),)

    def budget(self, ask: Ask) -> tuple[Message, ...]:
        """Show what teams have used of their month's budget."""
        wanted = ask.question.target.strip().lower()
        settings = self.application.settings
        budgets = {
            name: team.budget
            for name, team in settings.config.teams.items()
            if team.budget is not None
        }
        now = self.application.now()
        with self.application.store.read() as unit:
            months = team_months(
                unit.ledger,
                budgets,
                prices=price_book(unit.ledger, own_prices(settings)),
                keys=tag_keys(settings),
                now=now,
            )
        shown = [
            one
            for one in months
            if (one.team == wanted if wanted else one.budget is not None)
        ]
        message = budget_message(shown, now, team=wanted)
        return (_with_more(message, ask),)


def _days(question: Question) -> tuple[date | None, date | None]:
    days = question.window
    return (days.since, days.until) if days else (None, None)


def _with_more(message: Message, ask: Ask, *, has_more: bool = False) -> Message:
    return with_buttons(
        message,
        canonical_text(ask.question, ask.now),
        why=why_text(ask.question, ask.now),
        more=next_page(ask.question, ask.now) if has_more else "",
    )


def _commands(answer: UntaggedAnswer, ask: Ask) -> Mapping[str, str]:
    """Return what the buttons of a list say, by item and by confirmation."""
    since = answer.since.date()
    last = answer.until.date()
    until = last if answer.until == start_of(last) else None
    days = Window(since=since, until=until)
    asks = Question(verb=CONFIRM, window=days)
    found = {
        item.item: canonical_text(
            replace(asks, target=item.item, job=item.suggestion.job), ask.now
        )
        for item in answer.items
        if item.suggestion
    }
    undo = {
        undo_key(one): canonical_text(
            Question(verb=UNDO, target=str(one.number)), ask.now
        )
        for one in answer.confirmed
    }
    return found | undo
