"""Waivers as people see them: asked for, decided, about to end; and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from billing.core.periods import rfc3339
from bot.views.answers import Message
from bot.views.blocks import context, header, section
from bot.views.limits import fit_one
from bot.views.people import People, who, who_plain
from bot.views.terminal import clean
from bot.views.text import escape, fallback, name
from bot.views.words import amount, duration, instant
from policies.core.waivers import Waiver, WaiverState

_DECIDED = {
    WaiverState.GRANTED: (":white_check_mark:", "granted"),
    WaiverState.REFUSED: (":no_entry:", "refused"),
    WaiverState.REVOKED: (":leftwards_arrow_with_hook:", "revoked"),
}


def waiver_asked(waiver: Waiver, people: People) -> Message:
    """Render a waiver for those who may grant it."""
    title = f"Waiver asked for: {waiver.subject}"
    blocks = (
        header(title),
        section(
            f"{who(waiver.owner, people)} asks that policy {name(waiver.policy)} leaves "
            f"{name(waiver.subject)} alone until {instant(waiver.until)}{_cap(waiver)}."
            f"\n>{escape(waiver.reason)}"
        ),
        context(
            f"An admin decides: `gpucost waiver grant {escape(waiver.waiver_id)}` or "
            f"`gpucost waiver refuse {escape(waiver.waiver_id)}`."
        ),
    )
    return fit_one(Message(text=fallback(title, most=140), blocks=blocks))


def _cap(waiver: Waiver) -> str:
    return "" if waiver.cap is None else f", up to {amount(waiver.cap)} in all"


def waiver_decided(waiver: Waiver, people: People) -> Message:
    """Render what became of a waiver."""
    icon, word = _DECIDED[waiver.state]
    line = (
        f"{icon} {who(waiver.decided_by, people)} {word} the waiver of "
        f"{who(waiver.owner, people)}: {name(waiver.policy)} on {name(waiver.subject)}"
    )
    if waiver.state is WaiverState.GRANTED:
        line += f", until {instant(waiver.until)}{_cap(waiver)}"
    text = fallback(f"Waiver {word}: {waiver.subject}", most=140)
    return fit_one(Message(text=text, blocks=(section(f"{line}."),)))


def waiver_ending(waiver: Waiver, people: People, *, now: datetime) -> Message:
    """Render the reminder before a waiver ends."""
    line = (
        f":hourglass_flowing_sand: {who(waiver.owner, people)}: your waiver of "
        f"{name(waiver.policy)} on {name(waiver.subject)} ends in "
        f"{duration(waiver.until - now)}, at {instant(waiver.until)}. Then the policy "
        "counts again."
    )
    text = fallback(f"Waiver ends soon: {waiver.subject}", most=140)
    return fit_one(Message(text=text, blocks=(section(line),)))


def waiver_document(waiver: Waiver, people: People) -> dict[str, object]:
    """Return a waiver as JSON."""
    return {
        "id": waiver.waiver_id,
        "policy": waiver.policy,
        "subject": waiver.subject,
        "state": waiver.state.value,
        "owner": people.get(waiver.owner, waiver.owner),
        "reason": waiver.reason,
        "until": rfc3339(waiver.until),
        "cap": None if waiver.cap is None else waiver.cap.text(),
        "currency": None if waiver.cap is None else waiver.cap.currency,
        "decided_by": people.get(waiver.decided_by, waiver.decided_by) or None,
        "decided_at": None if waiver.decided_at is None else rfc3339(waiver.decided_at),
    }


def waivers_text(waivers: Sequence[Waiver], people: Mapping[str, str]) -> str:
    """Return waivers for the terminal, one a line."""
    if not waivers:
        return "no waivers"
    lines = []
    for one in waivers:
        cap = "" if one.cap is None else f", up to {one.cap}"
        lines.append(
            f"{one.waiver_id}  {one.state.value:<8} {one.policy} on {one.subject}, until "
            f"{rfc3339(one.until)}{cap}, by {who_plain(one.owner, people)}: {one.reason}"
        )
    return "\n".join(clean(line) for line in lines)
