"""Commands of a page with what they print: found, run, and held to each other.

A ``console`` block is a session: ``$ gpucost …``, then what it prints. JSON is compared
value by value; ``…`` in a list or as a value stands for whatever is there. A command
without output is only run. ``$ echo $?`` tells the exit code, else it must be 0.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import chdir
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from bot.cli import app
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docs.stage import Stage

#: The pages whose sessions are run; each begins with an empty database.
PAGES = tuple(
    ROOT / "docs" / f"{name}.md"
    for name in (
        *("commands", "approvals", "exports", "http", "estimate", "forecast"),
        *("explain", "deciding"),
        *("attribution", "reconciliation", "leaks", "efficiency"),
    )
)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "…"
#: Ids of requests, and their grants, which the page cuts short: ``eyJhbGciOi…``.
REQUEST = re.compile(r"apr-[0-9a-f]{10}|eyJ[\w-]+(?:(?:\.[\w-]+){2}|…)")
#: What differs from run to run, or release to release: pseudonyms, hashes, clocks, schemas.
VOLATILE = (
    (re.compile(r"\b0\d{3}\b"), "schema"),
    (re.compile(r"\bp-[0-9a-f]{8,}\b"), "p-…"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "hash"),
    (re.compile(r"[+-]\d+ s from AWS"), "0 s from AWS"),
)


@dataclass(slots=True, kw_only=True)
class Step:
    """One command of a session.

    Attributes:
        output: As documented; "" when the page shows none.
        code: As documented; None when the page does not say.
    """

    command: str
    output: str = ""
    code: int | None = None


@dataclass(slots=True)
class Player:
    """Runs sessions in the order of a page, and rewrites them."""

    stage: Stage
    _ids: dict[str, str] = field(default_factory=dict)

    def replay(self, session: str) -> str:
        """Run a session; return it as the page should show it."""
        shown: list[str] = []
        for step in steps(session):
            code, real = self._run(step.command)
            if code != (step.code or 0):
                message = f"{step.command} left with {code}, printed: {real}"
                raise AssertionError(message)
            shown.append(f"$ {step.command}\n{self._told(step.output, real)}")
            if step.code is not None:
                shown.append(f"$ echo $?\n{code}\n")
        return "".join(shown)

    def _run(self, command: str) -> tuple[int, str]:
        words = shlex.split(command.replace("\\\n", " "))
        assert words.pop(0) == "gpucost", command
        words = [self._ids.get(word, word) for word in words]
        folder = self.stage.folder
        files = {path.name for path in folder.iterdir() if path.is_file()}
        words = [str(folder / word) if word in files else word for word in words]
        with chdir(folder):  # What a command writes stays there.
            done = CliRunner().invoke(
                app, words, env=self.stage.environment, catch_exceptions=False
            )
        printed = done.stdout or done.stderr
        return done.exit_code, printed.replace(f"{folder}/", "")

    def _told(self, documented: str, real: str) -> str:
        """Return what the page should say: its own words where they still hold."""
        if not documented:
            return ""
        if not documented.startswith("{"):
            self._learn(documented, real)
            return documented if same(documented, real) else self._renamed(real)
        old, new = json.loads(documented), json.loads(real)
        self._learn(documented, real)
        told = refreshed(old, new)
        return documented if told == old else self._renamed(f"{_dumped(told)}\n")

    def _renamed(self, text: str) -> str:
        """Name requests as the page does, so that its commands go on with them."""
        names = {real: name for name, real in self._ids.items()}
        return REQUEST.sub(lambda found: names.get(found[0], found[0]), text)

    def _learn(self, documented: str, real: str) -> None:
        pairs = zip(REQUEST.findall(documented), REQUEST.findall(real), strict=False)
        self._ids |= dict(pairs)


def steps(session: str) -> Iterator[Step]:
    """Take a session apart."""
    step: Step | None = None
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, output = _command(part)
        if command == "echo $?":
            assert step is not None
            step.code = int(output)
            continue
        if step is not None:
            yield step
        step = Step(command=command, output=output)
    if step is not None:
        yield step


def _command(part: str) -> tuple[str, str]:
    lines = part.splitlines(keepends=True)
    count = 1
    while lines[count - 1].endswith("\\\n"):
        count += 1
    return "".join(lines[:count]).rstrip("\n"), "".join(lines[count:])


def refreshed(documented: Any, real: Any) -> Any:
    """Return the real document, with what the page leaves out left out."""
    if documented in (LEFT_OUT, [LEFT_OUT]):
        return documented
    if isinstance(documented, dict) and isinstance(real, dict):
        return {key: refreshed(documented.get(key), real[key]) for key in real}
    if isinstance(documented, list) and isinstance(real, list):
        known = [*documented, *[None] * len(real)]
        return [refreshed(old, new) for old, new in zip(known, real, strict=False)]
    if isinstance(documented, str) and isinstance(real, str) and same(documented, real):
        return documented
    return real


def same(documented: str, real: str) -> bool:
    """Tell whether two texts differ only in what differs from run to run."""
    return _steady(documented) == _steady(real)


def _steady(text: str) -> str:
    for pattern, name in ((REQUEST, "named"), *VOLATILE):
        text = pattern.sub(name, text)
    return re.sub(r"[ \t]+$", "", text.strip(), flags=re.MULTILINE)


def _dumped(document: Any) -> str:
    """Print JSON with short lists and objects on one line."""
    return _packed(document, 0)


def _packed(value: Any, depth: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or (depth and len(flat) + 2 * depth < 88):
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        parts = [
            f"{inner}{json.dumps(key)}: {_packed(one, depth + 1)}"
            for key, one in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{outer}}}"
    return (
        "[\n"
        + ",\n".join(f"{inner}{_packed(one, depth + 1)}" for one in value)
        + f"\n{outer}]"
    )
