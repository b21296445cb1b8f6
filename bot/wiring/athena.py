"""Athena as exports are read by it: its table, and the budget that its reading counts in."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from billing.aws.athena import AthenaPlace, AthenaTable
from billing.aws.session import AwsClients
from billing.core.errors import GpucostError
from billing.core.money import Money
from billing.exports.golden import GOLDEN, expected, same
from bot.clock import Now
from bot.ports import Store
from bot.settings.athena import AthenaSection
from bot.views.answers import Check
from bot.wiring.parts import started_at


def athena_table(
    clients: AwsClients, section: AthenaSection, store: Store, now: Now
) -> AthenaTable:
    """Return a table; what its statements read counts in the day's budget."""

    def charge(operation: str, cost: Money) -> None:
        store.meter.charge(operation, cost, now())

    return AthenaTable(
        clients,
        AthenaPlace(
            table=section.table,
            workgroup=section.workgroup,
            output=section.output,
            region=section.region,
            catalog=section.catalog,
            bytes_max=section.bytes_limit,
        ),
        nonce=started_at().isoformat(),
        charge=charge,
        wait=_wait,
    )


def _wait(seconds: float) -> None:
    threading.Event().wait(seconds)


def athena_checks(table: AthenaTable, location: str) -> Iterator[Check]:
    """Run the golden statements on a workgroup, and say what limits it."""
    fix = "see the section on Athena in docs/exports.md; deploy/aws/iam-athena.json"
    name = f"athena for {location}"
    try:
        cutoff = table.cutoff()
    except GpucostError as error:
        yield Check(name=f"{name}: workgroup", ok=False, message=str(error), fix=fix)
        return
    said = (
        f"stops a statement at {cutoff} bytes" if cutoff else "has no limit of its own"
    )
    yield Check(name=f"{name}: workgroup", ok=bool(cutoff) or None, message=said)
    for golden in GOLDEN:
        for title, sql in golden.statements().items():
            yield _golden_check(table, f"{name}: {title}", sql, fix)


def _golden_check(table: AthenaTable, name: str, sql: str, fix: str) -> Check:
    try:
        rows = [row for page in table.run(sql) for row in page]
    except GpucostError as error:
        return Check(name=name, ok=False, message=str(error), fix=fix)
    wanted = expected(sql)
    if same(rows, wanted):
        return Check(name=name, ok=True, message=f"{len(rows)} rows as expected")
    message = f"answered {len(rows)} rows that are not the {len(wanted)} expected ones"
    return Check(
        name=name, ok=False, message=message, fix="read exports with engine duckdb"
    )
