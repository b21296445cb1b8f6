"""What is gathered under checkpoint locations, and what stays unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from billing.ports import SourceUnavailableError, StoredObject, UnfinishedUpload
from bot.use_cases.checkpoint_facts import checkpoint_facts
from policies.core.facts import CheckpointFacts
from tests.builders_policies import CHECKPOINTS, NOW, policy, saved_steps
from tests.fakes.sources import InMemoryObjectSource


@dataclass
class Details:
    """Says where the bucket is and remembers whose tags were asked for."""

    asked: list[str] = field(default_factory=list)
    fails: bool = False

    def tags(self, bucket: str, keys: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        del bucket
        if self.fails:
            raise SourceUnavailableError("objects", "s3:GetObjectTagging: denied")
        self.asked += keys
        return {key: {} for key in keys}

    def uploads(self, bucket: str, prefix: str) -> Sequence[UnfinishedUpload]:
        del bucket, prefix
        return []

    def region(self, bucket: str) -> str:
        del bucket
        return "us-east-1"


def gathered(
    details: Details, *keeps: str, objects: Sequence[StoredObject] = ()
) -> tuple[CheckpointFacts, int]:
    rules = [
        policy(
            f"name: p{number}\nkind: checkpoint-retention\n"
            f'location: "{CHECKPOINTS}"\nkeep: {keep}'
        )
        for number, keep in enumerate(keeps)
    ]
    source = InMemoryObjectSource(list(objects) or saved_steps(1, 2, 3))
    facts, failures = checkpoint_facts(rules, source, details, now=NOW)
    (one,) = facts
    return one, len(failures)


def test_tags_are_read_of_what_would_go_only() -> None:
    details = Details()

    gathered(details, "{last: 2}")

    assert details.asked == ["job-1/checkpoints/step-1/model.pt"]


def test_a_metric_needs_the_tags_of_everything() -> None:
    details = Details()

    gathered(details, "{last: 2, best: {metric: eval_loss}}")

    assert len(details.asked) == 3


def test_two_policies_of_one_location_list_it_once() -> None:
    facts, _ = gathered(Details(), "{last: 1}", "{last: 2}")

    assert len(facts.objects) == 3


def test_tags_that_cannot_be_read_are_a_failure_and_no_permission() -> None:
    facts, failed = gathered(Details(fails=True), "{last: 1}")

    assert failed == 1
    assert facts.tags == {}


def test_prices_are_those_of_the_bucket_s_region() -> None:
    facts, _ = gathered(Details(), "{last: 1}")

    assert facts.prices["STANDARD"].text() == "0.023"
