"""Backup and restore of everything stored, over settings.

A restored database starts paused, with nothing waiting to be posted or done: what
happened after the backup is not in it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from billing.core.errors import GpucostError
from billing.core.periods import rfc3339
from billing.ledger.database import Database, open_database
from bot.clock import system_now
from bot.migrations import check, current, upgrade
from bot.secrets import load_or_create_key
from bot.settings import Settings, load_settings
from bot.unit_of_work import SqlStore, StoreSettings, acquire_serve_lock
from bot.unit_of_work.copies import (
    BadBackupError,
    check_file,
    copy_file,
    copy_in,
    copy_out,
    refuse_company,
    seal,
)
from bot.unit_of_work.restored import abandon_effects, skip_slots
from bot.use_cases.control import pause
from bot.wiring.parts import AUDIT_KEY_FILE, rules_clock

_MANIFEST = "backup_manifest"
_PAUSED_BY = "restore"
_BLOCK = 1 << 20
_SUFFIXES_MAX = 1_000


class BackupExistsError(GpucostError):
    """A backup would overwrite a file."""

    code = "file_exists"
    exit_code = 2
    hint = "name a new file"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{str(path)!r} exists and is not overwritten")


class BackupFailedError(GpucostError):
    """A backup could not be written where it was wanted."""

    code = "backup_failed"

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"cannot write {str(path)!r}: {error.strerror}")


class NothingToBackUpError(GpucostError):
    """The database holds nothing of gpucost's."""

    code = "nothing_to_back_up"
    hint = "is GPUCOST_CONFIG or GPUCOST_DATABASE_URL the one of `gpucost serve`?"

    def __init__(self) -> None:
        super().__init__("the database is empty: there is nothing to back up")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did.

    Attributes:
        taken_at: When the backup was taken; None for a file that does not say.
        kept: Holds what was there before; None when there was nothing.
        given_up: Messages that were waiting to be posted.
        audit_problems: Of the restored audit chain, under this machine's key.
    """

    taken_at: str | None
    schema_before: str
    schema_after: str
    kept: Path | None
    given_up: int
    audit_problems: int

    def document(self) -> Mapping[str, object]:
        """Return the answer for programs."""
        return {
            "restored": True,
            "taken_at": self.taken_at,
            "schema_before": self.schema_before,
            "schema_after": self.schema_after,
            "kept": None if self.kept is None else str(self.kept),
            "paused": True,
            "messages_given_up": self.given_up,
            "audit_problems": self.audit_problems,
        }


def backup_to(config: str, out: Path) -> Mapping[str, object]:
    """Write everything stored to one new file, and its checksum beside it.

    Raises:
        BackupExistsError: The file is there already.
        SchemaError: The PostgreSQL database is not of this release.
    """
    settings = load_settings(config)
    now = rules_clock(settings)().replace(microsecond=0)
    with _opened(settings) as database:
        if current(database.engine) is None:
            raise NothingToBackUpError
        if not database.is_sqlite:
            check(database.engine)
        _write_backup(database, out, now)
    digest = _sha256(out)
    sums = out.with_name(f"{out.name}.sha256")
    sums.write_text(f"{digest}  {out.name}\n", encoding="utf-8")
    return {
        "file": str(out),
        "bytes": out.stat().st_size,
        "sha256": digest,
        "taken_at": rfc3339(now),
    }


def restore_from(config: str, path: Path) -> Restored:
    """Put a backup in place of everything stored; what was there is kept in a file.

    Raises:
        BadBackupError: The file is damaged or no backup.
        SchemaError: A newer release wrote it.
        ServeLockedError: A `serve` runs on the database (SQLite).
        DatabaseInUseError: As above (PostgreSQL).
    """
    settings = load_settings(config)
    now = rules_clock(settings)().replace(microsecond=0)
    check_file(path)
    _check_sum(path)
    folder = settings.config.data_dir
    folder.mkdir(parents=True, exist_ok=True)
    with (
        _opened(settings) as database,
        acquire_serve_lock(database),
        TemporaryDirectory(prefix="restore-", dir=folder) as scratch,
    ):
        if not database.is_sqlite:
            with database.read() as session:
                refuse_company(session.connection())
            database.close()
        copy = Path(scratch) / "copy.db"
        restored = _prepare(settings, path, copy, now)
        kept = _keep(database, folder, now)
        if not database.is_sqlite:
            upgrade(database.engine)
            database.close()
        copy_in(copy, database)
    return replace(restored, kept=kept)


@contextmanager
def _opened(settings: Settings) -> Iterator[Database]:
    database = open_database(settings.database_url)
    try:
        yield database
    finally:
        database.close()


def _write_backup(database: Database, out: Path, now: datetime) -> None:
    """Copy to a file beside the wanted one, which appears whole or not at all."""
    if out.exists():
        raise BackupExistsError(out)
    try:
        with TemporaryDirectory(prefix=".backup-", dir=out.parent) as scratch:
            copy = Path(scratch) / "copy.db"
            _copied(database, copy)
            _note(copy, now)
            seal(copy)
            os.link(copy, out)
    except FileExistsError as error:
        raise BackupExistsError(out) from error
    except OSError as error:
        raise BackupFailedError(out, error) from error


def _copied(database: Database, copy: Path) -> None:
    if not database.is_sqlite:
        with _at(copy) as made:
            upgrade(made.engine)
    copy_out(database, copy)


def _note(copy: Path, now: datetime) -> None:
    with closing(sqlite3.connect(copy)) as file, file:
        file.execute(f"DROP TABLE IF EXISTS {_MANIFEST}")
        file.execute(f"CREATE TABLE {_MANIFEST} (taken_at TEXT NOT NULL)")
        file.execute(f"INSERT INTO {_MANIFEST} VALUES (?)", (rfc3339(now),))  # noqa: S608 - our own name


def _take_note(copy: Path) -> str | None:
    """Return when a copy was taken, and remove what is no part of the schema."""
    query = f"SELECT taken_at FROM {_MANIFEST}"  # noqa: S608 - our own name
    with closing(sqlite3.connect(copy)) as file, file:
        try:
            found = file.execute(query).fetchone()
        except sqlite3.OperationalError:
            return None  # A plain copy of the file, made by hand.
        file.execute(f"DROP TABLE {_MANIFEST}")
    return str(found[0]) if found else None


@contextmanager
def _at(path: Path) -> Iterator[Database]:
    database = open_database(f"sqlite:///{path}")
    try:
        yield database
    finally:
        database.close()


def _prepare(settings: Settings, path: Path, copy: Path, now: datetime) -> Restored:
    """Copy a backup, bring it to this release and make it safe to run."""
    copy_file(path, copy)
    taken_at = _take_note(copy)
    with _at(copy) as database:
        before = current(database.engine) or ""
        after = upgrade(database.engine)
        store = SqlStore(database, _store_settings(settings))
        given_up, problems = _make_safe(store, taken_at, now)
    seal(copy)
    return Restored(
        taken_at=taken_at, schema_before=before, schema_after=after, kept=None,
        given_up=given_up, audit_problems=problems,
    )  # fmt: skip


def _store_settings(settings: Settings) -> StoreSettings:
    key = load_or_create_key(settings.config.data_dir / AUDIT_KEY_FILE)
    return StoreSettings(audit_key=key, effect_clock=system_now)


def _make_safe(store: SqlStore, taken_at: str | None, now: datetime) -> tuple[int, int]:
    """Pause, call off what waits and give up messages; return how many, and problems."""
    with store.read() as unit:
        problems = len(unit.audit.verify())
    of = taken_at or "an unknown time"
    reason = f"restored from a backup of {of}"
    pause(store, by=_PAUSED_BY, reason=reason, now=now)
    with store.write() as unit:
        given_up = abandon_effects(unit, reason=reason, now=system_now())
        skip_slots(unit, prefix="digest:", now=now)
        unit.audit.append(
            "restored", actor=_PAUSED_BY, subject="database",
            data={"taken_at": of, "messages_given_up": given_up}, now=now,
        )  # fmt: skip
    return given_up, problems


def _keep(database: Database, folder: Path, now: datetime) -> Path | None:
    """Write what is there to a file of its own; nothing when it holds nothing."""
    if not database.is_sqlite and current(database.engine) is None:
        return None
    kept = _free_name(folder, f"before-restore-{now:%Y%m%dT%H%M%SZ}")
    source = database.sqlite_path
    if source is None:
        upgrade(database.engine)
        _write_backup(database, kept, now)
        return kept
    if source.stat().st_size == 0:
        return None
    try:
        database.close()
        _write_backup(database, kept, now)
    except sqlite3.DatabaseError:
        _set_aside(source, kept)
    return kept


def _set_aside(source: Path, kept: Path) -> None:
    """Move a damaged SQLite file and its log away: nothing can read them as they are."""
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            source.with_name(source.name + ending).rename(f"{kept}{ending}")


def _free_name(folder: Path, stem: str) -> Path:
    names = (f"{stem}{f'-{n}' if n else ''}.db" for n in range(_SUFFIXES_MAX))
    return next(folder / name for name in names if not (folder / name).exists())


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _check_sum(path: Path) -> None:
    """Hold a backup to the checksum beside it, where there is one."""
    sums = path.with_name(f"{path.name}.sha256")
    try:
        wanted = sums.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return
    if wanted[:1] != [_sha256(path)]:
        raise BadBackupError(path, f"it does not fit its checksum in {sums.name!r}")
