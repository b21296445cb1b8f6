from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

import pytest

from billing.core.money import Money
from billing.ports import CommitmentFacts, SourceUnavailableError, StoredObject
from bot.wiring.kept import OBJECTS_FOR, KeptCommitments, KeptObjects
from tests.builders import at

DAY = timedelta(days=1)
SINCE, UNTIL = date(2026, 11, 1), date(2026, 11, 30)


class Watch:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = at("2026-11-30T09:00Z")

    def __call__(self) -> datetime:
        return self.now


class Commitments:
    """Counts questions; fails while told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        self.asked += 1
        if self.fails:
            raise SourceUnavailableError("commitments", "no")
        one = CommitmentFacts(
            family=families[0],
            since=since,
            until=until,
            covered=Money.of("1"),
            eligible=Money.of("2"),
            utilization_pct=None,
        )
        return [one]


class Objects:
    def __init__(self) -> None:
        self.asked = 0

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        self.asked += 1
        yield ()


def test_coverage_is_asked_once_a_period_however_often_policies_run() -> None:
    watch, source = Watch(), Commitments()
    kept = KeptCommitments(source, DAY, watch)

    for _ in range(288):
        kept.facts(["p5"], SINCE, UNTIL)
        watch.now += timedelta(minutes=5)
    kept.facts(["p5"], SINCE, UNTIL)

    assert source.asked == 2


def test_a_failure_is_not_kept() -> None:
    watch, source = Watch(), Commitments()
    kept = KeptCommitments(source, DAY, watch)
    source.fails = True
    with pytest.raises(SourceUnavailableError):
        kept.facts(["p5"], SINCE, UNTIL)
    source.fails = False

    found = kept.facts(["p5"], SINCE, UNTIL)

    assert [one.family for one in found] == ["p5"]


def test_other_families_are_another_question() -> None:
    watch, source = Watch(), Commitments()
    kept = KeptCommitments(source, DAY, watch)

    kept.facts(["p5"], SINCE, UNTIL)
    kept.facts(["p4d"], SINCE, UNTIL)

    assert source.asked == 2


def test_a_clock_set_back_asks_again() -> None:
    watch, source = Watch(), Commitments()
    kept = KeptCommitments(source, DAY, watch)
    kept.facts(["p5"], SINCE, UNTIL)

    watch.now -= timedelta(hours=1)
    kept.facts(["p5"], SINCE, UNTIL)

    assert source.asked == 2


def test_an_empty_listing_is_kept_too() -> None:
    watch, source = Watch(), Objects()
    kept = KeptObjects(source, watch)

    list(kept.objects("models", "a/"))
    watch.now += OBJECTS_FOR - timedelta(seconds=1)
    list(kept.objects("models", "a/"))

    assert source.asked == 1
