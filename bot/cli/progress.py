"""Progress for a person at a terminal: lines, and a bar where a share is known.

Written to stderr, and only where that is a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Telling:
    """Tells texts; between two of them, how far the first has come."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID | None = None
        self._text = ""

    def __call__(self, text: str) -> None:
        """Tell what is going on now."""
        self._end()
        self._text = text
        self._bar.console.print(text, markup=False, highlight=False)

    def share(self, done: float) -> None:
        """Tell how far it has come, from 0 to 1."""
        if self._task is None:
            self._task = self._bar.add_task("", total=1.0)
        self._bar.update(self._task, completed=done)
        if done >= 1:
            self._end()

    def _end(self) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None


class Silent:
    """Tells nothing: nobody would see it."""

    def __call__(self, text: str) -> None:
        """Tell nothing."""


@contextmanager
def told() -> Iterator[Telling | Silent]:
    """Provide what tells progress while the block runs."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(file=typer.get_text_stream("stderr"))
    with Progress(*columns, console=console, transient=True) as bar:
        yield Telling(bar)
