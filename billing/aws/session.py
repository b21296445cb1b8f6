"""boto3 clients: one per service, account and region, made when first needed.

Reads credentials and endpoints the way boto3 does; other accounts through a role.
Must not know what the clients are used for.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from threading import RLock
from typing import Any

import boto3
from botocore import session as botocore_session
from botocore.config import Config
from botocore.credentials import (
    AssumeRoleCredentialFetcher,
    CredentialProvider,
    CredentialResolver,
    DeferredRefreshableCredentials,
)

from billing.aws.billable import BillableHook, Tally, ignore
from billing.aws.calls import Call, ask
from billing.core.money import Money
from billing.ports import SourceUnavailableError

TRIES_MAX = 5
CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 30
DEFAULT_REGION = "us-east-1"
ROLE_SESSION_NAME = "gpucost"

CONFIG = Config(
    # `legacy`, the default, does not retry LimitExceededException of Cost Explorer.
    retries={"mode": "standard", "total_max_attempts": TRIES_MAX},
    connect_timeout=CONNECT_TIMEOUT_S,
    read_timeout=READ_TIMEOUT_S,
    user_agent_extra="gpucost",
)

#: A member account's Cost Explorer tells of that account alone.
OF_THE_PAYER = frozenset({"ce", "organizations"})

CALLER = Call(
    source="sts",
    method="get_caller_identity",
    permission="sts:GetCallerIdentity",
    required=("Account", "Arn"),
)
PERMISSIONS = (CALLER.permission, "sts:AssumeRole")


class AwsClients:
    """Makes and keeps boto3 clients; safe to share between threads.

    Args:
        core: Where credentials and endpoints come from, for this object alone; None:
            the environment.
        role: Template such as ``arn:aws:iam::{account}:role/gpucost-read`` for other
            accounts than the caller's; "" when only the caller's can be read.
        payer: The account that is asked for the bill and for the organisation's
            accounts; "" is the caller's.
        on_billable: Called before each request that AWS charges for.
        is_role_everywhere: The role is taken in the caller's own account too.
    """

    def __init__(
        self,
        core: botocore_session.Session | None = None,
        *,
        role: str = "",
        payer: str = "",
        on_billable: BillableHook = ignore,
        is_role_everywhere: bool = False,
    ) -> None:
        self._core = core or botocore_session.Session()
        self._base = boto3.Session(botocore_session=self._core)
        self._role = role
        self._payer = payer
        self._is_role_everywhere = is_role_everywhere
        self._tally = Tally(on_billable)
        self._lock = RLock()
        self._sessions: dict[str, boto3.Session] = {}
        self._clients: dict[tuple[str, str, str], Any] = {}
        self._caller = ""

    @property
    def default_region(self) -> str:
        """Return the region of the profile or environment."""
        return self._base.region_name or DEFAULT_REGION

    def spent(self, service: str) -> tuple[int, Money]:
        """Return how many billable requests a service got, and their price."""
        return self._tally.spent(service)

    def caller_account(self) -> str:
        """Return the account of the credentials, asked for once."""
        with self._lock:
            if not self._caller:
                answer = ask(self.client("sts"), CALLER, {})
                self._caller = str(answer["Account"])
            return self._caller

    def client(self, service: str, *, account: str = "", region: str = "") -> Any:
        """Return the client of a service in an account ("" is the caller's).

        What only the payer's account knows is asked there, where one is named.
        """
        if not account and service in OF_THE_PAYER:
            account = self._payer
        key = (service, account, region or self.default_region)
        with self._lock:
            if key not in self._clients:
                session = self._session(account)
                made = session.client(service, region_name=key[2], config=CONFIG)
                self._tally.attach(made)
                self._clients[key] = made
            return self._clients[key]

    def _session(self, account: str) -> boto3.Session:
        if not account or (
            not self._is_role_everywhere and account == self.caller_account()
        ):
            return self._base
        if not self._role:
            message = (
                f"no way into account {account!r}: "
                "set aws.assume_role to a role that gpucost may assume there"
            )
            raise SourceUnavailableError("sts", message, account=account)
        if account not in self._sessions:
            self._sessions[account] = self._assume(self._role.format(account=account))
        return self._sessions[account]

    def _assume(self, role_arn: str) -> boto3.Session:
        core = botocore_session.Session(profile=self._core.profile)
        provider = _RoleProvider(self._base, role_arn, self.default_region)
        core.register_component("credential_provider", CredentialResolver([provider]))
        # Models of services are megabytes: read once for all accounts.
        loader = self._core.get_component("data_loader")
        core.register_component("data_loader", loader)
        return boto3.Session(botocore_session=core, region_name=self.default_region)


class _RoleProvider(CredentialProvider):
    """Credentials of one role, fetched when first used and renewed before they end."""

    METHOD = "gpucost-assume-role"

    def __init__(self, base: boto3.Session, role_arn: str, region: str) -> None:
        super().__init__()
        self._base = base
        self._role_arn = role_arn
        self._region = region

    def load(self) -> DeferredRefreshableCredentials:
        """Return credentials that renew themselves."""
        fetcher = AssumeRoleCredentialFetcher(
            partial(self._base.client, region_name=self._region, config=CONFIG),
            self._base.get_credentials(),
            self._role_arn,
            extra_args={"RoleSessionName": ROLE_SESSION_NAME},
        )
        return DeferredRefreshableCredentials(
            refresh_using=fetcher.fetch_credentials, method="assume-role"
        )


def clock_skew_s(answer: dict[str, Any], system_now: datetime) -> float | None:
    """Return how many seconds AWS's clock was ahead of ours in an answer.

    None when the answer had no readable Date header. Its resolution is a second.
    """
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        stated = parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return None
    stated = stated if stated.tzinfo else stated.replace(tzinfo=UTC)
    return (stated - system_now).total_seconds()
