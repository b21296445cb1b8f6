"""Take in what schedulers say: rows of a file, or one job's placements, whole or not.

Hosts become instances by when each ran; a row with a host that is no known instance is
told and left out, the others go in together. Knows no file format and no SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice

from billing.core.errors import GpucostError
from billing.core.placement_rows import LineNote, Parsed, PlacementRow
from billing.core.placements import Placement, PlacementSource
from billing.ingest.attribution import reattribute_due
from billing.ports import BillLedger, HostMatch
from bot.ports import Store
from bot.views.placements import ImportedPlacements

PLACEMENTS_MAX = 1_000_000
#: Days that are computed at once; the schedule does the others.
DAYS_NOW = 400
_NAMED = 3


class TooManyPlacementsError(GpucostError, ValueError):
    """The file places more than one import takes; nothing was stored."""

    code = "too_many_placements"
    exit_code = 2
    hint = "import a shorter span at a time"

    def __init__(self) -> None:
        super().__init__(f"a file of more than {PLACEMENTS_MAX} placements")


def import_placements(
    store: Store, parsed: Parsed, source: PlacementSource, *, now: datetime
) -> ImportedPlacements:
    """Store every row whose hosts are known, in one transaction."""
    if sum(len(row.hosts) for row in parsed.rows) > PLACEMENTS_MAX:
        raise TooManyPlacementsError
    skipped = list(parsed.skipped)
    with store.write() as unit:
        good = _with_resources(unit.ledger, parsed.rows, skipped)
        attempts = _attempts(unit.ledger, [row for row, _ in good], source)
        placements = [
            Placement(
                job=row.job,
                resource_id=resource_id,
                started_at=row.started_at,
                ended_at=row.ended_at,
                gpus=row.gpus,
                source=source,
                external_id=row.external_id,
                attempt=attempts[row.external_id, row.started_at],
            )
            for row, resources in good
            for resource_id in resources
        ]
        changed = unit.ledger.record_placements(placements, now)
    done = reattribute_due(store, now, limit=DAYS_NOW) if changed else None
    return ImportedPlacements(
        imported=len(good),
        changed=changed,
        skipped=tuple(sorted(skipped)),
        notes=tuple(sorted(parsed.notes)),
        ignored=parsed.ignored,
        days=done.days if done else 0,
    )


def record_placements(
    store: Store, placements: Sequence[Placement], *, now: datetime
) -> ImportedPlacements:
    """Store what a launcher says of its own job; its resources are named by id."""
    with store.write() as unit:
        changed = unit.ledger.record_placements(placements, now)
    done = reattribute_due(store, now, limit=DAYS_NOW) if changed else None
    return ImportedPlacements(
        imported=len(placements), changed=changed, days=done.days if done else 0
    )


def _with_resources(
    ledger: BillLedger, rows: Sequence[PlacementRow], skipped: list[LineNote]
) -> list[tuple[PlacementRow, tuple[str, ...]]]:
    """Return rows with their resources; tell of those with a host that is not known."""
    known = ledger.hosts(sorted({host for row in rows for host in row.hosts}))
    good = []
    for row in rows:
        found = {host: _resource(host, row, known) for host in row.hosts}
        wrong = [f"{host}: {why}" for host, (_, why) in found.items() if why]
        resources = tuple(resource for resource, _ in found.values())
        if not wrong and len(set(resources)) < len(resources):
            wrong = ["two of its hosts are one instance"]
        if wrong:
            more = len(wrong) - _NAMED
            named = [
                *islice(wrong, _NAMED),
                *([f"and {more} more"] if more > 0 else []),
            ]
            skipped.append(LineNote(row.line, "; ".join(named)))
        else:
            good.append((row, resources))
    return good


def _resource(
    host: str, row: PlacementRow, known: Mapping[str, Sequence[HostMatch]]
) -> tuple[str, str]:
    """Return the instance that a host was then, or why it is not known."""
    if is_instance_id(host):
        return host.strip().lower(), ""
    runs = known.get(host, ())
    if not runs:
        return "", "no instance of this name was seen"
    then = {one.resource_id for one in runs if _was_there(one, row)}
    if not then:
        return "", "no instance of this name ran then"
    if len(then) > 1:
        return "", f"{len(then)} instances had this name then"
    return then.pop(), ""


def is_instance_id(text: str) -> bool:
    """Tell an instance id by its form.

    >>> is_instance_id("i-0abc"), is_instance_id("ip-10-0-1-2")
    (True, False)
    """
    kind, dash, number = text.strip().lower().partition("-")
    return (
        kind == "i" and bool(dash and number) and set(number) <= set("0123456789abcdef")
    )


def _was_there(run: HostMatch, row: PlacementRow) -> bool:
    begins = row.ended_at is None or run.started_at < row.ended_at
    return begins and (run.ended_at is None or run.ended_at > row.started_at)


def _attempts(
    ledger: BillLedger, rows: Sequence[PlacementRow], source: PlacementSource
) -> dict[tuple[str, datetime], int]:
    """Number the starts of each job: known ones as they are, new ones after them."""
    starts: dict[str, set[datetime]] = {}
    for row in rows:
        starts.setdefault(row.external_id, set()).add(row.started_at)
    known = ledger.attempts(source, sorted(starts))
    numbers: dict[tuple[str, datetime], int] = {}
    for external_id, found in starts.items():
        mine = known.get(external_id, {})
        following = max(mine.values(), default=-1) + 1
        for start in sorted(found):
            if start in mine:
                numbers[external_id, start] = mine[start]
            else:
                numbers[external_id, start] = following
                following += 1
    return numbers
