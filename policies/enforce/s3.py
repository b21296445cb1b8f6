"""Look at a checkpoint as S3 holds it now, tag its versions, delete them: no more calls.

A checkpoint is every version of every object under one folder. Nothing is moved and no
lifecycle rule is touched. Made with the enforce role alone. Must not know why something
goes; whoever calls has checked, and the last look is repeated here before deleting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from billing.aws.calls import Call, Place, ask
from billing.aws.objects import tags_of, versions_of
from billing.aws.session import AwsClients, clock_skew_s
from billing.ports import SourceUnavailableError, StoredObject
from policies.core.actions import Live
from policies.core.finding import Target
from policies.core.holding import QUARANTINE, digest
from policies.core.object_actions import (
    DELETE_VERB,
    GONE,
    PRESENT,
    QUARANTINE_VERB,
    QUARANTINED,
)

SOURCE = "enforce"
#: Versions that one delete request takes.
DELETED_AT_ONCE = 1_000
#: Tags that S3 lets an object have.
TAGS_MAX = 10
VALUE = "true"

LIST = Call(
    source=SOURCE,
    method="list_object_versions",
    permission="s3:ListBucketVersions",
    required=("IsTruncated",),
)
GET_TAGS = Call(
    source=SOURCE,
    method="get_object_tagging",
    permission="s3:GetObjectVersionTagging",
    required=("TagSet",),
)
LOCK = Call(
    source=SOURCE,
    method="get_object_lock_configuration",
    permission="s3:GetBucketObjectLockConfiguration",
    required=("ObjectLockConfiguration",),
)
PUT_TAGS = Call(
    source=SOURCE,
    method="put_object_tagging",
    permission="s3:PutObjectVersionTagging",
)
DELETE = Call(
    source=SOURCE,
    method="delete_objects",
    permission="s3:DeleteObjectVersion",
)
#: Everything the enforce role must allow for checkpoints, sorted.
OBJECT_PERMISSIONS: tuple[str, ...] = tuple(
    sorted(one.permission for one in (LIST, GET_TAGS, LOCK, PUT_TAGS, DELETE))
)
_NO_LOCK = "ObjectLockConfigurationNotFoundError"


class S3Enforcer:
    """Acts on checkpoints through the enforce role.

    Args:
        clients: Clients that assume the enforce role in every account.
        clock: The system clock, to be held against AWS's.
    """

    def __init__(self, clients: AwsClients, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._clock = clock

    def look(self, target: Target) -> Live:
        """Return a checkpoint as S3 tells it now; state "" when nothing is there.

        Raises:
            SourceUnavailableError: S3 could not be asked: nothing is known.
        """
        client, (bucket, prefix) = self._client(target), _place_of(target)
        asked_at = self._clock()
        is_locked, skew = self._lock(client, bucket, asked_at)
        parts = _parts(client, bucket, prefix)
        if not parts:
            return Live(state=GONE, is_protected=is_locked, skew=skew)
        tags = [_tags(client, part) for part in parts]
        is_tagged = all(QUARANTINE in one for one in tags)
        return Live(
            state=QUARANTINED if is_tagged else PRESENT,
            tags=tuple(sorted({pair for one in tags for pair in one.items()})),
            started_at=max(part.modified_at for part in parts),
            is_protected=is_locked,
            skew=skew,
            version=digest(parts),
        )

    def act(self, verb: str, target: Target) -> None:
        """Tag every version of a checkpoint, or delete exactly those that were tagged.

        Raises:
            SourceUnavailableError: S3 refused, or it changed since it was looked at.
        """
        client, (bucket, prefix) = self._client(target), _place_of(target)
        parts = _parts(client, bucket, prefix)
        if digest(parts) != target.version:
            raise SourceUnavailableError(
                SOURCE, "it was changed since it was looked at"
            )
        if verb == QUARANTINE_VERB:
            for part in parts:
                _tag(client, part)
        elif verb == DELETE_VERB:
            if not all(QUARANTINE in _tags(client, part) for part in parts):
                raise SourceUnavailableError(SOURCE, "it is not quarantined any more")
            _delete(client, bucket, parts)
        else:
            raise SourceUnavailableError(SOURCE, f"cannot {verb!r} a checkpoint")

    def _client(self, target: Target) -> Any:
        account = target.account or self._clients.caller_account()
        return self._clients.client("s3", account=account)

    @staticmethod
    def _lock(
        client: Any, bucket: str, asked_at: datetime
    ) -> tuple[bool, timedelta | None]:
        """Return whether a bucket locks objects, and how far S3's clock is from ours."""
        try:
            answer = ask(client, LOCK, {"Bucket": bucket})
        except SourceUnavailableError as error:
            if error.cause != _NO_LOCK:
                raise
            cause = error.__cause__
            answer = getattr(cause, "response", {})
        lock = answer.get("ObjectLockConfiguration", {})
        skew = clock_skew_s(answer, asked_at)
        is_locked = lock.get("ObjectLockEnabled") == "Enabled"
        return is_locked, None if skew is None else timedelta(seconds=skew)


def _place_of(target: Target) -> tuple[str, str]:
    bucket, _, prefix = target.resource_id.removeprefix("s3://").partition("/")
    if not bucket or not prefix.endswith("/"):
        message = f"expected the folder of a checkpoint, got {target.resource_id!r}"
        raise SourceUnavailableError(SOURCE, message)
    return bucket, prefix


def _parts(client: Any, bucket: str, prefix: str) -> list[StoredObject]:
    return [
        one
        for page in versions_of(client, LIST, bucket, prefix, Place())
        for one in page
    ]


def _version(part: StoredObject) -> dict[str, str]:
    return {"Bucket": part.bucket, "Key": part.key, "VersionId": part.version_id}


def _tags(client: Any, part: StoredObject) -> Mapping[str, str]:
    return tags_of(ask(client, GET_TAGS, _version(part)))


def _tag(client: Any, part: StoredObject) -> None:
    """Add the tag; the others are put back, since S3 replaces all of them."""
    tags = dict(_tags(client, part))
    if QUARANTINE in tags:
        return
    if len(tags) >= TAGS_MAX:
        message = f"{part.key!r} has {TAGS_MAX} tags, and S3 allows no more"
        raise SourceUnavailableError(SOURCE, message)
    wanted = [{"Key": key, "Value": text} for key, text in tags.items()]
    wanted.append({"Key": QUARANTINE, "Value": VALUE})
    ask(client, PUT_TAGS, {**_version(part), "Tagging": {"TagSet": wanted}})


def _delete(client: Any, bucket: str, parts: Sequence[StoredObject]) -> None:
    """Delete these versions, the old ones first so that none comes to light again."""
    ordered = iter(sorted(parts, key=lambda part: part.is_current))
    for some in _chunks(ordered):
        listed = [{"Key": one.key, "VersionId": one.version_id} for one in some]
        answer = ask(
            client,
            DELETE,
            {"Bucket": bucket, "Delete": {"Objects": listed, "Quiet": True}},
        )
        errors = answer.get("Errors", ())
        if errors:
            first = errors[0]
            message = (
                f"{len(errors)} of {len(parts)} versions were not deleted: "
                f"{first.get('Code', '')} for {first.get('Key', '')!r}"
            )
            raise SourceUnavailableError(SOURCE, message)


def _chunks(parts: Iterator[StoredObject]) -> Iterator[list[StoredObject]]:
    while some := list(islice(parts, DELETED_AT_ONCE)):
        yield some
