"""Listings of object storage, page by page, keys exactly as S3 holds them.

Every version is listed, since every version is billed; where a bucket keeps none, each
object is its only one. boto3 asks for URL-encoded keys and decodes them once; nothing
here decodes again. A folder marker is an object like any other: its key ends in ``/``
and its size is 0. Must not know what a checkpoint is. A LIST costs $0.005 per 1,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from billing.aws.calls import Call, Place, ask, pages, whole
from billing.aws.session import AwsClients
from billing.core.periods import utc
from billing.ports import (
    IncompleteAnswerError,
    SourceUnavailableError,
    StoredObject,
    UnfinishedUpload,
)

SOURCE = "objects"
PAGE_SIZE = 1_000
#: A thousand times a thousand versions under one prefix.
PAGES_MAX = 1_000
#: Unfinished uploads whose parts are counted; each takes a request.
UPLOADS_MAX = 100

LIST_VERSIONS = Call(
    source=SOURCE,
    method="list_object_versions",
    permission="s3:ListBucketVersions",
    required=("IsTruncated",),
)
LIST_UPLOADS = Call(
    source=SOURCE,
    method="list_multipart_uploads",
    permission="s3:ListBucketMultipartUploads",
)
LIST_PARTS = Call(
    source=SOURCE,
    method="list_parts",
    permission="s3:ListMultipartUploadParts",
    page_in="PartNumberMarker",
    page_out="NextPartNumberMarker",
)
GET_TAGS = Call(
    source=SOURCE,
    method="get_object_tagging",
    permission="s3:GetObjectTagging",
    required=("TagSet",),
)
HEAD_BUCKET = Call(source=SOURCE, method="head_bucket", permission="s3:ListBucket")
PERMISSIONS = (
    LIST_VERSIONS.permission,
    LIST_UPLOADS.permission,
    LIST_PARTS.permission,
    GET_TAGS.permission,
    HEAD_BUCKET.permission,
)
_GONE = frozenset({"NoSuchKey", "NoSuchUpload", "MethodNotAllowed", "404"})


class S3ObjectSource:
    """Lists what buckets hold that one account can read."""

    def __init__(self, clients: AwsClients, *, account: str = "") -> None:
        self._clients = clients
        self._place = Place(account=account)

    @property
    def _client(self) -> Any:
        return self._clients.client("s3", account=self._place.account)

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        """Yield pages of every version whose key starts with exactly ``prefix``."""
        yield from versions_of(self._client, LIST_VERSIONS, bucket, prefix, self._place)

    def tags(self, bucket: str, keys: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the tags of current objects by key; one that is gone is left out."""
        client, found = self._client, {}
        for key in keys:
            asked = {"Bucket": bucket, "Key": key}
            try:
                answer = ask(client, GET_TAGS, asked, place=self._place)
            except SourceUnavailableError as error:
                if error.cause in _GONE:
                    continue
                raise
            with whole(GET_TAGS, self._place):
                found[key] = tags_of(answer)
        return found

    def uploads(self, bucket: str, prefix: str) -> Sequence[UnfinishedUpload]:
        """Return uploads that were never completed, with the size of their parts."""
        asked: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix}
        found: list[UnfinishedUpload] = []
        for _ in range(PAGES_MAX):
            answer = ask(self._client, LIST_UPLOADS, asked, place=self._place)
            for raw in answer.get("Uploads", ()):
                is_counted = len(found) < UPLOADS_MAX
                size = self._parts(bucket, raw) if is_counted else None
                with whole(LIST_UPLOADS, self._place):
                    found.append(_upload(raw, size))
            if not answer.get("IsTruncated"):
                return [one for one in found if one.key.startswith(prefix)]
            asked["KeyMarker"] = answer.get("NextKeyMarker", "")
            asked["UploadIdMarker"] = answer.get("NextUploadIdMarker", "")
        message = f"listing of uploads in {bucket!r} did not end: not used"
        raise IncompleteAnswerError(SOURCE, message)

    def _parts(self, bucket: str, raw: Mapping[str, Any]) -> int | None:
        asked = {"Bucket": bucket, "Key": raw["Key"], "UploadId": raw["UploadId"]}
        size = 0
        try:
            for answer in pages(self._client, LIST_PARTS, asked, place=self._place):
                size += sum(int(part["Size"]) for part in answer.get("Parts", ()))
                if not answer.get("IsTruncated"):
                    break
        except SourceUnavailableError as error:
            if error.cause in _GONE:
                return None
            raise
        return size

    def region(self, bucket: str) -> str:
        """Return where a bucket is."""
        answer = ask(self._client, HEAD_BUCKET, {"Bucket": bucket}, place=self._place)
        headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        return str(answer.get("BucketRegion") or headers.get("x-amz-bucket-region", ""))


def versions_of(
    client: Any, call: Call, bucket: str, prefix: str, place: Place
) -> Iterator[Sequence[StoredObject]]:
    """Yield pages of every version under an exact prefix, or fail as a whole."""
    asked = {"Bucket": bucket, "Prefix": prefix, "MaxKeys": PAGE_SIZE}
    seen: set[tuple[str, str]] = set()
    for _ in range(PAGES_MAX + 1):
        answer = ask(client, call, asked, place=place)
        with whole(call, place):
            # Delete markers hold nothing; an answer without either list has none.
            page = [_object(bucket, raw) for raw in answer.get("Versions", ())]
        yield [one for one in page if one.key.startswith(prefix)]
        if not answer["IsTruncated"]:
            return
        markers = (
            str(answer.get("NextKeyMarker", "")),
            str(answer.get("NextVersionIdMarker", "")),
        )
        if not markers[0] or markers in seen:
            message = f"listing of {bucket!r} stopped in the middle: not used"
            raise IncompleteAnswerError(SOURCE, message)
        seen.add(markers)
        asked["KeyMarker"] = markers[0]
        if markers[1]:
            asked["VersionIdMarker"] = markers[1]
        else:
            asked.pop("VersionIdMarker", None)
    message = f"listing of {bucket!r} did not end: not used"
    raise IncompleteAnswerError(SOURCE, message)


def tags_of(answer: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the tags that an answer holds."""
    return {str(tag["Key"]): str(tag["Value"]) for tag in answer["TagSet"]}


def _object(bucket: str, raw: Mapping[str, Any]) -> StoredObject:
    return StoredObject(
        bucket=bucket,
        key=raw["Key"],
        size_bytes=int(raw["Size"]),
        modified_at=utc(raw["LastModified"]),
        storage_class=raw.get("StorageClass", "STANDARD"),
        version_id=str(raw["VersionId"]),
        is_current=bool(raw["IsLatest"]),
    )


def _upload(raw: Mapping[str, Any], size: int | None) -> UnfinishedUpload:
    return UnfinishedUpload(
        key=raw["Key"],
        upload_id=raw["UploadId"],
        started_at=utc(raw["Initiated"]),
        size_bytes=size,
    )
