"""Answers about single figures over a real store: who may give cost to a job."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.settings.sections import Config
from bot.slack.grammar import CONFIRM, UNDO, Question, read_question
from bot.slack.handlers import Ask, Asker
from bot.views.untagged import NOT_ALLOWED
from bot.wiring.slack_explain import ExplainAnswers
from tests.builders import ACCOUNT, at, usd
from tests.builders_bot import shown
from tests.builders_use_cases import Company, costs, rate, runs
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.ports import Message
    from bot.unit_of_work import SqlStore

ITEM = f"{ACCOUNT}/us-east-1/p5.48xlarge"
CONFIG = {
    "slack": {"admins": ["@rae"]},
    "owners": {"map": {"vision-lead": "omar@example.com"}},
    "teams": {"nlp": {"budget": "$95/month"}, "ops": {"budget": "$50/month"}},
}


@dataclass
class Office:
    """A company, its answers, and who asks."""

    company: Company
    answers: ExplainAnswers

    def says(self, person: str, text: str) -> str:
        """Return what somebody is shown."""
        question = read_question(text, self.company.now)
        assert isinstance(question, Question), question
        asker = Asker(
            user_id=f"U0{person.upper()}", team_id="T1", enterprise_id="",
            channel_id="C1",
        )  # fmt: skip
        ask = Ask(asker=asker, question=question, now=self.company.now, key="1")
        messages: tuple[Message, ...] = self.answers.answers()[question.verb](ask)
        return shown(*messages)


@pytest.fixture
def office(store: SqlStore) -> Office:
    company = Company(store)
    company.is_priced(rate("10"))
    company.is_watched(
        runs(
            since="2026-11-26T00:00Z",
            tags={"owner": "mia@example.com", "team": "nlp"},
        ),
        at_="2026-11-29T12:00Z",
    )
    company.bills(
        costs("2026-11-26", "80", job=""), costs("2026-11-26", "7"),
        through="2026-11-30",
    )  # fmt: skip
    people = [make_person(name) for name in ("mia", "rae", "omar")]
    application = SimpleNamespace(
        store=store,
        settings=SimpleNamespace(config=Config.model_validate(CONFIG)),
        now=lambda: company.now,
        schedules={},
        jobs=lambda since, until: _jobs(company, since, until),
    )
    directory = InMemoryDirectory(people=people)
    return Office(company, ExplainAnswers(cast("Any", application), directory))


def _jobs(company: Company, since: Any, until: Any) -> Any:
    from bot.use_cases.jobs import job_lines
    from bot.use_cases.parts import CostQuestion
    from bot.use_cases.pricing import price_book

    with company.store.read() as unit:
        return job_lines(
            unit.ledger,
            CostQuestion(since=since, until=until, by="job"),
            prices=price_book(unit.ledger, ()),
            keys=company.keys,
            now=company.now,
        )


@pytest.mark.parametrize("person", ["mia", "rae"], ids=["owner", "admin"])
def test_owner_and_admin_may_give_cost_to_a_job(office: Office, person: str) -> None:
    text = office.says(person, f"untagged confirm {ITEM} --job job-123")

    assert f"`{ITEM}` belongs to `job-123`" in text
    with office.company.store.read() as unit:
        (kept,) = unit.ledger.assignments()
    assert kept.by == f"p-{person}"
    assert office.company.ask("job-123", until="2026-11-27").total == usd("87")


def test_nobody_else_may(office: Office) -> None:
    text = office.says("omar", f"untagged confirm {ITEM} --job job-123")

    assert text.endswith(NOT_ALLOWED)
    with office.company.store.read() as unit:
        assert unit.ledger.assignments() == []
        assert unit.audit.head()[0] == 0


def test_only_who_may_give_may_take_back(office: Office) -> None:
    office.says("mia", f"untagged confirm {ITEM} --job job-123")

    refused = office.says("omar", "untagged undo 1")
    done = office.says("rae", "untagged undo 1")

    assert refused.endswith(NOT_ALLOWED)
    assert "is no longer given to `job-123`" in done


def test_the_button_of_an_item_carries_job_and_days(office: Office) -> None:
    text = office.says("mia", "untagged")

    assert (
        f"untagged_confirm=untagged confirm {ITEM} --job=job-123 --since=2026-11-01"
        in text.replace("\n   ", " ")
    )


def test_why_has_a_page(office: Office) -> None:
    text = office.says("mia", "why job-123")

    assert "How computed: job-123" in text
    assert "[Share answer_share=why job-123]" in text
    assert "answer_more" not in text


def test_me_are_the_jobs_whose_owner_tag_is_me(office: Office) -> None:
    assert "job-123" in office.says("mia", "me")
    assert "No job of yours" in office.says("omar", "me")
    assert "vision-lead" in office.says("omar", "me")


def test_budget_is_spent_and_pace_of_the_month(office: Office) -> None:
    text = office.says("mia", "budget")
    one = office.says("mia", "budget nlp")

    assert text.index("nlp") < text.index("ops")
    assert "Over the budget at this pace: `nlp`" in text
    assert "ops" not in one
    assert "No budget and no cost of team `nobody`" in office.says(
        "mia", "budget nobody"
    )


def test_verbs_that_change_are_answered_here(office: Office) -> None:
    assert {CONFIRM, UNDO} <= set(office.answers.answers())
    assert at("2026-11-30T09:00Z") == office.company.now
