"""A world leaves nothing behind in the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deploy.sandbox.aws.world import Account, World

if TYPE_CHECKING:
    from tests.sandbox.aws.conftest import Serve


def test_a_member_of_one_world_may_be_the_payer_of_the_next(serve: Serve) -> None:
    payer, member = "111111111111", "222222222222"
    accounts = [Account(id=payer), Account(id=member)]
    serve(World(caller_account=payer, accounts=accounts))

    sandbox = serve(World(caller_account=member, accounts=accounts))

    listed = sandbox.client("organizations").list_accounts()["Accounts"]
    assert {one["Id"] for one in listed} == {payer, member}
