"""What gpucost says of its own troubles: a bill refused, a source or a post that failed.

Pure.
"""

from __future__ import annotations

from billing.ports import Freshness, ImportReport
from bot.views.answers import Message
from bot.views.blocks import context, section
from bot.views.text import channel as channel_mention
from bot.views.text import escape, fallback, name
from bot.views.words import amount, days_of, instant

_REMEDIES = {
    "is_archived": "Name another channel, or bring this one back.",
    "not_in_channel": "Invite the bot: type `/invite @gpucost` there.",
    "channel_not_found": (
        "Name an existing channel; to a private one the bot must be invited."
    ),
}


def import_refused(report: ImportReport) -> Message:
    """Say that a bill was not believed, and that what was stored still stands."""
    account = name(report.account, most=40) if report.account else "every account"
    days = days_of(report.since, report.until)
    head = f":warning: *The bill of {account} for {days} was not imported.*"
    figures = ""
    if report.control_total is not None:
        figures = (
            f"\nIts lines sum to {amount(report.total)}, its own total says "
            f"{amount(report.control_total)}."
        )
    why = f"\n{escape(report.message, most=400)}" if report.message else ""
    return Message(
        text=fallback(f"The bill of {report.account} was not imported", most=140),
        blocks=(
            section(f"{head}{figures}{why}"),
            context("What was stored before still stands and is shown as stale."),
        ),
    )


def source_stale(one: Freshness) -> Message:
    """Say that a source is too old to be believed without saying so."""
    account = f" of {name(one.account, most=40)}" if one.account else ""
    seen = f"last read {instant(one.as_of)}" if one.as_of else "never read"
    why = escape(one.reason, most=400)
    return Message(
        text=fallback(f"{one.source.value} {one.account} is stale", most=140),
        blocks=(
            section(
                f":warning: *{one.source.value}{account} is stale*: {seen}.\n{why}"
            ),
            context("`gpucost doctor` says what to do. Answers say it until then."),
        ),
    )


def undeliverable(channel: str, text: str, why: str) -> Message:
    """Say that something was not posted, and never will be."""
    place = channel_mention(channel) or escape(channel, most=80)
    lost = f"\nIt said: {escape(text, most=200)}" if text else ""
    remedy = _REMEDIES.get(why, "`gpucost doctor` checks the channels.")
    return Message(
        text=fallback("A message could not be posted", most=140),
        blocks=(
            section(
                f":warning: *A message to {place} could not be posted*: "
                f"{name(why, most=80)}.{lost}"
            ),
            context(remedy),
        ),
    )
