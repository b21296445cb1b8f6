"""Listings of object storage, page by page, keys exactly as S3 holds them.

boto3 asks for URL-encoded keys and decodes them once; nothing here decodes again. A
folder marker is an object like any other: its key ends in ``/`` and its size is 0.
Must not know what a checkpoint is. A LIST costs $0.005 per 1,000 requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from billing.aws.calls import Call, Place, pages, whole
from billing.aws.session import AwsClients
from billing.core.periods import utc
from billing.ports import IncompleteAnswerError, StoredObject

SOURCE = "objects"
PAGE_SIZE = 1_000
#: A thousand times a thousand keys under one prefix.
PAGES_MAX = 1_000

LIST_OBJECTS = Call(
    source=SOURCE,
    method="list_objects_v2",
    permission="s3:ListBucket",
    required=("IsTruncated",),
    page_in="ContinuationToken",
    page_out="NextContinuationToken",
)
PERMISSIONS = (LIST_OBJECTS.permission,)


class S3ObjectSource:
    """Lists the current objects of buckets that one account can read."""

    def __init__(self, clients: AwsClients, *, account: str = "") -> None:
        self._clients = clients
        self._place = Place(account=account)

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        """Yield pages of current objects whose key starts with exactly ``prefix``."""
        client = self._clients.client("s3", account=self._place.account)
        asked = {"Bucket": bucket, "Prefix": prefix, "MaxKeys": PAGE_SIZE}
        listed = pages(
            client, LIST_OBJECTS, asked, place=self._place, pages_max=PAGES_MAX
        )
        for answer in listed:
            if answer["IsTruncated"] and not answer.get("NextContinuationToken"):
                message = f"listing of {bucket!r} stopped in the middle: not used"
                raise IncompleteAnswerError(SOURCE, message)
            with whole(LIST_OBJECTS, self._place):
                page = [_object(bucket, raw) for raw in answer.get("Contents", ())]
            yield [one for one in page if one.key.startswith(prefix)]


def _object(bucket: str, raw: Mapping[str, Any]) -> StoredObject:
    return StoredObject(
        bucket=bucket,
        key=raw["Key"],
        size_bytes=int(raw["Size"]),
        modified_at=utc(raw["LastModified"]),
        storage_class=raw.get("StorageClass", "STANDARD"),
    )
