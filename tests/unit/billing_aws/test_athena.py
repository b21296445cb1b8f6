"""Athena's protocol: against moto, and against answers that moto does not give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.athena.models import QueryResults, athena_backends

from billing.aws.athena import (
    PERMISSIONS,
    POLLS_MAX,
    AthenaPlace,
    AthenaTable,
    StatementFailedError,
    price_of,
)
from billing.aws.session import AwsClients
from billing.core.money import Money
from billing.ports import RequestBudgetError
from tests.project import ROOT

REGION = "us-east-1"
PLACE = AthenaPlace(
    table="bills.cur2", workgroup="gpucost", output="s3://results/", region=REGION
)
SQL = "SELECT 1"


@dataclass
class Client:
    """Athena as far as a statement goes; each poll takes the next state.

    Attributes:
        polls: (state, bytes scanned so far), the last one repeated.
    """

    polls: list[tuple[str, int]]
    pages: list[list[list[str | None]]] = field(default_factory=list)
    started: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def client(self, service: str, *, account: str = "", region: str = "") -> Client:
        assert service == "athena"
        return self

    def start_query_execution(self, **params: Any) -> dict[str, Any]:
        self.started.append(params)
        return {"QueryExecutionId": "q-1"}

    def get_query_execution(self, **params: Any) -> dict[str, Any]:
        state, scanned = self.polls[0] if len(self.polls) == 1 else self.polls.pop(0)
        return {
            "QueryExecution": {
                "Status": {"State": state, "StateChangeReason": "line 1\nline 2"},
                "Statistics": {"DataScannedInBytes": scanned},
            }
        }

    def get_query_results(self, **params: Any) -> dict[str, Any]:
        number = int(params.get("NextToken", 0))
        rows = [
            {"Data": [{} if cell is None else {"VarCharValue": cell} for cell in row]}
            for row in self.pages[number]
        ]
        more = {"NextToken": str(number + 1)} if number + 1 < len(self.pages) else {}
        return {"ResultSet": {"Rows": rows}, **more}

    def stop_query_execution(self, **params: Any) -> dict[str, Any]:
        self.stopped.append(params["QueryExecutionId"])
        return {}


def table(
    clients: Any,
    *,
    place: AthenaPlace = PLACE,
    charge: Callable[[str, Money], None] = lambda *_: None,
    wait: Callable[[float], None] = lambda _: None,
    nonce: str = "run 1",
) -> AthenaTable:
    return AthenaTable(clients, place, nonce=nonce, charge=charge, wait=wait)


def rows_of(one: AthenaTable) -> list[Any]:
    return [row for page in one.run(SQL) for row in page]


# --- moto ---------------------------------------------------------------------------


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket="results")
        boto3.client("athena").create_work_group(
            Name="gpucost",
            Configuration={
                "BytesScannedCutoffPerQuery": 10**10,
                "ResultConfiguration": {"OutputLocation": "s3://results/"},
            },
        )
        yield AwsClients()


def test_a_statement_goes_through_motos_athena(clients: AwsClients) -> None:
    backend = athena_backends["123456789012"][REGION]
    data = [["lines", "billed"], ["3", "1.500000000000"]]
    backend.query_results_queue.append(
        QueryResults(
            rows=[{"Data": [{"VarCharValue": cell} for cell in row]} for row in data],
            column_info=[{"Name": name, "Type": "varchar"} for name in data[0]],
        )
    )

    found = rows_of(table(clients))

    assert found == [("3", "1.500000000000")]
    (ran,) = backend.executions.values()
    assert ran.query == SQL
    assert ran.workgroup is not None
    assert ran.workgroup.name == "gpucost"


def test_a_workgroups_own_limit_is_known(clients: AwsClients) -> None:
    assert table(clients).cutoff() == 10**10


# --- what moto does not answer ---------------------------------------------------------


def test_every_page_is_read_and_the_header_is_left_out() -> None:
    client = Client(
        polls=[("QUEUED", 0), ("RUNNING", 0), ("SUCCEEDED", 0)],
        pages=[[["a", "b"], ["1", None]], [["2", ""]], [["3", "x"]]],
    )

    assert rows_of(table(client)) == [("1", None), ("2", ""), ("3", "x")]


def test_the_same_statement_of_one_run_has_one_token() -> None:
    tokens = []
    for nonce, sql in (("1", "a"), ("1", "a"), ("2", "a"), ("1", "b")):
        client = Client(polls=[("SUCCEEDED", 0)], pages=[[["h"]]])
        list(table(client, nonce=nonce).run(sql))
        tokens.append(client.started[0]["ClientRequestToken"])

    assert tokens[0] == tokens[1]
    assert len(set(tokens)) == 3
    assert all(32 <= len(token) <= 128 for token in tokens)


def test_a_workgroups_place_is_used_where_none_is_named() -> None:
    client = Client(polls=[("SUCCEEDED", 0)], pages=[[["h"]]])

    rows_of(table(client, place=AthenaPlace(table="bills.cur2")))

    assert "ResultConfiguration" not in client.started[0]


def test_what_is_read_is_counted_while_it_is_read() -> None:
    client = Client(
        polls=[("RUNNING", 2 * 10**12), ("SUCCEEDED", 3 * 10**12)], pages=[[["h"]]]
    )
    counted: list[Money] = []
    place = AthenaPlace(table="bills.cur2", bytes_max=10**13)

    rows_of(table(client, place=place, charge=lambda _, cost: counted.append(cost)))

    assert sum(one.nanos for one in counted) == price_of(3 * 10**12).nanos
    assert len(counted) == 3


def test_a_statement_that_reads_too_much_is_stopped() -> None:
    client = Client(polls=[("RUNNING", 10**12 + 1)])

    with pytest.raises(
        StatementFailedError, match="bytes_limit; the statement was stop"
    ):
        rows_of(table(client))

    assert client.stopped == ["q-1"]


def test_a_statement_that_the_budget_forbids_is_stopped_or_never_started() -> None:
    def spend(limit: int) -> Callable[[str, Money], None]:
        left = [limit]

        def charge(operation: str, cost: Money) -> None:
            left[0] -= cost.nanos
            if left[0] < 0:
                raise RequestBudgetError("athena", operation)

        return charge

    started = Client(polls=[("RUNNING", 10**11)])
    with pytest.raises(RequestBudgetError):
        rows_of(table(started, charge=spend(10**8)))
    never = Client(polls=[("RUNNING", 0)])
    with pytest.raises(RequestBudgetError):
        rows_of(table(never, charge=spend(0)))

    assert started.stopped == ["q-1"]
    assert (never.started, never.stopped) == ([], [])


@pytest.mark.parametrize("end", [SystemExit(143), KeyboardInterrupt()])
def test_a_statement_that_nobody_waits_for_is_stopped(end: BaseException) -> None:
    client = Client(polls=[("RUNNING", 0)])

    def wait(seconds: float) -> None:
        raise end

    with pytest.raises(type(end)):
        rows_of(table(client, wait=wait))

    assert client.stopped == ["q-1"]


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED"])
def test_a_statement_that_fails_says_why_in_one_line(state: str) -> None:
    client = Client(polls=[(state, 0)])

    with pytest.raises(StatementFailedError) as failure:
        rows_of(table(client))

    assert str(failure.value).endswith(f"as {state.lower()}: line 1")


def test_a_statement_without_end_is_given_up() -> None:
    waits: list[float] = []
    client = Client(polls=[("QUEUED", 0)])

    with pytest.raises(StatementFailedError, match="did not end"):
        rows_of(table(client, wait=waits.append))

    assert len(waits) == POLLS_MAX
    assert client.stopped == ["q-1"]


def test_the_policy_file_allows_what_is_called() -> None:
    path = ROOT / "deploy" / "aws" / "iam-athena.json"
    policy = json.loads(path.read_text("utf-8"))
    allowed = {one for some in policy["Statement"] for one in some["Action"]}

    assert set(PERMISSIONS) <= allowed
    assert not [one for one in allowed if "Delete" in one or one.endswith("*")]
