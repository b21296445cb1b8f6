"""Accounts of an organisation: which are read, which are not, and whose bill counts."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.stub import Stubber

from billing.aws.cost_explorer import CostExplorerSource
from billing.aws.organizations import Member, read_organisation
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.core.money import Money, total
from billing.core.periods import DAY
from billing.ingest import IngestResult, import_costs
from billing.ports import SourceUnavailableError
from bot.unit_of_work import SqlStore
from deploy.sandbox.aws.builders import cost
from deploy.sandbox.aws.faults import Fault
from deploy.sandbox.aws.world import Account
from tests.builders import make_charge, usd
from tests.builders_store import import_charges
from tests.contract.sources.aws import MEMBER, NOW, PAYER, ROLE, Aws, on

DAY_ONE, DAY_TWO = on("2026-04-01"), on("2026-04-02")
CLOSED = "111111111111"


def member_clients() -> AwsClients:
    """Make clients that ask a linked account's own Cost Explorer."""
    return AwsClients(role=ROLE, payer=MEMBER)


def read(clients: AwsClients, store: SqlStore) -> IngestResult:
    source = CostExplorerSource(
        clients, accounts=None, job_tag_keys=("job-id",), clock=lambda: NOW
    )
    return import_costs(source, store, since=DAY_ONE, until=DAY_TWO, now=NOW)


def sums(store: SqlStore) -> dict[str, Money]:
    with store.read() as unit:
        cells = unit.ledger.cells("account", DAY_ONE, DAY_TWO)
    return {cell.key: cell.billed for cell in cells}


def test_accounts_that_are_not_active_are_named_with_their_state(aws: Aws) -> None:
    aws.serve(
        accounts=[
            Account(id=MEMBER, name="research"),
            Account(id=CLOSED, name="old", status="SUSPENDED"),
        ]
    )

    found = read_organisation(aws.clients())

    assert found.active == (MEMBER, PAYER)
    assert found.left_out == (Member(account=CLOSED, name="old", state="SUSPENDED"),)


def account_of(number: int, **fields: str) -> dict[str, str]:
    return {"Id": f"{number:012}", "Name": f"a-{number}"} | fields


# AWS retired Status on 9 September 2026.
@pytest.mark.parametrize("spelling", ["State", "Status"])
def test_every_page_is_read_in_either_spelling(aws: Aws, spelling: str) -> None:
    aws.serve()
    clients = aws.clients()
    pages: list[dict[str, Any]] = [
        {"Accounts": [account_of(2, **{spelling: "ACTIVE"})], "NextToken": "more"},
        {
            "Accounts": [
                account_of(1, **{spelling: "ACTIVE"}),
                account_of(3, **{spelling: "PENDING_CLOSURE"}),
            ]
        },
    ]
    with Stubber(clients.client("organizations")) as stubbed:
        stubbed.add_response("list_accounts", pages[0], {})
        stubbed.add_response("list_accounts", pages[1], {"NextToken": "more"})

        found = read_organisation(clients)

    assert found.active == ("000000000001", "000000000002")
    assert [one.state for one in found.left_out] == ["PENDING_CLOSURE"]


def test_a_refused_listing_says_who_may_ask(aws: Aws) -> None:
    sandbox = aws.serve(accounts=[Account(id=MEMBER)])
    sandbox.faults.add(Fault(service="organizations", kind="deny"))

    with pytest.raises(SourceUnavailableError, match="delegated administrator") as no:
        read_organisation(aws.clients())

    assert "organizations:ListAccounts failed" in str(no.value)
    assert "aws.accounts" in str(no.value)


def test_an_account_without_an_organisation_is_told_so(aws: Aws) -> None:
    sandbox = aws.serve()
    sandbox.faults.add(
        Fault(
            service="organizations",
            kind="deny",
            code="AWSOrganizationsNotInUseException",
        )
    )

    with pytest.raises(SourceUnavailableError, match="is in no organisation"):
        read_organisation(aws.clients())


# C024
def test_a_linked_account_that_is_read_beside_its_payer_counts_once(
    aws: Aws, store: SqlStore
) -> None:
    aws.serve(
        accounts=[Account(id=MEMBER)],
        costs=[
            cost("2026-04-01", "900", account=PAYER),
            cost("2026-04-01", "300", account=MEMBER),
        ],
    )

    read(aws.clients(), store)
    both = sums(store)
    alone = read(member_clients(), store)

    assert both == {PAYER: usd("900"), MEMBER: usd("300")}
    assert {one.account for one in alone.imports} == {MEMBER}
    assert sums(store) == both


def test_an_export_of_the_payer_and_a_linked_account_s_own_bill_count_once(
    aws: Aws, store: SqlStore
) -> None:
    aws.serve(
        accounts=[Account(id=MEMBER)],
        costs=[cost("2026-04-01", "300", account=MEMBER)],
    )
    exported = make_charge(on="2026-04-01", billed="301", account=MEMBER)
    import_charges(store, [exported], account=MEMBER, source=Source.EXPORTS, now=NOW)

    read(member_clients(), store)

    assert sums(store) == {MEMBER: usd("301")}


def test_the_bill_of_all_is_asked_of_the_payer_that_is_named(aws: Aws) -> None:
    sandbox = aws.serve(accounts=[Account(id=MEMBER)])

    member_clients().client("ce", region="us-east-1").get_cost_and_usage(
        TimePeriod={"Start": "2026-04-01", "End": "2026-04-02"},
        Granularity="DAILY",
        Metrics=["NetUnblendedCost"],
    )

    (asked,) = (one for one in sandbox.requests if one.service == "ce")
    assert asked.account == MEMBER


def test_each_account_is_billed_through_its_own_day(store: SqlStore) -> None:
    for account, days in ((PAYER, 1), (MEMBER, 3)):
        charges = [
            make_charge(on=(DAY_ONE + DAY * n).isoformat(), account=account)
            for n in range(days)
        ]
        import_charges(store, charges, account=account, now=NOW)
        with store.write() as unit:
            through = NOW.replace(day=1 + days, hour=0)
            unit.ledger.set_billed_through(account, through, NOW)

    with store.read() as unit:
        found = unit.ledger.billed_through()

    assert {account: one.day for account, one in found.items()} == {PAYER: 2, MEMBER: 4}
    assert total(sums(store).values()) == usd("20")
