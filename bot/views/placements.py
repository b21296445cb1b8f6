"""What an import of placements did, as JSON and as text; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from billing.core.placement_rows import LineNote
from bot.views.answers import Json
from bot.views.terminal import clean
from bot.views.words import plural

#: Lines named in a table; JSON names all.
LINES_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPlacements:
    """What one import did.

    Attributes:
        imported: Lines that are stored now, new or known before.
        changed: Placements that said something new.
        ignored: Lines that are no allocation.
        days: Stored days that were attributed anew; others follow on the schedule.
    """

    imported: int
    changed: int
    skipped: tuple[LineNote, ...] = ()
    notes: tuple[LineNote, ...] = ()
    ignored: int = 0
    days: int = 0


def import_document(done: ImportedPlacements) -> Json:
    """Return the JSON of `gpucost jobs import`."""
    return {
        "imported": done.imported,
        "changed": done.changed,
        "ignored": done.ignored,
        "days_attributed": done.days,
        "skipped": _lines(done.skipped),
        "notes": _lines(done.notes),
    }


def import_text(done: ImportedPlacements) -> str:
    """Return what an import did, for a terminal."""
    placements = f"{plural(done.changed, 'placement')} new or changed"
    told = [f"{plural(done.imported, 'line')} imported: {placements}"]
    if done.ignored:
        lines = plural(done.ignored, "line")
        told.append(f"{lines} ignored: steps, or never started")
    if done.days:
        told.append(f"{plural(done.days, 'stored day')} attributed anew")
    told += _named("skipped", done.skipped)
    told += _named("imported with an assumption", done.notes)
    return "\n".join(told)


def _named(what: str, lines: Sequence[LineNote]) -> list[str]:
    if not lines:
        return []
    more = len(lines) - LINES_SHOWN
    return [
        f"{plural(len(lines), 'line')} {what}:",
        *(f"  line {one.line}: {clean(one.reason)}" for one in lines[:LINES_SHOWN]),
        *([f"  and {more} more; --format json names all"] if more > 0 else []),
    ]


def _lines(lines: Sequence[LineNote]) -> list[Json]:
    return [{"line": one.line, "reason": one.reason} for one in lines]
