"""What people read when something cannot be answered: plainly, with the next step."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import AskError, Message
from bot.views.blocks import bullets, section
from bot.views.text import escape, fallback, name

_SUGGESTIONS_MAX = 5


def ask_error(error: AskError, *, command: str = "") -> Message:
    """Render what could not be answered; `command` goes before each suggestion."""
    lines = [_sentence(error.message)]
    if error.suggestions:
        shown = error.suggestions[:_SUGGESTIONS_MAX]
        prefix = f"{command} " if command else ""
        lines.append("Did you mean " + " or ".join(name(prefix + one) for one in shown))
        lines[-1] += "?"
    if error.hint:
        lines.append(_sentence(error.hint.replace("`", "'")))
    return Message(
        text=fallback(error.message, most=300), blocks=(section("\n".join(lines)),)
    )


def _sentence(text: str) -> str:
    """Return an error's words as a sentence."""
    return escape(f"{text[:1].upper()}{text[1:]}".rstrip(".") + ".")


def bad_usage(
    problems: Sequence[str], *, command: str, suggestions: Sequence[str] = ()
) -> Message:
    """Say everything that was wrong with a command at once, and where help is."""
    shown = [escape(problem, most=300) for problem in problems[:8]]
    lines = [shown[0] if len(shown) == 1 else bullets(shown)]
    if suggestions:
        near = " or ".join(name(f"{command} {one}") for one in suggestions[:3])
        lines.append(f"Did you mean {near}?")
    lines.append(f"{name(f'{command} help')} shows what can be asked.")
    text = fallback(problems[0], most=300)
    return Message(text=text, blocks=(section("\n".join(lines)),))


def note(text: str) -> Message:
    """Return one or two sentences of our own as a message."""
    return Message(text=text, blocks=(section(text),))


def busy() -> Message:
    """Say that too much is going on; nothing was done."""
    return note("I am busy: nothing was done. Please try again in a minute.")


def failed(reference: str) -> Message:
    """Say that something broke; the reference finds it in the log."""
    return note(
        "Something went wrong on my side and was logged"
        f" (reference {name(reference, most=40)}). Please try again."
    )


def not_available(verb: str) -> Message:
    """Say that a known question has no answer in this installation yet."""
    return note(f"{name(verb)} is not available in this installation.")


def needs_export(by: str) -> Message:
    """Say that the bill's daily totals cannot tell this."""
    return note(
        f"Cost by {name(by)} needs a bill export: the daily totals that are read now"
        " do not hold it. An admin can add one under `exports`."
    )


def stranger() -> Message:
    """Refuse somebody of another organisation; no cost data in it."""
    return note("Sorry, I answer members of the home organisation only.")


def already_received() -> Message:
    """Answer a repeated delivery of a command that changes something."""
    return note("This was received before; nothing was done again.")
