"""A backup holds everything, and what is restored from it does nothing by itself."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from billing.ledger.columns import metadata
from bot import migrations
from bot.ports import OutboxMessage
from bot.unit_of_work import SqlStore, StoreSettings, acquire_serve_lock
from bot.use_cases.control import resume
from policies.core.actions import ActionState
from tests.builders_acting import Floor
from tests.builders_cli import Office, Ran
from tests.builders_policies import NOW
from tests.builders_store import AUDIT_KEY
from tests.builders_use_cases import Company, costs, runs
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LATER = NOW + timedelta(hours=30)


class Site(Office):
    """A company on one database, its folder, and its audit key."""

    url: str = ""

    @contextmanager
    def opened(self) -> Iterator[SqlStore]:
        store = SqlStore.open(self.url, StoreSettings(audit_key=AUDIT_KEY))
        yield store
        store.close()

    def content(self) -> dict[str, list[tuple[object, ...]]]:
        with self.opened() as store, store.read() as unit:
            connection = unit.session.connection()
            return {
                table.name: sorted(
                    map(tuple, connection.execute(table.select())), key=repr
                )
                for table in metadata.sorted_tables
            }

    def total(self) -> str:
        return str(self.json("cost", "--since", "2026-11-01")["billed"])

    def backup(self, name: str = "backup.db") -> Path:
        out = self.folder / name
        assert self.run("db", "backup", "--out", str(out)).code == 0
        return out

    def restore(self, path: Path) -> Ran:
        return self.run("db", "restore", str(path), "--format", "json")


@pytest.fixture
def site(tmp_path: Path, store_url: str) -> Site:
    """Return a company with a bill, an instance, a warned action and a message."""
    site = Site(tmp_path, {"GPUCOST_DATABASE_URL": store_url})
    site.url = store_url
    site.config.write_text(f"data_dir: {tmp_path}\napprovals: {{cli: trusted}}\n")
    key = tmp_path / "audit.key"
    key.touch(mode=0o600)
    key.write_bytes(AUDIT_KEY.hex().encode())
    site.environment |= {
        "GPUCOST_CONFIG": str(site.config), "GPUCOST_NOW": "2026-11-30T09:00:00Z"
    }  # fmt: skip
    with site.opened() as store:
        company = Company(store)
        company.bills(costs("2026-11-28", "240"), through="2026-11-30")
        company.is_watched(runs(since="2026-11-30"))
        Floor(store).evaluate()
    return site


def test_what_is_restored_is_what_was_there(site: Site) -> None:
    before = site.content()
    path = site.backup()
    _change(site)

    document = site.restore(path)

    assert document.code == 0, document.err
    after = site.content()
    settled = {"outbox", "control_flag", "audit_event", "schedule_slot", "action"}
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= settled
    assert all(before[name] for name in ("charge", "usage_interval", "outbox"))
    assert site.total() == "240.00"


def _change(site: Site) -> None:
    with site.opened() as store:
        Company(store).bills(costs("2026-11-29", "60"), through="2026-11-30")


def test_a_restored_database_starts_paused_and_does_nothing_that_waited(
    site: Site,
) -> None:
    """What was done after the backup is never done again (F17)."""
    path = site.backup()
    with site.opened() as store:
        floor = Floor(store)
        floor.deliver()
        floor.wait(15)
        (outcome,) = floor.act()
        assert outcome.state is ActionState.DONE

    assert site.restore(path).json["paused"] is True

    with site.opened() as store:
        again = Floor(store, now=LATER)
        assert again.states() == ["cancelled"]
        assert again.act() == ()
        resume(store, by="p-ada", now=LATER)
        assert again.act() == ()
        assert again.enforcer.done == {}


def test_messages_that_waited_are_given_up_with_the_reason(site: Site) -> None:
    path = site.backup()

    document = site.restore(path).json

    with site.opened() as store:
        with store.write() as unit:
            assert unit.outbox.claim(LATER, worker="w", limit=50) == []
            assert set(unit.outbox.depth()) == {"failed"}
            assert unit.control.paused() == {
                "by": "restore",
                "since": "2026-11-30T09:00:00Z",
                "reason": "restored from a backup of 2026-11-30T09:00:00Z",
            }
            assert unit.audit.verify() == []
        assert document["messages_given_up"] > 0
        assert document["audit_problems"] == 0


def test_keys_that_grow_go_on_after_a_restore(site: Site) -> None:
    site.restore(site.backup())

    with site.opened() as store, store.write() as unit:
        message = OutboxMessage(key="new", kind="post", channel="C0", payload={})
        assert unit.outbox.put(message, NOW)
    _change(site)
    assert site.total() == "300.00"


def test_what_was_there_is_kept_and_can_be_restored_in_turn(site: Site) -> None:
    path = site.backup()
    _change(site)

    kept = site.restore(path).json["kept"]
    assert site.total() == "240.00"
    site.run("db", "restore", kept)

    assert site.total() == "300.00"


def test_a_digest_that_was_sent_after_the_backup_is_not_sent_again(site: Site) -> None:
    schedule = "digest:#gpu-costs:week:"
    with site.opened() as store, store.write() as unit:
        slot = NOW - timedelta(days=7)
        unit.slots.claim(schedule, slot, owner="a", now=slot, lease_s=60)
        unit.slots.finish(schedule, slot, owner="a", now=slot)

    site.restore(site.backup())

    with site.opened() as store:
        with store.read() as unit:
            last = unit.slots.last_done(schedule)
        assert last is not None
        assert last >= slot + timedelta(days=7) - timedelta(hours=6)


@pytest.mark.postgres
def test_a_backup_of_one_kind_of_database_goes_into_the_other(
    sqlite_store_url: str, postgres_store_url: str, tmp_path: Path
) -> None:
    for source, target in (
        (sqlite_store_url, postgres_store_url), (postgres_store_url, sqlite_store_url),
    ):  # fmt: skip
        site = Site(tmp_path, {"GPUCOST_NOW": "2026-11-30T09:00:00Z"})
        site.url = source
        site.environment["GPUCOST_CONFIG"] = str(site.config)
        site.config.write_text(f"data_dir: {tmp_path}\n")
        site.environment["GPUCOST_DATABASE_URL"] = source
        with site.opened() as store:
            Company(store).bills(costs("2026-11-28", "240"), through="2026-11-30")
        path = site.backup(f"{source[:6]}.db")
        site.environment["GPUCOST_DATABASE_URL"] = target

        assert site.restore(path).code == 0

        assert site.total() == "240.00"


def test_a_restore_is_refused_while_the_service_runs(site: Site) -> None:
    path = site.backup()
    with site.opened() as store:
        with acquire_serve_lock(store.database), store.read() as unit:
            assert unit.control.paused() is None

            refused = site.restore(path)

        assert refused.code == 1
        assert refused.json["error"]["code"] in {"already_serving", "database_in_use"}
        with store.read() as unit:
            assert unit.control.paused() is None


def test_a_backup_never_overwrites_a_file(site: Site) -> None:
    path = site.backup()
    size = path.stat().st_size

    assert site.run("db", "backup", "--out", str(path)).code == 2
    assert path.stat().st_size == size
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["cut", "changed", "text", "missing", "other"])
def test_a_damaged_backup_changes_nothing(site: Site, damage: str) -> None:
    path = site.backup()
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    if damage == "changed":
        path.write_bytes(whole.replace(b"BoxUsage", b"BoxUsaga"))
    if damage == "text":
        path.write_text("no database")
    if damage == "missing":
        path.unlink()
    if damage == "other":
        path.unlink()
        path.with_name("backup.db.sha256").unlink()
        with closing(sqlite3.connect(path)) as file:
            file.execute("CREATE TABLE x (y)")
    before = site.content()

    refused = site.restore(path)

    assert refused.code == 1
    assert refused.json["error"]["code"] == "bad_backup"
    assert site.content() == before


def test_a_backup_of_an_older_schema_is_brought_up(
    tmp_path: Path, sqlite_store_url: str
) -> None:
    site = Site(tmp_path, {"GPUCOST_NOW": "2026-11-30T09:00:00Z"})
    site.config.write_text(f"data_dir: {tmp_path}\n")
    site.environment |= {
        "GPUCOST_CONFIG": str(site.config), "GPUCOST_DATABASE_URL": sqlite_store_url
    }  # fmt: skip
    site.url = sqlite_store_url
    with site.opened() as store:
        migrations.downgrade(store.database.engine, "0003")
    path = site.backup()

    document = site.restore(path).json

    assert document["schema_before"] == "0003"
    assert document["schema_after"] == migrations.head()


def test_a_database_that_is_beyond_reading_is_set_aside(
    tmp_path: Path, sqlite_store_url: str
) -> None:
    site = Site(tmp_path, {"GPUCOST_NOW": "2026-11-30T09:00:00Z"})
    site.config.write_text(f"data_dir: {tmp_path}\n")
    site.environment |= {
        "GPUCOST_CONFIG": str(site.config), "GPUCOST_DATABASE_URL": sqlite_store_url
    }  # fmt: skip
    path = site.backup()
    (tmp_path / "store.sqlite").write_bytes(b"\0" * 8192)

    document = site.restore(path).json

    assert document["restored"] is True
    assert site.run("db", "check").code == 0


STOPPED = """
import os, signal, sys
from bot.unit_of_work import copies
from bot.cli import app
left = int(sys.argv.pop(1))
def pages(source, table, whole=copies._pages):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(source, table)
copies._pages = pages
def progress(status, remaining, total):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
def in_steps(source, target):
    from contextlib import closing
    import sqlite3
    with closing(sqlite3.connect(source)) as a, closing(sqlite3.connect(target)) as b:
        a.backup(b, pages=8, progress=progress)
copies.copy_file = in_steps
app()
"""


@pytest.mark.parametrize("left", [1, 2, 9])
def test_who_dies_in_a_restore_leaves_the_old_content(site: Site, left: int) -> None:
    path = site.backup()
    _change(site)

    died = subprocess.run(
        [sys.executable, "-c", STOPPED, str(left), "db", "restore", str(path)],
        cwd=ROOT, env=os.environ | site.environment, check=False, capture_output=True,
    )  # fmt: skip

    assert died.returncode == -signal.SIGKILL, died.stderr
    assert site.total() == "300.00"
    with site.opened() as store, store.read() as unit:
        assert unit.control.paused() is None


def test_an_empty_database_is_not_taken_for_a_backup(tmp_path: Path) -> None:
    site = Site(tmp_path, {"GPUCOST_DATABASE_URL": f"sqlite:///{tmp_path / 'new.db'}"})
    out = tmp_path / "backup.db"

    refused = site.run("db", "backup", "--out", str(out), "--format", "json")

    assert refused.code == 1
    assert refused.json["error"]["code"] == "nothing_to_back_up"
    assert not out.exists()
