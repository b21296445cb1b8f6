"""What can be asked: the short menu and the whole list."""

from __future__ import annotations

from bot.views.answers import Message
from bot.views.blocks import context, header, section

#: (what to type after the command, what it answers). A test keeps it equal to what
#: the grammar reads.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("job-123", "what a job has cost, what it costs now, and since when"),
    (
        "why job-123",
        "how a figure came about (also: why job-123:compute, why team:nlp)",
    ),
    ("leaks job-123", "what of a job's cost was avoidable, and how"),
    ("compare job-1 job-2", "two runs: cost per step and token, scaling"),
    ("me", "your own jobs this month"),
    ("top last week", "the most expensive jobs (also: top teams, top accounts)"),
    ("team research 7d", "what a team has cost"),
    ("account 012345678901", "what an AWS account has cost"),
    ("idle", "GPUs that are paid for and do nothing"),
    ("checkpoints", "old checkpoints and what they cost"),
    ("coverage", "how much is covered by commitments"),
    ("untagged", "cost that no job tag explains, and whose it probably is"),
    ("budget research", "how much of the month's budget a team has used"),
    ("forecast", "what the month will come to (also: forecast team nlp)"),
    ("anomalies", "days that cost more than usual"),
    ("reconciliation", "how far provisional cost was from the bill"),
    ("waivers", "what policies leave alone, and until when"),
    ("estimate p5.48xlarge x4 24h", "what a run would cost, with cheaper ways"),
    (
        'request p5.48xlarge x4 24h --job job-123 --reason "..."',
        "ask for approval of a run",
    ),
    ("approvals", "requests that wait or were decided"),
    ("digest", "last week's digest, for you alone (also: digest 2026-W48)"),
    (
        "subscribe #ml-infra weekly mon 9:00 team=nlp",
        "send a digest to a channel (also: subscriptions, unsubscribe 3)",
    ),
    ("pause", "stop every action of gpucost (resume: admins only)"),
)
WINDOWS = (
    "7d, last week, this month, last month, 2026-11, since mon, 2026-11-03..2026-11-09"
)

BUTTONS = (
    "Share shows an answer to the whole channel, Refresh asks again, How computed lists"
    " what a figure is made of."
)


def help_message(command: str) -> Message:
    """Render the whole list of what can be asked."""
    lines = [f"`{command} {example}` {what}" for example, what in COMMANDS]
    windows = (
        f"Times: {WINDOWS}. Days are AWS billing days (UTC); yesterday and last week"
        " are those of your calendar."
    )
    blocks = (
        header("What you can ask"),
        section("\n".join(lines)),
        context(windows, BUTTONS),
    )
    return Message(
        text=f"What you can ask: {command} job-123, top, help", blocks=blocks
    )


def menu(command: str) -> Message:
    """Render the short menu of a bare command."""
    text = (
        f"Ask `{command} job-123` what a job costs, `{command} top` what costs most,"
        f" `{command} estimate p5.48xlarge x4 24h` what a run would cost."
        f" `{command} help` shows everything."
    )
    return Message(text=text, blocks=(section(text),))


def form_hint(command: str) -> Message:
    """Say how a run is asked for where no form can be opened."""
    text = (
        f"`{command} request` opens a form. In one line: `{command} request p5.48xlarge"
        ' x4 24h --job job-123 --reason "..."`'
    )
    return Message(text=text, blocks=(section(text),))
