"""One `serve` on one SQLite file: a lock that the kernel drops when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from billing.core.errors import GpucostError
from billing.ledger.database import Database


class ServeLockedError(GpucostError):
    """Another `serve` runs on the same SQLite file."""

    code = "already_serving"
    hint = "stop the other one, or use PostgreSQL to run several replicas"

    def __init__(self, path: Path, holder: str) -> None:
        who = f" (process {holder})" if holder else ""
        super().__init__(f"another `gpucost serve` uses {str(path)!r}{who}")


@contextmanager
def acquire_serve_lock(database: Database) -> Iterator[None]:
    """Hold the right to serve on a database; PostgreSQL needs none.

    Other commands do not ask for it and work beside.

    Raises:
        ServeLockedError: Somebody else holds it.
    """
    path = database.sqlite_path
    if path is None:
        yield
        return
    descriptor = os.open(
        path.with_name(f"{path.name}.serve.lock"), os.O_RDWR | os.O_CREAT, 0o600
    )
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise ServeLockedError(path, holder) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
