"""What `gpucost doctor` says of accounts: read, left out, and without a bill."""

from __future__ import annotations

from collections.abc import Sequence

from billing.core.charges import Source
from bot.views.answers import Check
from bot.views.words import listed, plural
from bot.wiring.application import Application

BILLS = frozenset({Source.COST_EXPLORER, Source.EXPORTS})


def account_checks(application: Application) -> Sequence[Check]:
    """Name accounts that are not read, and those that no bill tells of."""
    accounts = application.aws.accounts
    checks = [
        Check(
            name="accounts",
            ok=True,
            message=f"{plural(len(accounts), 'account')} read{_left_out(application)}",
        )
    ]
    with application.store.read() as unit:
        known = unit.ledger.freshness()
    billed = {one.account for one in known if one.source in BILLS and one.as_of}
    silent = sorted(set(accounts) - billed)
    if billed and silent:
        checks.append(
            Check(
                name="bill of every account",
                ok=None,
                message=f"no bill told of {listed(tuple(silent))}",
                fix="right when they cost nothing; else name the payer's account under "
                "aws.payer: a member's Cost Explorer tells of itself alone",
            )
        )
    return checks


def _left_out(application: Application) -> str:
    """Name the accounts of the organisation that are suspended or closed."""
    if application.settings.config.aws.accounts is not None:
        return ""
    out = tuple(
        f"{one.account} ({one.name + ', ' if one.name else ''}"
        f"{one.state.replace('_', ' ').lower()})"
        for one in application.aws.organisation.left_out
    )
    return f"; left out: {listed(out)}" if out else ""
