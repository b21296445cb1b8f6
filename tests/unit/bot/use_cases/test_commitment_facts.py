"""The baseline of a family, out of the inventory, beside what AWS says of it."""

from __future__ import annotations

from datetime import date

from billing.core.money import Money
from billing.ports import CommitmentFacts
from bot.use_cases.commitment_facts import with_baseline
from bot.use_cases.pricing import price_book
from tests.builders_use_cases import UNPRICED, Company, rate, runs


def told(covered: str, eligible: str) -> CommitmentFacts:
    return CommitmentFacts(
        family="p5", since=date(2026, 11, 28), until=date(2026, 11, 30),
        covered=Money.of(covered), eligible=Money.of(eligible), utilization_pct=None,
    )  # fmt: skip


def based(company: Company, facts: CommitmentFacts) -> CommitmentFacts:
    with company.store.read() as unit:
        (found,) = with_baseline(unit.ledger, [facts], price_book(unit.ledger, ()))
    return found


def watched(company: Company, since: str = "2026-11-27T00:00Z") -> None:
    """Two machines run all 48 hours, for $20 an hour; one of spot is no part of it."""
    company.is_priced(rate("10"))
    company.is_watched(at_=since)
    company.is_watched(*(runs(name, since="2026-11-27T12:00Z") for name in ("a", "b")))


def test_the_covered_share_is_of_what_nearly_every_hour_uses(company: Company) -> None:
    watched(company)

    found = based(company, told("480", "960"))

    assert found.baseline == Money.of("20")
    assert found.baseline_covered_pct == 50.0


def test_use_that_aws_does_not_see_so_leaves_the_baseline_unknown(
    company: Company,
) -> None:
    watched(company)

    assert based(company, told("480", "1200")).baseline is None


def test_hours_nobody_watched_leave_the_baseline_unknown(company: Company) -> None:
    watched(company, since="2026-11-28T06:00Z")

    assert based(company, told("480", "960")).baseline is None


def test_a_type_without_a_price_leaves_the_baseline_unknown(company: Company) -> None:
    family = UNPRICED.partition(".")[0]
    company.is_watched(at_="2026-11-27T00:00Z")
    company.is_watched(runs("a", instance_type=UNPRICED, since="2026-11-27T12:00Z"))

    facts = CommitmentFacts(
        family=family, since=date(2026, 11, 28), until=date(2026, 11, 30),
        covered=Money.of("1"), eligible=Money.of("2"), utilization_pct=None,
    )  # fmt: skip

    assert based(company, facts).baseline is None
