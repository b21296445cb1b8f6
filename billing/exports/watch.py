"""How far a statement of DuckDB's has come, told while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Told a share from 0 to 1.
Share = Callable[[float], None]
EVERY_S = 0.2
_PERCENT = 100.0


@contextmanager
def watched(connection: DuckDBPyConnection, share: Share | None) -> Iterator[None]:
    """Tell how far statements of the block have come; None: nobody wants to know."""
    if share is None:
        yield
        return
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(EVERY_S):
            done = connection.query_progress()
            if 0 <= done <= _PERCENT:
                share(done / _PERCENT)

    watcher = threading.Thread(target=look, name="export-progress", daemon=True)
    watcher.start()
    try:
        yield
        share(1.0)
    finally:
        ended.set()
        watcher.join()
        connection.execute("SET enable_progress_bar = false")
