"""Signals that end this process, turned into exits that let others be told first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_TERMINATED = 128 + signal.SIGTERM


@contextmanager
def ending_on_term() -> Iterator[None]:
    """Turn SIGTERM into an exit that lets open statements be stopped first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit(_TERMINATED)
