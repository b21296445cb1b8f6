"""When running jobs are looked at: after each poll and each batch of events, once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Source
from bot.use_cases.policies import Routing
from bot.wiring import gates
from bot.wiring.gates import Gates
from tests.builders import ACCOUNT, NOW
from tests.builders_http import make_site
from tests.builders_use_cases import runs

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore
    from tests.builders_http import Site


@dataclass
class Watched:
    """Gates of a company whose job runs over the limit without a grant."""

    site: Site
    gates: Gates = field(init=False)

    def __post_init__(self) -> None:
        application = self.site.application
        self.gates = Gates(
            application,
            lambda: application.load_policies(None),
            lambda: None,
            lambda _: Routing(alerts=""),
        )

    def polls(self, count: int, minutes: int) -> None:
        at = NOW + timedelta(minutes=minutes)
        company = self.site.company
        company.is_watched(
            *(runs(f"i-{number}", job="llm-1", since=NOW) for number in range(count)),
            at_=at,
        )
        with company.store.write() as unit:
            unit.ledger.note_freshness(Source.INVENTORY, ACCOUNT, as_of=at)

    def asked(self) -> int:
        with self.site.company.store.read() as unit:
            return len(unit.journal.requests())


@pytest.fixture
def watched(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Watched:
    site = make_site(store, tmp_path, monkeypatch)
    policies = tmp_path / "policies.yaml"
    text = policies.read_text().replace(
        "kind: approval", "kind: approval\n    mode: notify"
    )
    policies.write_text(text)
    return Watched(site)


def test_a_poll_is_followed_by_a_look(watched: Watched) -> None:
    watched.gates.look(NOW)
    watched.polls(8, minutes=0)

    watched.gates.look(NOW)

    assert watched.asked() == 1


def test_events_are_followed_by_a_look(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = _counted(monkeypatch)
    watched.gates.look(NOW)
    watched.gates.look(NOW)
    assert len(looks) == 1

    with watched.site.company.store.write() as unit:
        unit.events.count({"state": 1}, NOW.date())
    watched.gates.look(NOW)

    assert len(looks) == 2


def test_a_look_that_failed_is_made_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.polls(8, minutes=0)
    with monkeypatch.context() as broken:
        broken.setattr(gates, "lapse_drifted", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            watched.gates.look(NOW)

    watched.gates.look(NOW)

    assert watched.asked() == 1


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    looks: list[object] = []

    def look(*arguments: object) -> tuple[object, ...]:
        looks.append(arguments)
        return ()

    monkeypatch.setattr(gates, "lapse_drifted", look)
    return looks
