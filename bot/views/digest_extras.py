"""What a digest says besides cost, as blocks. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from billing.core.leaks import LeakFound
from bot.views.answers import Json
from bot.views.blocks import bullets, section
from bot.views.cost import group_label
from bot.views.digest_values import DigestExtras, Mover, Saved
from bot.views.text import escape, name
from bot.views.words import amount, instant, plural
from policies.core.waivers import Waiver

_LEAKS_MAX = 5
_WAIVERS_MAX = 5
_MOVERS_MAX = 3


def mover_line(movers: Sequence[Mover]) -> str:
    """Say what moved the total most; "" when nothing did."""
    shown = [_mover(one) for one in movers[:_MOVERS_MAX] if one.moved.nanos]
    return f"Mostly: {', '.join(shown)}." if shown else ""


def _mover(one: Mover) -> str:
    sign = "+" if one.moved.nanos > 0 else ""
    new = "new, " if one.is_new else ""
    return f"{escape(group_label(one.key), most=80)} ({new}{sign}{amount(one.moved)})"


def extra_blocks(extras: DigestExtras | None) -> list[Json]:
    """Return the blocks; nothing where nothing can be said."""
    if extras is None:
        return []
    lines = [*_saved(extras.saved), *_denied(extras), *_score(extras)]
    blocks = [*_leaks(extras.leaks, extras.leaks_missing), *_waivers(extras.waivers)]
    return [*blocks, *([section("\n".join(lines))] if lines else [])]


def _leaks(leaks: Sequence[LeakFound], missing: int) -> list[Json]:
    if not leaks:
        return []
    lines = [
        f"*{'at least ' if one.missing else ''}{amount(one.amount)}* {one.leak.value}:"
        f" {escape(one.fix)}"
        for one in leaks[:_LEAKS_MAX]
        if one.amount is not None
    ]
    left = len(leaks) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    if missing:
        lines.append(f"{plural(missing, 'leak')} could not be judged whole")
    return [section(f"*Avoidable*\n{bullets(lines)}")]


def _waivers(waivers: Sequence[Waiver]) -> list[Json]:
    if not waivers:
        return []
    lines = [
        f"{name(one.policy)} on {name(one.subject)} until {instant(one.until)}:"
        f" {escape(one.reason, most=120)}"
        for one in waivers[:_WAIVERS_MAX]
    ]
    left = len(waivers) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    return [section(f"*Waivers in force*\n{bullets(lines)}")]


def _saved(saved: Saved) -> list[str]:
    if not saved.actions:
        return []
    counted = saved.actions - saved.denied - saved.unpriced
    parts = [
        f"{saved.denied:,} called not idle" if saved.denied else "",
        f"{saved.unpriced:,} without a known price" if saved.unpriced else "",
    ]
    left = ", ".join(part for part in parts if part)
    told = "nothing that can be told"
    if counted:
        by = plural(counted, "action")
        told = (
            f"about {amount(saved.amount)} by {by}, an estimate: at most a day each,"
            " until the machine came back"
        )
    besides = f" Not counted: {left}." if left else ""
    return [f"*Saved by policies*: {told}.{besides}"]


def _denied(extras: DigestExtras) -> list[str]:
    if not extras.denied:
        return []
    count = plural(extras.denied, "finding")
    return [f"*Called not idle*: {count}. A policy may be too eager."]


def _score(extras: DigestExtras) -> list[str]:
    if extras.score is None or not extras.score.judged:
        return []
    return [f"*Estimates*: {escape(extras.score.text, most=300)}."]
