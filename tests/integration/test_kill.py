"""kill -9 anywhere in an import leaves the old days or the new ones, never a mix."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from billing.ledger.check import ledger_problems
from tests.integration.importer import POINTS, SINCE, UNTIL, month, total_of
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from billing.core.money import Money
    from bot.unit_of_work import SqlStore

OLD, NEW = 1, 2


class Worker:
    """The importing program, one order at a time."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program
        self._pid = 0

    def order(self, url: str, seeds: str, stop_at: str = "") -> None:
        assert self._program.stdin is not None
        self._program.stdin.write(f"{url} {seeds} {stop_at}\n")
        self._program.stdin.flush()
        self._pid = int(self.until("pid"))

    def until(self, word: str) -> str:
        """Read answers up to one that begins with a word; return the rest of it."""
        assert self._program.stdout is not None
        for line in iter(self._program.stdout.readline, ""):
            if line.startswith(word):
                return line.removeprefix(word).strip()
            if line.startswith("exit"):
                break
        message = f"the importer ended before it said {word!r}"
        raise AssertionError(message)

    def run(self, url: str, seed: int) -> None:
        self.order(url, str(seed))
        assert self.until("exit") == "0"

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        assert self.until("exit") == str(int(signal.SIGKILL))


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.integration.importer"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        yield Worker(program)
        program.kill()


def _billed(store: SqlStore) -> Money:
    with store.read() as unit:
        cells = unit.ledger.cells("", SINCE, UNTIL)
    return sum((cell.billed for cell in cells[1:]), cells[0].billed)


def _assert_whole(store: SqlStore) -> None:
    with store.database.read() as session:
        assert ledger_problems(session) == []
        if store.database.is_sqlite:
            assert session.execute(text("PRAGMA quick_check")).scalar_one() == "ok"


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_named_point_leaves_old_or_new(
    store: SqlStore, store_url: str, worker: Worker, point: str
) -> None:
    worker.run(store_url, OLD)

    worker.order(store_url, str(NEW), point)
    assert worker.until("at") == point
    while_it_runs = _billed(store)
    worker.kill()

    expected = NEW if point == "after-commit" else OLD
    assert while_it_runs == _billed(store) == total_of(month(expected))
    _assert_whole(store)
    worker.run(store_url, NEW)
    assert _billed(store) == total_of(month(NEW))
    _assert_whole(store)


def _kill_at_random(
    store: SqlStore, url: str, worker: Worker, *, kills: int, seed: int
) -> None:
    """Kill an importer that never stops, each time somewhere else, while we read."""
    rnd = random.Random(seed)
    allowed = {total_of(month(OLD)), total_of(month(NEW))}
    worker.run(url, OLD)
    for _ in range(kills):
        worker.order(url, f"{NEW},{OLD}", "loop")
        worker.until("ready")  # From here on, anywhere.
        for _ in range(rnd.randrange(1, 25)):
            assert _billed(store) in allowed
        worker.kill()
        assert _billed(store) in allowed
        _assert_whole(store)
    worker.run(url, NEW)
    assert _billed(store) == total_of(month(NEW))


def test_kills_at_random_leave_old_or_new_for_every_reader(
    store: SqlStore, store_url: str, worker: Worker
) -> None:
    _kill_at_random(store, store_url, worker, kills=30, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_kills_at_random_leave_old_or_new(
    store: SqlStore, store_url: str, worker: Worker, seed: int
) -> None:
    _kill_at_random(store, store_url, worker, kills=200, seed=seed)
