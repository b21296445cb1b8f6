"""Cost exports as configured, or as named on the command line, read into the ledger."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from pathlib import Path

from billing.core.charges import Source
from billing.core.errors import GpucostError
from billing.core.fleet import ScopeFailure
from billing.core.periods import DAY, day_of, rfc3339
from billing.exports import EngineLimits, ExportFolder, ExportScope, import_exports
from billing.exports.delivery import find_deliveries
from billing.exports.headers import ExportFormat
from billing.ingest.complete import advance_billed_through
from billing.ports import ExportFiles
from billing.ports.exports import RemoteTable
from bot.ports import Store
from bot.settings import Settings
from bot.settings.athena import AthenaSection
from bot.settings.sections import ExportSection
from bot.use_cases.ingest import Reach
from bot.views.answers import Check, IngestOutcome
from bot.wiring.athena import athena_checks
from bot.wiring.aws import AwsParts
from bot.wiring.parts import started_at, tag_keys
from bot.wiring.signals import ending_on_term

SPOOL = "spool"
#: What is older than this was left by a process that was killed.
SPOOL_MAX_AGE = timedelta(days=1)
_FORMATS = {
    "focus": ExportFormat.FOCUS,
    "cur": ExportFormat.CUR,
    "cur2": ExportFormat.CUR,
}

OpenBucket = Callable[[str, Path], ExportFiles]
OpenAthena = Callable[[AthenaSection], RemoteTable]


def read_exports(
    settings: Settings,
    store: Store,
    reach: Reach,
    *,
    path: str,
    open_bucket: OpenBucket,
    open_athena: OpenAthena,
    progress: Callable[[str], None],
    now: datetime,
) -> IngestOutcome:
    """Bring the ledger up to every configured export, or to the one at ``path``."""
    sections = settings.config.exports
    if path:
        sections = (ExportSection(location=path),)
    if not sections:
        return IngestOutcome(notes=("exports: none are configured",))
    spool = _spool(settings)
    usable = [one for one in sections if one.engine == "duckdb" or one.athena]
    places = {one.location: _place(one.location, spool, open_bucket) for one in usable}
    remote = {
        one.location: open_athena(one.athena)
        for one in usable
        if one.engine == "athena" and one.athena
    }
    with ending_on_term() if remote else nullcontext():
        found = import_exports(
            places.values(),
            store,
            tag_keys(settings),
            now=now,
            scope=_scope(reach, usable),
            limits=EngineLimits(spool=spool),
            progress=progress,
            remote=remote,
        )
    for first in sorted(set(found.read.values())):
        accounts = sorted(name for name, day in found.read.items() if day == first)
        until = day_of(now) + DAY
        advance_billed_through(store, accounts, since=first, until=until, now=now)
    return IngestOutcome(
        imports=found.imports,
        errors=(*found.errors, *_unusable(sections)),
        notes=found.notes,
    )


def _scope(reach: Reach, sections: Sequence[ExportSection]) -> ExportScope:
    return ExportScope(
        since=reach.since,
        until=reach.until,
        is_full=reach.is_full,
        formats={
            one.location: _FORMATS[one.format]
            for one in sections
            if "format" in one.model_fields_set
        },
    )


def export_checks(settings: Settings, open_bucket: OpenBucket) -> Sequence[Check]:
    """Say of every configured export what lies there, without reading any table."""
    return [
        _check(one, _place(one.location, settings.config.data_dir, open_bucket))
        for one in settings.config.exports
    ]


class NoAthenaError(GpucostError):
    """No export is read by Athena."""

    code = "not_configured"
    hint = "set exports[].engine to athena and exports[].athena.table"
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("no export of the configuration has engine athena")


def engine_checks(settings: Settings, aws: AwsParts) -> Sequence[Check]:
    """Run golden statements on the workgroup of every export that Athena reads.

    Raises:
        NoAthenaError: There is none.
    """
    wanted = [one for one in settings.config.exports if one.engine == "athena"]
    tables = [(one.location, one.athena) for one in wanted if one.athena]
    if not tables:
        raise NoAthenaError
    with ending_on_term():
        return [
            check
            for location, section in tables
            for check in athena_checks(aws.athena_table(section), location)
        ]


def _check(section: ExportSection, place: ExportFiles) -> Check:
    name = f"export {section.location}"
    try:
        found = find_deliveries(place)
    except (GpucostError, OSError) as error:
        fix = (
            "correct exports[].location, or allow s3:ListBucket and s3:GetObject there"
        )
        return Check(name=name, ok=False, message=str(error), fix=fix)
    problem = next((text for _, text in found.problems), "")
    if problem:
        fix = "wait for the delivery to end, or copy the whole of it"
        return Check(name=name, ok=False, message=problem, fix=fix)
    newest = max(found.deliveries, key=lambda one: one.delivered_at)
    months = sorted({f"{one.period:%Y-%m}" for one in found.deliveries if one.period})
    reach = f"{months[0]} to {months[-1]}" if months else "no manifest"
    delivered = rfc3339(newest.delivered_at.replace(microsecond=0))
    return Check(name=name, ok=True, message=f"{reach}, delivered {delivered}")


def _place(location: str, spool: Path, open_bucket: OpenBucket) -> ExportFiles:
    if location.startswith("s3://"):
        return open_bucket(location, spool)
    return ExportFolder(Path(location).expanduser(), location)


def _unusable(sections: Sequence[ExportSection]) -> tuple[ScopeFailure, ...]:
    return tuple(
        ScopeFailure(
            source=Source.EXPORTS.value, account="", region="", code="not_available",
            message=f"export {one.location}: engine athena needs its table: set"
            " athena.table",
        )
        for one in sections
        if one.engine == "athena" and not one.athena
    )  # fmt: skip


def _spool(settings: Settings) -> Path:
    """Return the folder for what is fetched or does not fit in memory, swept."""
    spool = settings.config.data_dir / SPOOL
    spool.mkdir(parents=True, exist_ok=True)
    oldest = (started_at() - SPOOL_MAX_AGE).timestamp()
    for left in spool.iterdir():
        if left.name.startswith("gpucost-") and left.stat().st_mtime < oldest:
            shutil.rmtree(left, ignore_errors=True)
    return spool
