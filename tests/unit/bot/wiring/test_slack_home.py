"""The menu and the home tab over a real store, for the person who opens them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.settings.sections import Config
from bot.slack.grammar import Question
from bot.slack.handlers import Ask, Asker
from bot.use_cases.wishes import quiet_now
from bot.views.answers import Message
from bot.views.my_day import MENTIONS, QUIET
from bot.wiring.slack_home import NOBODY, HomeDesk
from tests.builders import NOW
from tests.builders_bot import shown
from tests.builders_use_cases import Company, rate, runs
from tests.fakes.directory import InMemoryDirectory, make_person
from tests.unit.bot.views.test_my_day import make_line

if TYPE_CHECKING:
    from datetime import tzinfo

    from bot.unit_of_work import SqlStore

CONFIG = {"teams": {"nlp": {"budget": "$1000", "leads": ["@lea"]}}}


@pytest.fixture
def desk(store: SqlStore) -> HomeDesk:
    company = Company(store)
    company.is_priced(rate("10"))
    company.is_watched(runs("i-1", since=NOW - timedelta(hours=5)))
    with store.write() as unit:
        people = [
            replace(one, person_id=unit.people.remember(slack_id=one.slack_id))
            for one in (
                make_person("mia"), make_person("lea"),
                make_person("guest", is_guest=True),
            )
        ]  # fmt: skip
    lines = (
        make_line("job-123", owner="@mia", team="nlp"),
        make_line("job-9", owner="@bob"),
        make_line("job-8", owner="@mia", instances=0),
    )
    application = SimpleNamespace(
        store=store, settings=SimpleNamespace(config=Config.model_validate(CONFIG)),
        now=lambda: NOW, jobs=lambda _since, _until: lines,
    )  # fmt: skip
    return HomeDesk(cast("Any", application), cast("Any", InMemoryDirectory(people)))


def _asker(name: str) -> Asker:
    return Asker(
        user_id=f"U0{name.upper()}", team_id="T1", enterprise_id="", channel_id=""
    )


def _home(desk: HomeDesk, name: str) -> str:
    view = desk.home(_asker(name))
    texts = tuple(one for one in view["blocks"] if one["type"] != "actions")
    return shown(Message(text="", blocks=texts))


def test_home_shows_ones_own_running_jobs_and_team(desk: HomeDesk) -> None:
    told = _home(desk, "mia")

    assert "*My jobs*: 1 running" in told
    assert "`job-123`" in told
    assert "`job-9`" not in told
    assert "`nlp`" in told


def test_a_lead_sees_the_team_without_jobs_of_their_own(desk: HomeDesk) -> None:
    told = _home(desk, "lea")

    assert "none of yours runs" in told
    assert "`nlp`" in told


def test_guests_see_nothing(desk: HomeDesk) -> None:
    assert desk.home(_asker("guest")) == NOBODY


def test_the_menu_says_the_same(desk: HomeDesk) -> None:
    ask = Ask(asker=_asker("mia"), question=Question(verb="menu"), now=NOW, key="1")

    assert "*My jobs*: 1 running" in shown(*desk.menu(ask))


def test_settings_are_kept_and_heeded(desk: HomeDesk, store: SqlStore) -> None:
    def zone(_: str) -> tzinfo:
        return NOW.tzinfo or cast("Any", None)

    def quiet() -> frozenset[str]:
        return quiet_now(store, ["U0MIA", "U0LEA"], zone, NOW)

    assert quiet() == frozenset()
    desk.change(_asker("mia"), MENTIONS, "off")
    assert quiet() == {"U0MIA"}
    desk.change(_asker("mia"), MENTIONS, "on")
    desk.change(_asker("mia"), QUIET, "18-08")
    desk.change(_asker("lea"), QUIET, "forged")

    assert quiet() == frozenset()
    assert quiet_now(store, ["U0MIA"], zone, NOW.replace(hour=23)) == {"U0MIA"}
    assert "Quiet from 18:00" in str(desk.home(_asker("mia")))
