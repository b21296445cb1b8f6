"""The demo's prompt: the person at the keyboard becomes somebody in the company."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from deploy.sandbox.company.people import APPROVALS, ROLES
from deploy.sandbox.demo.children import DemoError
from deploy.sandbox.demo.screen import DIM, Screen
from deploy.sandbox.demo.show import APPROVE, DENY, Show
from deploy.sandbox.slack import Message

PROMPT = "you> "
POST_S = 15.0
ADVANCE_MAX = timedelta(days=7)
UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
EXAMPLES = (
    ("/gpucost job-123", "what a job has cost"),
    ("/gpucost top teams", "everything, by job, team, category, account or region"),
    ("/gpucost estimate p4d.24xlarge x4 48h spot", "what a run would cost"),
    (
        '/gpucost request p5.48xlarge x4 100h --job job-140 --reason "why"',
        "ask for approval",
    ),
    ("/gpucost idle", "also: coverage, checkpoints, untagged, approvals, digest, help"),
    ("approve", "press Approve (or deny) on the newest card, as yourself"),
    ("as priya", f"be somebody else: {', '.join(ROLES)}"),
    ("advance 1h", "move the clock (3m, 1h, 1d): bills arrive, jobs run on"),
    ("quit", "stop everything"),
)


@dataclass(slots=True)
class Prompt:
    """Reads lines and acts on them until the end."""

    show: Show
    person: str = "maya"
    _seen: set[str] = field(default_factory=set)

    @property
    def screen(self) -> Screen:
        """Return where to print."""
        return self.show.screen

    def run(self, read: Callable[[str], str]) -> None:
        """Read and act until `quit` or the end of the input."""
        self._mark_seen()
        self.screen.line()
        self.screen.say(
            "gpucost stays up. Type /gpucost commands, `help` for more, `quit` to stop."
        )
        self._introduce()
        while True:
            try:
                line = read(PROMPT).strip()
            except EOFError:
                self.screen.line()
                return
            if line in {"quit", "exit"}:
                return
            try:
                self.act(line)
            except (DemoError, ValueError) as error:
                self.screen.trouble(str(error))
                self.show.stage.app.check()

    def act(self, line: str) -> None:
        """Do what one line says."""
        word, _, rest = line.partition(" ")
        acts: dict[str, Callable[[str], None]] = {
            "": lambda _rest: None,
            "help": lambda _rest: self.help(),
            "as": self.become,
            "advance": self.advance,
            "approve": lambda _rest: self.press(APPROVE),
            "deny": lambda _rest: self.press(DENY),
        }
        known = acts.get(word.lower())
        if known is not None:
            known(rest.strip())
        else:
            self.ask(line.removeprefix("/gpucost").strip())
        self._show_new()

    def help(self) -> None:
        """List what can be typed."""
        for example, what in EXAMPLES:
            self.screen.line(f"  {example}")
            self.screen.line(f"      {what}", DIM)

    def become(self, name: str) -> None:
        """Be another person from now on."""
        wanted = name.lower().lstrip("@")
        if wanted not in ROLES:
            self.screen.line(f"There is no {name!r}; there are {', '.join(ROLES)}.")
            return
        self.person = wanted
        self._introduce()

    def _introduce(self) -> None:
        self.screen.line(f"You are {self.person}: {ROLES[self.person]}.", DIM)

    def ask(self, text: str) -> None:
        """Type a `/gpucost` command."""
        self.show.ask(self.person, text)
        if text.startswith("request "):
            self._await_post()

    def press(self, action: str) -> None:
        """Press a button of the newest card that still has one."""
        cards = [
            message
            for message in self.show.stage.slack.messages(APPROVALS)
            if any(block.get("type") == "actions" for block in message.blocks)
        ]
        if not cards:
            self.screen.line("No card waits for a decision; file one with a request.")
            return
        clicked = self.show.stage.slack.click(self.person, cards[-1], action)
        edits = len(cards[-1].versions)
        self.show.stage.wait(
            "an answer to the click",
            lambda: clicked.responses or len(cards[-1].versions) > edits,
            timeout_s=POST_S,
        )
        for message in clicked.responses:
            self.show.message(message)

    def advance(self, text: str) -> None:
        """Move the clock."""
        found = re.fullmatch(r"(\d{1,3})\s*([mhd])", text.lower())
        span = int(found[1]) * UNITS[found[2]] if found else timedelta()
        if not timedelta() < span <= ADVANCE_MAX or span % timedelta(minutes=3):
            self.screen.line("Say how far: 3m to 7d, such as `advance 1h`.")
            return
        self.screen.step("moving the clock; gpucost reads AWS again and judges")
        self.show.stage.advance(span)
        self.screen.line(f"It is {self.show.stage.now:%A %d %B, %H:%M} UTC.")

    def _await_post(self) -> None:
        self.show.stage.wait("the card", self._new, timeout_s=POST_S)

    def _channels(self) -> list[str]:
        return [channel.name for channel in self.show.stage.slack.workspace.channels]

    def _new(self) -> list[Message]:
        """Return channel messages of gpucost that were not shown yet."""
        slack = self.show.stage.slack
        return [
            message
            for name in self._channels()
            for message in slack.messages(name)
            if message.bot_id and _mark(message) not in self._seen
        ]

    def _mark_seen(self) -> None:
        self._seen |= {_mark(message) for message in self._new()}

    def _show_new(self) -> None:
        for message in self._new():
            self._seen.add(_mark(message))
            self.show.message(message)


def _mark(message: Message) -> str:
    """Name a message as it looks now: a rewritten one is new again."""
    return f"{message.channel}:{message.ts}:{len(message.versions)}"
