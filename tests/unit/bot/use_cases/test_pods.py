"""Pods in the ledger: what is seen, and what is gone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from billing.core.placements import PlacementSource
from bot.use_cases.pods import record_pods
from tests.builders import NOW, period
from tests.builders_attribution import make_placement

if TYPE_CHECKING:
    from billing.core.placements import Placement
    from tests.builders_use_cases import Company

SINCE = NOW - timedelta(hours=6)


def pod(uid: str, *, end: str | None = None) -> Placement:
    return make_placement(
        f"job-{uid}", start="2026-11-29T00:00", end=end, external_id=uid,
        source=PlacementSource.KUBERNETES,
    )  # fmt: skip


def seen(company: Company, *pods: Placement) -> None:
    record_pods(company.store, pods, unplaced=(), since=SINCE, now=NOW)


def ends(company: Company) -> dict[str, bool]:
    with company.store.read() as unit:
        found = unit.ledger.placements(period("2026-11-01", "2026-12-01"))
    assert all(one.ended_at in {None, SINCE} for one in found)
    return {one.external_id: one.ended_at is not None for one in found}


def test_a_pod_that_is_not_seen_any_more_ended_before(company: Company) -> None:
    seen(company, pod("a"), pod("b"))

    seen(company, pod("b"))

    assert ends(company) == {"a": True, "b": False}


def test_an_answer_without_any_pod_ends_none(company: Company) -> None:
    seen(company, pod("a"))

    seen(company)

    assert ends(company) == {"a": False}


def test_other_sources_placements_are_left_alone(company: Company) -> None:
    slurm = make_placement("job-s", start="2026-11-29T00:00", end=None, external_id="9")
    with company.store.write() as unit:
        unit.ledger.record_placements([slurm], NOW)

    seen(company, pod("b"))

    assert ends(company) == {"9": False, "b": False}


def test_pods_without_an_instance_are_told(company: Company) -> None:
    outcome = record_pods(
        company.store,
        [],
        unplaced=["ml/a", "ml/b", "ml/c", "ml/d"],
        since=SINCE,
        now=NOW,
    )

    assert outcome.notes[1] == (
        "kubernetes: no instance is known for ml/a, ml/b, ml/c and 1 more"
    )
