"""What `gpucost doctor` says of the machine it runs on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.clock import system_now

if TYPE_CHECKING:
    from tests.cases.place import Place


@pytest.mark.parametrize(("behind_s", "ok"), [(600, False), (0, True)])
def test_a_clock_ten_minutes_behind_fails_the_check(  # C116
    place: Place, monkeypatch: pytest.MonkeyPatch, behind_s: int, *, ok: bool
) -> None:
    machine = system_now() - timedelta(seconds=behind_s)
    monkeypatch.setattr("bot.wiring.checks.system_now", lambda: machine)

    (clock,) = [one for one in place.application.doctor() if one.name == "clock"]

    assert clock.ok is ok
    assert ("NTP" in clock.fix) is not ok
