"""Which accounts an organisation has, and which of them there is no way into any more.

The management account and delegated administrators may list accounts
(https://docs.aws.amazon.com/organizations/latest/userguide/orgs_delegate_policies.html).
AWS retired `Status` on 9 September 2026 in favour of `State`
(https://docs.aws.amazon.com/organizations/latest/APIReference/API_Account.html); either
is read. Must not know what is done with accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.aws.calls import Call, pages, whole
from billing.aws.failures import DENIED
from billing.aws.session import AwsClients
from billing.ports import SourceUnavailableError

SOURCE = "organizations"
LIST_ACCOUNTS = Call(
    source=SOURCE,
    method="list_accounts",
    permission="organizations:ListAccounts",
    required=("Accounts",),
    page_in="NextToken",
    page_out="NextToken",
)
PERMISSIONS = (LIST_ACCOUNTS.permission,)
ACTIVE = "ACTIVE"
_NO_ORGANISATION = "AWSOrganizationsNotInUseException"
_ADVICE = "name the accounts under aws.accounts, or"
_BY_WHOM = f"{_ADVICE} use credentials of the management account or of a delegated administrator"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Member:
    """One account of an organisation.

    Attributes:
        account: 12 digits as text; zeros are kept.
        state: As AWS spells it, such as ``ACTIVE`` or ``SUSPENDED``.
    """

    account: str
    name: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """Every account of an organisation, sorted by id.

    Attributes:
        active: Those that can be read.
        left_out: Those that are suspended, closed or not open yet.
    """

    active: tuple[str, ...]
    left_out: tuple[Member, ...] = ()


def read_organisation(clients: AwsClients) -> Organisation:
    """Read every page of the organisation's accounts.

    Raises:
        SourceUnavailableError: These credentials may not list them, or there is no
            organisation; the message says what to do.
    """
    client = clients.client("organizations")
    members: set[Member] = set()
    try:
        for answer in pages(client, LIST_ACCOUNTS, {}):
            with whole(LIST_ACCOUNTS):
                members |= {_member(one) for one in answer["Accounts"]}
    except SourceUnavailableError as error:
        raise _advised(error) from error
    return Organisation(
        active=tuple(one.account for one in sorted(members) if one.state == ACTIVE),
        left_out=tuple(one for one in sorted(members) if one.state != ACTIVE),
    )


def _member(raw: Mapping[str, Any]) -> Member:
    state = raw.get("State") or raw["Status"]
    return Member(account=raw["Id"], name=raw.get("Name", ""), state=state)


def _advised(error: SourceUnavailableError) -> SourceUnavailableError:
    """Return a failure that says how else to name accounts."""
    if error.cause in DENIED:
        advice = _BY_WHOM
    elif error.cause == _NO_ORGANISATION:
        advice = f"{_ADVICE} leave aws.accounts out: this account is in no organisation"
    else:
        return error
    return SourceUnavailableError(SOURCE, f"{error}: {advice}", cause=error.cause)
