"""Untagged cost and whose it probably is, as Slack messages; pure.

A button carries the command that gives an item to a job; who may is looked up when it
is pressed.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.views.answers import Json, Message
from bot.views.asked import own_row
from bot.views.blocks import actions, bullets, button, confirm, context, header, section
from bot.views.freshness import freshness_line, stale_lines
from bot.views.limits import VALUE_CHARS_MAX
from bot.views.text import escape, fallback, name
from bot.views.untagged_values import (
    Confirmed,
    Suggestion,
    UntaggedAnswer,
    UntaggedItem,
)
from bot.views.untagged_words import reasons_text, resources_text, strength
from bot.views.words import amount, days_of, instant, plural, share, window

CONFIRM = "untagged_confirm"
UNDO = "untagged_undo"
#: Items of one message; the next ones are asked for by a button.
ITEMS_SHOWN = 5
_CONFIRMED_MAX = 5
_RESOURCES_MAX = 5
NOTHING = "No cost without a job in these days."
NOT_ALLOWED = (
    "Only the admins of gpucost and the owner of the job may give cost to it."
    " Nothing was changed."
)


def untagged_message(
    answer: UntaggedAnswer, *, offset: int, commands: Mapping[str, str]
) -> Message:
    """Render a page of the list; `commands` gives each item's button its text."""
    part = share(answer.total, answer.share_of) if answer.items else ""
    title = f"Untagged: {amount(answer.total)}" + (f" ({part})" if part else "")
    period = window(answer.since, answer.until)
    of = " of all cost" if part else ""
    first = f"*{amount(answer.total)}*{f', {part}{of}' if part else ''}, from {period}"
    blocks: list[Json] = [header(title), section(f"{first} belongs to no job")]
    warnings = list(stale_lines(answer.stale, answer.as_of))
    if warnings:
        blocks.append(section(":warning: " + "\n:warning: ".join(warnings)))
    shown = answer.items[offset : offset + ITEMS_SHOWN]
    for number, item in enumerate(shown, start=offset + 1):
        blocks += _item(item, number, commands.get(item.item, ""))
    if not answer.items:
        blocks = [header("Untagged: nothing"), section(f"{NOTHING} ({period})")]
    left = len(answer.items) - offset - len(shown)
    if left > 0:
        blocks.append(context(f"and {plural(left, 'more item')}"))
    blocks += _confirmed(answer.confirmed, commands)
    blocks.append(
        context(
            "Scores add up signs of at most 100 points; nothing is given to a job"
            " unless somebody confirms it.",
            freshness_line(answer.sources, answer.as_of),
        )
    )
    return Message(text=f"{fallback(title)} from {period}", blocks=tuple(blocks))


def _item(item: UntaggedItem, number: int, command: str) -> list[Json]:
    lines = [
        (
            f"*{amount(item.total)}*  {name(item.what)} in"
            f" {escape(item.account, most=20)} {escape(item.region or '-', most=30)},"
            f" {days_of(item.since, item.until)}"
        )
    ]
    resources = resources_text(item)
    if resources:
        lines.append(escape(resources, most=300))
    if item.suggestion:
        lines.append(_suggested(item.suggestion))
    else:
        lines.append(f"Whose it is: unknown, {escape(item.unknown, most=200)}")
        lines += [
            f"• {name(one.resource_id)}: {_suggested(one.suggestion)}"
            for one in item.resources[:_RESOURCES_MAX]
            if one.suggestion
        ]
    blocks = [section("\n".join(lines))]
    if item.suggestion and command and len(command) <= VALUE_CHARS_MAX:
        blocks.append(_button(item, item.suggestion, number, command))
    else:
        blocks.append(context(f"`untagged confirm {escape(item.item)} --job JOB`"))
    return blocks


def _suggested(found: Suggestion) -> str:
    why = escape(reasons_text(found), most=300)
    sure = f"{strength(found.score)}, {found.score} of 100"
    return f"Probably {name(found.job)} ({sure}): {why}"


def _button(item: UntaggedItem, found: Suggestion, number: int, command: str) -> Json:
    asks = confirm(
        "Give this cost to the job?",
        f"{item.what} in {item.account} {item.region}, {amount(item.total)}, will be"
        f" part of {found.job}, also back in time. It is recorded with your name and"
        " can be taken back.",
        yes="Give it",
        no="Cancel",
    )
    pressed = button(
        f"It is {found.job}"[:70], action_id=CONFIRM, value=command, confirm=asks
    )
    return actions(own_row(f"confirm-{number}"), [pressed])


def _confirmed(
    confirmed: tuple[Confirmed, ...], commands: Mapping[str, str]
) -> list[Json]:
    if not confirmed:
        return []
    shown = confirmed[:_CONFIRMED_MAX]
    lines = [
        f"{one.number}: {name(one.item)} is {name(one.job)}, said by"
        f" {escape(one.by, most=60)} on {instant(one.at)}"
        for one in shown
    ]
    left = len(confirmed) - len(shown)
    if left > 0:
        lines.append(f"and {left:,} more")
    blocks = [section(f"*Confirmed*\n{bullets(lines)}")]
    buttons = [
        button(f"Take back {one.number}", action_id=UNDO, value=commands[undo_key(one)])
        for one in shown
        if undo_key(one) in commands
    ]
    if buttons:
        blocks.append(actions(own_row("undo"), buttons))
    return blocks


def undo_key(one: Confirmed) -> str:
    """Return by what `commands` names the button that takes a confirmation back."""
    return f"undo {one.number}"


def kept_message(one: Confirmed, *, days: int, again: bool, undo: str) -> Message:
    """Say that an item is a job's now; `undo` is the command of its button."""
    if again:
        text = f"{name(one.item)} was given to {name(one.job)} before: nothing changed"
    else:
        until = f" to {instant(one.until)}" if one.until else " on"
        text = (
            f":white_check_mark: {name(one.item)} belongs to {name(one.job)} from"
            f" {instant(one.since)}{until}; {plural(days, 'day')} computed anew"
        )
    blocks: list[Json] = [section(f"{text}.")]
    if undo:
        pressed = button("Take it back", action_id=UNDO, value=undo)
        blocks.append(actions(own_row("undo"), [pressed]))
    return Message(text=f"{text}.", blocks=tuple(blocks))


def taken_back_message(one: Confirmed, *, days: int) -> Message:
    """Say that an item is untagged again."""
    text = (
        f"{name(one.item)} is no longer given to {name(one.job)};"
        f" {plural(days, 'day')} computed anew."
    )
    return Message(text=text, blocks=(section(text),))
