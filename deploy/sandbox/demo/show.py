"""What the demo shows, in order: the bill, a question, an approval, an alert, the digest."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from deploy.sandbox.company.people import APPROVALS, COSTS, TEAM_CHANNELS
from deploy.sandbox.demo.children import DemoError
from deploy.sandbox.demo.screen import Screen
from deploy.sandbox.demo.stage import Stage
from deploy.sandbox.slack import Interaction, Message
from deploy.sandbox.slack.render import render_message

#: gpucost was installed on a Wednesday, and read the bill again on Saturday.
EARLIER = (
    datetime(2026, 11, 25, 8, tzinfo=UTC),
    datetime(2026, 11, 28, 8, tzinfo=UTC),
)
MONDAY = datetime(2026, 11, 30, 8, 57, tzinfo=UTC)
TO_DIGEST = timedelta(minutes=6)
ANSWER_S = 30.0
APPROVE, DENY = "approval_approve", "approval_deny"
REQUEST = (
    "request p5.48xlarge x8 72h --job job-131"
    ' --reason "final 13B run for the December release"'
)


@dataclass(slots=True)
class Show:
    """The script, on one stage and one screen."""

    stage: Stage
    screen: Screen

    def run(self) -> None:
        """Show everything once."""
        self.ingest()
        self.serve()
        self.job()
        self.approval()
        self.idle()
        self.digest()

    def ingest(self) -> None:
        """Read the bill: twice in the past, quickly, then today."""
        screen, stage = self.screen, self.stage
        screen.part(
            "The bill and the fleet are read",
            "Tensor Works trains on GPUs in one AWS account. gpucost was installed last "
            "Wednesday; billing lags, so the last day and a half is not billed yet.",
        )
        for when in EARLIER:
            stage.travel(when)
            found = json.loads(stage.run("ingest", "--format", "json"))
            (one,) = found["imports"]
            total = Decimal(one["total"]).quantize(Decimal("0.01"))
            screen.step(
                f"{when:%a %d %b %H:%M}  gpucost ingest: {one['charges']} charges, "
                f"${total:,}, {one['requests']} requests at ${one['request_cost']}"
            )
        stage.travel(MONDAY)
        screen.line()
        screen.say(f"It is {MONDAY:%A %d %B %Y, %H:%M} UTC.")
        screen.command("gpucost ingest")
        for line in stage.run("ingest").splitlines():
            screen.line(line)

    def serve(self) -> None:
        """Start the application."""
        self.screen.command("gpucost serve")
        self.stage.serve()
        self.screen.step("connected to Slack by Socket Mode, schedules running")

    def job(self) -> None:
        """Ask what a job costs."""
        self.screen.part(
            "An engineer asks what a job has cost",
            "job-123 trains on 4 x p5.48xlarge since Tuesday. What AWS has billed and what "
            "gpucost accrued since, from running time and prices, stand apart.",
        )
        self.ask("maya", "job-123")

    def approval(self) -> None:
        """Ask for approval of a large run, and decide on it."""
        self.screen.part(
            "A $40,000 run asks for approval",
            "A policy wants a human's word on runs over $10,000, before they start.",
        )
        self.ask("maya", REQUEST)
        card = self.stage.wait_posted(APPROVALS, "Approval needed")
        self.message(card)
        self.screen.line()
        self.screen.say("Maya presses Approve herself. That never counts:")
        self.message(self.answered(self.stage.slack.click("maya", card, APPROVE)))
        self.screen.line()
        self.screen.say("Jonas, who may, presses Approve. The card says who decided:")
        self.stage.slack.click("jonas", card, APPROVE)
        self.message(self.stage.wait_posted(APPROVALS, "Approved"))

    def idle(self) -> None:
        """Show an alert about an idle node."""
        self.screen.part(
            "An idle node is noticed",
            "job-118 crashed on Saturday; one of its two nodes was left running. All eight "
            "GPUs have been at 0 % since, which the policy `idle-gpus` finds by itself.",
        )
        self.message(self.stage.wait_posted(TEAM_CHANNELS["vision"], "Idle GPUs"))

    def digest(self) -> None:
        """Let it be nine o'clock on Monday."""
        self.screen.part("Monday, 09:00: the weekly digest")
        self.stage.advance(TO_DIGEST)
        self.message(self.stage.wait_posted(COSTS, "GPU costs"))

    def ask(self, person: str, text: str) -> None:
        """Type a command as somebody and show the answer."""
        asked = self.stage.slack.command(person, COSTS, text)
        answer = self.answered(asked)
        typed = textwrap.wrap(f"{person}  /gpucost {text}", self.screen.message_width)
        shown = [*typed, "", self.drawn(answer)]
        self.screen.framed(f"#{COSTS}", "\n".join(shown))
        for message in asked.answers[1:]:
            self.message(message)

    def answered(self, asked: Interaction) -> Message:
        """Wait for what the app says to somebody."""

        def has_answer() -> bool:
            failed = asked.person_saw
            if failed:
                message = f"Slack told the person {failed!r}"
                raise DemoError(message)
            return bool(asked.answers)

        self.stage.wait("an answer of gpucost", has_answer, timeout_s=ANSWER_S)
        return asked.answers[0]

    def message(self, message: Message) -> None:
        """Show one message where it stands."""
        channel = self.stage.slack.state.directory.channel(message.channel)
        place = (
            f"#{channel.name}" if channel and not channel.is_im else "direct message"
        )
        self.screen.framed(place, self.drawn(message))

    def drawn(self, message: Message) -> str:
        """Return a message as Slack would draw it."""
        return render_message(
            message,
            self.stage.slack.state.directory,
            width=self.screen.message_width,
            has_colour=self.screen.has_colour,
        )
