"""Athena: one statement started, followed to its end, its rows read page by page.

What it reads is priced while it runs; a statement that reads too much, that the day's
budget forbids or that nobody waits for any more is stopped. Knows no statement.
Price: https://aws.amazon.com/athena/pricing/ ($5 per TB scanned, at least 10 MB a
statement, us-east-1, read 2026-11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from billing.aws.calls import Call, ask, pages, whole
from billing.aws.failures import AWS_ERRORS
from billing.aws.session import AwsClients
from billing.core.errors import GpucostError
from billing.core.money import Money
from billing.ports import SourceUnavailableError

SOURCE = "exports"
NANOS_PER_BYTE_OF = (5 * 10**9, 10**12)
BYTES_LEAST = 10 * 10**6
ROWS_A_PAGE = 1_000
#: A million rows of one statement; more is no bill by account, day and job.
PAGES_MAX = 1_001
#: How often a statement is asked for, and how long it may take.
POLL_S = 1.0
POLLS_MAX = 1_800
_DONE, _RUNNING = "SUCCEEDED", frozenset({"QUEUED", "RUNNING"})

START = Call(
    source=SOURCE, method="start_query_execution",
    permission="athena:StartQueryExecution", required=("QueryExecutionId",),
)  # fmt: skip
FOLLOW = Call(
    source=SOURCE, method="get_query_execution",
    permission="athena:GetQueryExecution", required=("QueryExecution",),
)  # fmt: skip
RESULTS = Call(
    source=SOURCE, method="get_query_results",
    permission="athena:GetQueryResults", required=("ResultSet",),
    page_in="NextToken", page_out="NextToken",
)  # fmt: skip
STOP = Call(
    source=SOURCE, method="stop_query_execution", permission="athena:StopQueryExecution"
)
TABLE = Call(
    source=SOURCE, method="get_table_metadata",
    permission="athena:GetTableMetadata", required=("TableMetadata",),
)  # fmt: skip
WORKGROUP = Call(
    source=SOURCE, method="get_work_group",
    permission="athena:GetWorkGroup", required=("WorkGroup",),
)  # fmt: skip
#: Athena reads and writes for its caller: the catalogue, the export and the results.
PERMISSIONS = (
    *(one.permission for one in (START, FOLLOW, RESULTS, STOP, TABLE, WORKGROUP)),
    *("glue:GetTable", "glue:GetDatabase", "glue:GetPartitions"),
)


class StatementFailedError(SourceUnavailableError):
    """Athena did not finish a statement; nothing of its answer is used."""

    code = "statement_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AthenaPlace:
    """Which table, and by what means it is read.

    Attributes:
        table: ``database.table``.
        output: Where results are written; "" is the workgroup's own place.
        bytes_max: A statement that reads more is stopped.
    """

    table: str
    workgroup: str = "primary"
    output: str = ""
    region: str = ""
    catalog: str = "AwsDataCatalog"
    bytes_max: int = 10**12


class AthenaTable:
    """The ``RemoteTable`` port over one table of Athena's.

    Args:
        nonce: Differs from run to run: the same statement of the same run is one.
        charge: Counts what is read; raises when the day's budget is used up.
        wait: Waits some seconds; raises when nobody waits any more.
    """

    def __init__(
        self,
        clients: AwsClients,
        place: AthenaPlace,
        *,
        nonce: str,
        charge: Callable[[str, Money], None],
        wait: Callable[[float], None],
    ) -> None:
        self._client = clients.client("athena", region=place.region)
        self._place = place
        self._nonce = nonce
        self._charge = charge
        self._wait = wait

    @property
    def name(self) -> str:
        """Return its full name as SQL."""
        return ".".join(f'"{part}"' for part in self._place.table.split("."))

    def columns(self) -> Mapping[str, str]:
        """Return column -> type, partitions included."""
        database, _, table = self._place.table.partition(".")
        answer = ask(
            self._client,
            TABLE,
            {
                "CatalogName": self._place.catalog,
                "DatabaseName": database,
                "TableName": table,
            },
        )
        with whole(TABLE):
            found = answer["TableMetadata"]
            every = [*found["Columns"], *found.get("PartitionKeys", ())]
            return {one["Name"]: column_type(one.get("Type", "")) for one in every}

    def cutoff(self) -> int | None:
        """Return the bytes at which the workgroup itself stops a statement; None: never."""
        answer = ask(self._client, WORKGROUP, {"WorkGroup": self._place.workgroup})
        found = answer["WorkGroup"].get("Configuration", {})
        cutoff = found.get("BytesScannedCutoffPerQuery")
        return int(cutoff) if cutoff else None

    def run(self, sql: str) -> Iterator[Sequence[Sequence[str | None]]]:
        """Yield the rows of one statement in pages, as texts."""
        number = self._start(sql)
        self._follow(number)
        is_first = True
        asked = {"QueryExecutionId": number, "MaxResults": ROWS_A_PAGE}
        for answer in pages(self._client, RESULTS, asked, pages_max=PAGES_MAX):
            with whole(RESULTS):
                rows = [_cells(row) for row in answer["ResultSet"]["Rows"]]
            yield rows[1:] if is_first else rows  # The first row of all is the header.
            is_first = False

    def _start(self, sql: str) -> str:
        place = self._place
        seed = f"{self._nonce}\n{place.table}\n{place.workgroup}\n{sql}"
        params: dict[str, Any] = {
            "QueryString": sql,
            "ClientRequestToken": hashlib.sha256(seed.encode()).hexdigest(),
            "WorkGroup": place.workgroup,
            "QueryExecutionContext": {
                "Catalog": place.catalog,
                "Database": place.table.partition(".")[0],
            },
        }
        if place.output:
            params["ResultConfiguration"] = {"OutputLocation": place.output}
        self._charge(START.permission, price_of(BYTES_LEAST))
        return str(ask(self._client, START, params)["QueryExecutionId"])

    def _follow(self, number: str) -> None:
        """Wait for the end; stop the statement when this side ends first."""
        try:
            counted = BYTES_LEAST
            for _ in range(POLLS_MAX):
                state, scanned = self._look(number)
                if scanned > counted:
                    self._charge(START.permission, price_of(scanned - counted))
                    counted = scanned
                self._check_size(scanned)
                if state == _DONE:
                    return
                self._wait(POLL_S)
            self._check_size(None)
        except BaseException:
            with suppress(GpucostError, *AWS_ERRORS):
                ask(self._client, STOP, {"QueryExecutionId": number})
            raise

    def _look(self, number: str) -> tuple[str, int]:
        """Return the state of a statement, and the bytes that it read so far."""
        answer = ask(self._client, FOLLOW, {"QueryExecutionId": number})
        with whole(FOLLOW):
            found = answer["QueryExecution"]
            state = str(found["Status"]["State"])
            scanned = int(found.get("Statistics", {}).get("DataScannedInBytes", 0))
        if state != _DONE and state not in _RUNNING:
            raise _failed(found, state)
        return state, scanned

    def _check_size(self, scanned: int | None) -> None:
        if scanned is None:
            raise StatementFailedError(
                SOURCE, f"Athena did not end within {POLLS_MAX * POLL_S:.0f} seconds"
            )
        if scanned > self._place.bytes_max:
            raise StatementFailedError(SOURCE, self._too_much(scanned))

    def _too_much(self, scanned: int) -> str:
        return (
            f"Athena read {scanned} bytes, over the {self._place.bytes_max} of"
            " athena.bytes_limit; the statement was stopped"
        )


def price_of(scanned: int) -> Money:
    """Return what reading some bytes costs, rounded up to a nano-unit.

    >>> price_of(10**12).text(), price_of(10**7).text()
    ('5.00', '0.00005')
    """
    nanos, size = NANOS_PER_BYTE_OF
    return Money(-(-scanned * nanos // size))


def column_type(text: str) -> str:
    """Return a type of the catalogue in the words of SQL.

    >>> column_type("map<string,string>"), column_type("decimal(38,9)"), column_type("string")
    ('MAP(VARCHAR, VARCHAR)', 'DECIMAL(38,9)', 'VARCHAR')
    """
    kind = text.strip().lower()
    if kind.startswith("map<"):
        return "MAP(VARCHAR, VARCHAR)"
    if kind == "string" or kind.startswith(("varchar", "char")):
        return "VARCHAR"
    return kind.upper()


def _cells(row: Mapping[str, Any]) -> tuple[str | None, ...]:
    return tuple(cell.get("VarCharValue") for cell in row["Data"])


def _failed(found: Mapping[str, Any], state: str) -> StatementFailedError:
    reason = str(found["Status"].get("StateChangeReason", "")).splitlines()[:1]
    said = f": {reason[0][:200]}" if reason else ""
    return StatementFailedError(
        SOURCE, f"Athena ended the statement as {state.lower()}{said}"
    )
