"""The doctor names accounts that are left out, and those that no bill tells of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from billing.aws.organizations import Member, Organisation
from billing.core.charges import Source
from bot.settings import load_settings
from bot.wiring.accounts import account_checks
from bot.wiring.application import Application
from tests.builders import ACCOUNT, NOW, make_charge
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore

OTHER, CLOSED = "111111111111", "222222222222"


@dataclass
class FakeAws:
    """An organisation of two open accounts and one that is closed."""

    accounts: tuple[str, ...] = (ACCOUNT, OTHER)
    organisation: Organisation = field(
        default_factory=lambda: Organisation(
            active=(ACCOUNT, OTHER),
            left_out=(Member(account=CLOSED, name="old", state="PENDING_CLOSURE"),),
        )
    )


def application(store: SqlStore, folder: Path, accounts: str) -> Application:
    path = folder / "gpucost.yaml"
    path.write_text(f"aws: {{accounts: {accounts}}}")
    found = Application(settings=load_settings(str(path)), store=store, now=lambda: NOW)
    vars(found)["aws"] = FakeAws()
    return found


def test_accounts_that_are_not_open_are_named_with_their_state(
    store: SqlStore, tmp_path: Path
) -> None:
    (check,) = account_checks(application(store, tmp_path, "all"))

    assert check.ok
    assert check.message == (
        f"2 accounts read; left out: {CLOSED} (old, pending closure)"
    )


def test_named_accounts_ask_no_organisation(store: SqlStore, tmp_path: Path) -> None:
    (check,) = account_checks(application(store, tmp_path, f"['{ACCOUNT}']"))

    assert check.message == "2 accounts read"


def test_an_account_that_no_bill_tells_of_is_named(
    store: SqlStore, tmp_path: Path
) -> None:
    import_charges(store, [make_charge()], now=NOW)
    with store.write() as unit:
        unit.ledger.note_freshness(Source.COST_EXPLORER, ACCOUNT, as_of=NOW)

    _, check = account_checks(application(store, tmp_path, "all"))

    assert check.ok is None
    assert check.message == f"no bill told of {OTHER}"
    assert "aws.payer" in check.fix
