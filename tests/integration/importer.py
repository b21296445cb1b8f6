"""A program that imports months and can be killed: `python -m tests.integration.importer`.

It reads orders on stdin, one a line: a database URL, the seeds of the months to import
and where to stop. Each order runs in a fork of its own, so that a kill costs no start of
an interpreter. It answers `pid N`, `ready`, `at NAME` when it stopped at a named point,
`done` after each import and `exit N` when the fork ended.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from billing.core.money import Money
from billing.core.periods import days_between
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import ACCOUNT, NOW, make_charge
from tests.builders_store import AUDIT_KEY, CE, controls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.core.charges import Charge

SINCE, UNTIL = date(2026, 11, 1), date(2026, 12, 1)
#: Statements of the swap by what they begin with, and the name of the point before.
STATEMENTS = {
    "DELETE FROM charge WHERE": "before-delete",
    "INSERT INTO charge (": "before-insert",
    "DELETE FROM cost_rollup": "before-rollup",
    "INSERT INTO day_control": "before-controls",
    "INSERT INTO day_version": "before-versions",
    "DELETE FROM charge_staging WHERE charge_staging.import_id =": "before-clear",
    "INSERT INTO freshness": "before-freshness",
}
#: A fork that nobody kills ends by itself.
LIFE_S_MAX = 120
POINTS = (
    *("begun", "mid-stage", "staged", "in-swap"),
    *STATEMENTS.values(),
    *("before-commit", "after-commit"),
)


def month(seed: int, *, per_day: int = 12) -> list[Charge]:
    """Make a month of charges that depends on a seed."""
    rnd = random.Random(seed)
    return [
        make_charge(
            job=rnd.choice(["", "job-1", "job-2", "job-3"]),
            on=day.isoformat(),
            billed=f"{rnd.randrange(1, 10**6)}.{rnd.randrange(10**9):09d}",
        )
        for day in days_between(SINCE, UNTIL)
        for _ in range(per_day)
    ]


def total_of(charges: Sequence[Charge]) -> Money:
    return sum((charge.billed for charge in charges), Money.zero())


class Importer:
    """One import that says where it is."""

    def __init__(self, store: SqlStore, stop_at: str) -> None:
        self._store = store
        self._stop_at = stop_at
        self._in_swap = False

    def at(self, name: str) -> None:
        if name == self._stop_at:
            print("at", name, flush=True)
            signal.pause()

    def on_statement(self, *arguments: Any) -> None:
        statement = arguments[2]
        for start, name in STATEMENTS.items():
            if self._in_swap and statement.startswith(start):
                self.at(name)

    def run(self, charges: Sequence[Charge]) -> None:
        store = self._store
        with store.write() as unit:
            import_id = unit.ledger.begin_import(CE, ACCOUNT, SINCE, UNTIL, NOW)
        self.at("begun")
        third = len(charges) // 3 + 1
        for start in range(0, len(charges), third):
            with store.write() as unit:
                unit.ledger.stage(import_id, charges[start : start + third])
                if start:
                    self.at("mid-stage")
        self.at("staged")
        controls = controls_of(charges)
        with store.write() as unit:
            self.at("in-swap")
            self._in_swap = True
            unit.ledger.swap(import_id, controls, NOW + timedelta(minutes=1))
            self.at("before-commit")
        self.at("after-commit")


def work(url: str, seeds: str, stop_at: str) -> None:
    """Import the months of seeds into a database, again and again if asked to."""
    store = SqlStore.open(url, StoreSettings(audit_key=AUDIT_KEY))
    importer = Importer(store, stop_at)
    event.listen(store.database.engine, "before_cursor_execute", importer.on_statement)
    months = [month(int(seed)) for seed in seeds.split(",")]
    print("ready", flush=True)
    while True:
        for charges in months:
            importer.run(charges)
            print("done", flush=True)
        if stop_at != "loop":
            return


def main() -> None:
    """Take orders until stdin ends."""
    for line in iter(sys.stdin.readline, ""):
        url, seeds, stop_at = line.rstrip("\n").split(" ")
        child = os.fork()
        if child == 0:
            # Said by the fork itself, so that nothing it says can come before it.
            print("pid", os.getpid(), flush=True)
            signal.alarm(LIFE_S_MAX)
            try:
                work(url, seeds, stop_at)
            except BaseException:  # noqa: BLE001 - the parent is told by the status
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("exit", status, flush=True)


if __name__ == "__main__":
    main()
