"""Who the credentials belong to, and what may not be read.

For `doctor` and the start of a run. Must not know how the answers are shown. Permission
is tried with calls that cost nothing or, where AWS has none, are named as untested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.aws import inventory, metrics, prices
from billing.aws.calls import Call, Place, ask
from billing.aws.ce_calls import LIST_TAGS
from billing.aws.failures import DENIED
from billing.aws.session import CALLER, AwsClients, clock_skew_s
from billing.ports import SourceUnavailableError

SOURCE = "identity"
PERMISSIONS = (CALLER.permission,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose credentials are in use.

    Attributes:
        skew_s: Seconds that AWS's clock is ahead of ours; None when it did not say.
    """

    account: str
    arn: str
    skew_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Whether one permission is there.

    Attributes:
        is_allowed: None when the call failed for another reason, which ``message`` has.
    """

    permission: str
    account: str
    region: str
    is_allowed: bool | None
    message: str = ""


#: service, call and the smallest question it takes; all free of charge.
_TRIALS: tuple[tuple[str, Call, Mapping[str, Any]], ...] = (
    ("ec2", inventory.INSTANCES, {"MaxResults": 5}),
    ("ec2", inventory.VOLUMES, {"MaxResults": 5}),
    ("ec2", inventory.TAGS, {"MaxResults": 5}),
    ("ec2", prices.SPOT_HISTORY, {"MaxResults": 5}),
)
#: The same, in the payer's account only; each costs at most $0.01.
_PAYER_TRIALS: tuple[tuple[str, Call, Mapping[str, Any]], ...] = (
    ("pricing", prices.PRODUCTS, {"ServiceCode": "AmazonEC2", "MaxResults": 1}),
    ("savingsplans", prices.PLAN_RATES, {"maxResults": 1}),
    ("cloudwatch", metrics.LIST_METRICS, {"Namespace": "CWAgent"}),
    ("ce", LIST_TAGS, {"MaxResults": 1}),
)


def read_caller(clients: AwsClients, system_now: datetime) -> Caller:
    """Ask AWS whose credentials these are, and what time it is there."""
    answer = ask(clients.client("sts"), CALLER, {})
    return Caller(
        account=answer["Account"],
        arn=answer["Arn"],
        skew_s=clock_skew_s(answer, system_now),
    )


def try_permissions(clients: AwsClients, account: str, region: str) -> list[Trial]:
    """Try what is read in every account and region."""
    return [
        _try(
            clients, service, call, params, place=Place(account=account, region=region)
        )
        for service, call, params in _TRIALS
    ]


def try_payer_permissions(clients: AwsClients) -> list[Trial]:
    """Try what is read with the caller's own credentials alone."""
    place = Place(region=prices.PRICING_REGION)
    return [
        _try(clients, service, call, params, place=place)
        for service, call, params in _PAYER_TRIALS
    ]


def _try(
    clients: AwsClients,
    service: str,
    call: Call,
    params: Mapping[str, Any],
    *,
    place: Place,
) -> Trial:
    is_allowed: bool | None = True
    message = ""
    try:
        client = clients.client(service, account=place.account, region=place.region)
        ask(client, call, params, place=place)
    except SourceUnavailableError as error:
        is_allowed = False if error.cause in DENIED else None
        message = str(error)
    return Trial(
        permission=call.permission,
        account=place.account,
        region=place.region,
        is_allowed=is_allowed,
        message=message,
    )
