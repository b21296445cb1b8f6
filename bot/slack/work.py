"""A pool of stated size for the work behind an ack; full means "busy", not "later".

A listener acknowledges and hands over; nothing waits in Slack's three seconds for a
database or for AWS.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Protocol

WORKERS = 8
WAITING_MAX = 500


class Work(Protocol):
    """Takes a piece of work, or says that it cannot."""

    def submit(self, job: Callable[[], None]) -> bool:
        """Do it soon; False when there is no room (it will not be done)."""


class WorkPool:
    """Threads with a bounded queue.

    Attributes:
        waiting_max: Pieces of work accepted at once, running ones included.
    """

    def __init__(
        self, *, workers: int = WORKERS, waiting_max: int = WAITING_MAX
    ) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="slack-work")
        self._room = BoundedSemaphore(waiting_max)
        self.waiting_max = waiting_max

    def submit(self, job: Callable[[], None]) -> bool:
        """Do a piece of work in a thread; False when full or closed."""
        if not self._room.acquire(blocking=False):
            return False
        try:
            self._pool.submit(self._run, job)
        except RuntimeError:  # shut down meanwhile
            self._room.release()
            return False
        return True

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        finally:
            self._room.release()

    def close(self) -> None:
        """Finish what runs, drop what only waits."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class Inline:
    """Does work at once, in the caller's thread: for tests and one-shot commands."""

    def submit(self, job: Callable[[], None]) -> bool:
        """Do it now."""
        job()
        return True
