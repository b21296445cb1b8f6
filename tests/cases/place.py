"""The whole application over the AWS double and a database, in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bot.settings import Environment, Settings
from bot.settings.sections import Config
from bot.slack.grammar import Question, read_question
from bot.slack.handlers import Ask, Asker
from bot.use_cases.ingest import Reach
from bot.use_cases.parts import CostQuestion
from bot.views.plain import message_text
from bot.wiring.application import Application
from bot.wiring.slack_answers import SlackAnswers
from tests.builders import day
from tests.builders_policies import policies
from tests.contract.sources.aws import NOW, Aws

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.answers import CostAnswer, IngestOutcome
    from policies.core.finding import Evaluation


@dataclass
class Place:
    """One installation: its double, its database, its configuration and its clock."""

    aws: Aws
    store: SqlStore
    now: datetime = NOW
    config: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def application(self) -> Application:
        made = Application(
            settings=Settings(config=Config(**self.config), environment=Environment()),
            store=self.store,
            now=lambda: self.now,
        )
        # The same clients, with models of services that all tests share.
        vars(made.aws)["clients"] = self.aws.clients()
        return made

    def at(self, instant: datetime) -> None:
        """Move the clock of the double and of the rules."""
        self.now = instant
        self.aws.sandbox.clock.set(instant)

    def ingest(self, source: str = "all") -> IngestOutcome:
        return self.application.intake.read(source, Reach(), progress=lambda _: None)

    def plan(self, text: str) -> Evaluation:
        """Evaluate policies, written as the list under `policies:`."""
        return self.application.plan(policies(text))

    def cost(self, job: str = "", **question: Any) -> CostAnswer:
        """Ask about cost; `since` and `until` are texts."""
        for name in {"since", "until"} & question.keys():
            question[name] = day(question[name])
        return self.application.cost(CostQuestion(job=job, **question))

    def slack(self, text: str) -> str:
        """Return what `/gpucost TEXT` shows, as plain text."""
        question = read_question(text, self.now)
        assert isinstance(question, Question), question
        asker = Asker(user_id="", team_id="", enterprise_id="", channel_id="")
        ask = Ask(asker=asker, question=question, now=self.now, key="")
        directory = self.application.desk.directory
        answers = SlackAnswers(self.application, directory).handlers().answers
        return "\n".join(map(message_text, answers[question.verb](ask)))
