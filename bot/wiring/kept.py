"""Answers of dear sources, kept for as long as they are good enough for policies.

Policies are judged every few minutes; coverage changes daily and each question about it
costs money. A failure is never kept. Safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from threading import Lock
from typing import Generic, TypeVar

from billing.ports import (
    CommitmentFacts,
    CommitmentPlans,
    CommitmentSource,
    ObjectDetails,
    ObjectSource,
    OwnedPlan,
    StoredObject,
    UnfinishedUpload,
)
from bot.clock import Now

Key = TypeVar("Key")
Answer = TypeVar("Answer")

#: Listings of checkpoints are this old at most when they are judged.
OBJECTS_FOR = timedelta(hours=6)


class Kept(Generic[Key, Answer]):
    """Answers by question, each asked again when it is older than ``good_for``."""

    def __init__(self, good_for: timedelta, now: Now) -> None:
        self._good_for = good_for
        self._now = now
        self._answers: dict[Key, tuple[datetime, Answer]] = {}
        self._lock = Lock()

    def get(self, key: Key, ask: Callable[[], Answer]) -> Answer:
        """Return the kept answer, or ask; one question at a time."""
        with self._lock:
            now = self._now()
            asked_at, answer = self._answers.get(key, (None, None))
            if asked_at is None or answer is None or not self._is_good(asked_at, now):
                answer = ask()
                self._answers[key] = (now, answer)
            return answer

    def _is_good(self, asked_at: datetime, now: datetime) -> bool:
        return timedelta() <= now - asked_at < self._good_for


class KeptCommitments:
    """The ``CommitmentSource`` port, asked once per period for the same families."""

    def __init__(self, source: CommitmentSource, good_for: timedelta, now: Now) -> None:
        self._source = source
        self._kept: Kept[tuple[str, ...], Sequence[CommitmentFacts]] = Kept(
            good_for, now
        )

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        """Return coverage per family, as it was at most ``good_for`` ago."""
        return self._kept.get(
            tuple(families), lambda: self._source.facts(families, since, until)
        )


class KeptPlans:
    """The ``CommitmentPlans`` port, asked once per period."""

    def __init__(self, source: CommitmentPlans, good_for: timedelta, now: Now) -> None:
        self._source = source
        self._kept: Kept[str, Sequence[OwnedPlan]] = Kept(good_for, now)

    def plans(self) -> Sequence[OwnedPlan]:
        """Return the plans that are owned, as it was at most ``good_for`` ago."""
        return self._kept.get("", self._source.plans)


class KeptObjects:
    """The ``ObjectSource`` port, listing each prefix once per period."""

    def __init__(self, source: ObjectSource, now: Now) -> None:
        self._source = source
        self._kept: Kept[tuple[str, str], tuple[Sequence[StoredObject], ...]] = Kept(
            OBJECTS_FOR, now
        )

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        """Yield pages of versions, as they were at most six hours ago."""
        pages = self._kept.get(
            (bucket, prefix), lambda: tuple(self._source.objects(bucket, prefix))
        )
        yield from pages


class KeptDetails:
    """The ``ObjectDetails`` port, asking each question once per period."""

    def __init__(self, source: ObjectDetails, now: Now) -> None:
        self._source = source
        self._tags: Kept[tuple[str, ...], Mapping[str, Mapping[str, str]]] = Kept(
            OBJECTS_FOR, now
        )
        self._uploads: Kept[tuple[str, str], Sequence[UnfinishedUpload]] = Kept(
            OBJECTS_FOR, now
        )
        self._regions: Kept[str, str] = Kept(OBJECTS_FOR, now)

    def tags(self, bucket: str, keys: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the tags of objects, as they were at most six hours ago."""
        return self._tags.get((bucket, *keys), lambda: self._source.tags(bucket, keys))

    def uploads(self, bucket: str, prefix: str) -> Sequence[UnfinishedUpload]:
        """Return unfinished uploads, as they were at most six hours ago."""
        return self._uploads.get(
            (bucket, prefix), lambda: self._source.uploads(bucket, prefix)
        )

    def region(self, bucket: str) -> str:
        """Return where a bucket is."""
        return self._regions.get(bucket, lambda: self._source.region(bucket))
