"""What the demo prints: captions, commands, messages; colours on a terminal only."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TextIO

WIDTH = 88
BOLD, DIM, GREEN, RED = "1", "2", "32", "31"
GUTTER = "│ "


@dataclass(slots=True)
class Screen:
    """Writes to a stream, at most `WIDTH` characters a line."""

    out: TextIO
    has_colour: bool = False
    _parts: int = 0

    @property
    def message_width(self) -> int:
        """Return how wide a message in its frame may be."""
        return WIDTH - len(GUTTER)

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line."""
        self.out.write(f"{self.painted(text, style)}\n")
        self.out.flush()

    def painted(self, text: str, style: str) -> str:
        """Return a text in a style, where there are colours."""
        if not (style and text and self.has_colour):
            return text
        return f"\x1b[{style}m{text}\x1b[0m"

    def say(self, text: str) -> None:
        """Print a sentence or two, wrapped."""
        for part in textwrap.wrap(text, WIDTH):
            self.line(part)

    def step(self, text: str) -> None:
        """Print what is going on."""
        self.line(f"  {text}", DIM)

    def part(self, title: str, text: str = "") -> None:
        """Begin a numbered part with a caption."""
        self._parts += 1
        rule = "─" * max(WIDTH - len(title) - 7, 0)
        self.line()
        self.line(f"── {self._parts}. {title} {rule}"[:WIDTH], BOLD)
        if text:
            self.say(text)

    def command(self, text: str) -> None:
        """Print a shell command as if it had been typed."""
        self.line()
        self.line(f"$ {text}", GREEN)

    def framed(self, place: str, text: str) -> None:
        """Print text from Slack, with the place where it stands."""
        self.line()
        self.line(f"┌ {place}", DIM)
        for one in text.rstrip("\n").split("\n"):
            self.line(f"{self.painted(GUTTER.strip(), DIM)} {one}".rstrip())
        self.line("└", DIM)

    def trouble(self, text: str) -> None:
        """Print what went wrong."""
        for paragraph in text.split("\n"):
            self.line(paragraph, RED)
