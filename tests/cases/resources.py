"""What tests of resources beside instances share."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from billing.core.money import Money
from deploy.sandbox.aws.price_services import machine_product
from deploy.sandbox.aws.world_services import (
    TrainingJobSeed,
)
from tests.builders import at

if TYPE_CHECKING:
    from bot.views.answers import CostAnswer
    from tests.cases.place import Place

# NOW is 2026-04-14T06:00Z.
TAGS = {"job-id": "job-1"}
TODAY = at("2026-04-14T00:00Z")
P4, P5, G5 = "ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.g5.xlarge"
PRODUCTS = [
    machine_product(P4, "Training", "40.00"),
    machine_product(P5, "Cluster", "100.00"),
    machine_product(G5, "Hosting", "2.00"),
    machine_product(G5, "Notebook", "3.00"),
]


def categories(answer: CostAnswer) -> dict[str, Money | None]:
    return {group.key: group.provisional for group in answer.by_category}


def look(place: Place, *instants: datetime, source: str = "all") -> None:
    for instant in instants:
        place.at(instant)
        place.ingest(source)


def job(**fields: Any) -> TrainingJobSeed:
    values: dict[str, Any] = {
        "name": "bert", "created_at": TODAY, "started_at": TODAY, "tags": TAGS
    }  # fmt: skip
    return TrainingJobSeed(**(values | fields))
