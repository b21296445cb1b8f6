"""What readers of services beside EC2's instances share: a scope, and tags by ARN.

Must not know what any service sells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.aws.calls import Call, Place, pages, whole
from billing.core.charges import Source
from billing.core.resources import Reservation, Resource

SOURCE = Source.RESOURCES.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One account and region as a service is read there.

    Attributes:
        client: The service's client there.
        job_tag_keys: Tag keys that name jobs.
        now: When the poll began.
    """

    client: Any
    account: str
    region: str
    job_tag_keys: Sequence[str]
    now: datetime

    @property
    def place(self) -> Place:
        """Return the scope as calls name it."""
        return Place(account=self.account, region=self.region)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one service holds in one scope."""

    resources: tuple[Resource, ...] = ()
    reservations: tuple[Reservation, ...] = ()


Reader = Callable[[Scope], Found]


def listing(method: str, permission: str, required: str) -> Call:
    """Return a paged call that always answers with one list."""
    return Call(
        source=SOURCE,
        method=method,
        permission=permission,
        required=(required,),
        page_in="NextToken",
        page_out="NextToken",
    )


def single(method: str, permission: str, *required: str) -> Call:
    """Return a call that answers about one thing."""
    return Call(source=SOURCE, method=method, permission=permission, required=required)


SAGEMAKER_TAGS = listing("list_tags", "sagemaker:ListTags", "Tags")
TAGS_PAGE = 50


def every(
    scope: Scope, call: Call, asked: Mapping[str, Any]
) -> Iterable[Mapping[str, Any]]:
    """Yield every entry of a listing, page after page."""
    for page in pages(scope.client, call, asked, place=scope.place):
        with whole(call, scope.place):
            entries = list(page[call.required[0]])
        yield from entries


def sagemaker_tags(scope: Scope, arn: str) -> dict[str, str]:
    """Return the tags of something of SageMaker."""
    asked = {"ResourceArn": arn, "MaxResults": TAGS_PAGE}
    return tag_map(every(scope, SAGEMAKER_TAGS, asked))


def tag_map(tags: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return tags as AWS lists them by key."""
    return {tag["Key"]: tag.get("Value", "") for tag in tags}
