"""The calls that are made to Cost Explorer, and how their pages are followed.

Must not know what is asked or what the answers mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from billing.aws.calls import PAGES_MAX, Call, Place, pages
from billing.aws.ce_answers import missing_day
from billing.aws.ce_queries import Params
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.ports import IncompleteAnswerError

SOURCE = Source.COST_EXPLORER.value
#: Cost Explorer answers from one region, for all of them.
REGION = "us-east-1"

COST_AND_USAGE = Call(
    source=SOURCE,
    method="get_cost_and_usage",
    permission="ce:GetCostAndUsage",
    required=("ResultsByTime",),
    page_in="NextPageToken",
    page_out="NextPageToken",
)
LIST_TAGS = Call(
    source=SOURCE,
    method="list_cost_allocation_tags",
    permission="ce:ListCostAllocationTags",
    required=("CostAllocationTags",),
    page_in="NextToken",
    page_out="NextToken",
)
PERMISSIONS = (COST_AND_USAGE.permission, LIST_TAGS.permission)


def cost_pages(
    clients: AwsClients, asked: Params, *, account: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the pages of one question about cost."""
    client = clients.client("ce", region=REGION)
    place = Place(account=account)
    yield from pages(client, COST_AND_USAGE, asked, place=place, pages_max=PAGES_MAX)


def require_days(seen: set[date], since: date, until: date, *, account: str) -> None:
    """Refuse an answer that left out a day of ``[since, until)``."""
    missing = missing_day(seen, since, until)
    if missing is not None:
        message = f"Cost Explorer answered without {missing}: nothing of it is used"
        raise IncompleteAnswerError(SOURCE, message, account=account)
