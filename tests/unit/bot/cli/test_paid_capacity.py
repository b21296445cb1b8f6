"""A run on capacity that is paid for already, asked for from the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from billing.core.resources import (
    OtherResources,
    ReservationKind,
    Service,
)
from tests.builders import ACCOUNT, NOW, REGION, make_observation
from tests.builders_watching import make_reservation

if TYPE_CHECKING:
    from tests.builders_cli import Office
    from tests.builders_use_cases import Company

ASK = (
    "approval", "request", "--job", "llm-1", "--instance-type", "p5.48xlarge",
    "--count", "2", "--hours", "100", "--purchase", "odcr",
    "--requester", "mia@example.com", "--reason", "a test", "--format", "json",
)  # fmt: skip


def _holds(company: Company, available: int) -> None:
    """Let the inventory see an open reservation of p5.48xlarge."""
    held = make_reservation(
        kind=ReservationKind.ON_DEMAND, available=available, ends_in=None, fee=None
    )
    others = OtherResources(
        reservations=(held,),
        scanned=((ACCOUNT, REGION, Service.RESERVATIONS),),
    )
    seen = replace(make_observation(observed=NOW), others=others)
    with company.store.write() as unit:
        unit.ledger.apply_observation(seen)


@pytest.mark.parametrize(
    ("count", "available", "state"),
    [
        ("full", 2, "pending"),
        ("marginal", 2, "approved"),
        ("marginal", 0, "pending"),
    ],
)
def test_a_policy_counts_what_a_run_adds_to_free_capacity(
    office: Office, company: Company, count: str, available: int, state: str
) -> None:
    policies = office.folder / "policies.yaml"
    text = policies.read_text()
    policies.write_text(
        text.replace("kind: approval", f"kind: approval\n    count: {count}")
    )
    _holds(company, available)

    found = office.run(*ASK).json

    assert found["state"] == state
    with company.store.read() as unit:
        stored = unit.journal.request(found["id"])
    # What an approver reads; a run that nobody must decide has none.
    told = " ".join(stored.context) if stored else ""
    assert ("On capacity paid for already" in told) is (count == "full")
