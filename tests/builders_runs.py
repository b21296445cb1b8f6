"""A run in a store: its bill, its hours of use, what it reports, and questions to it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from billing.core.charges import CostCategory
from billing.core.leaks import Leak
from billing.core.progress import Counter, ProgressReport
from billing.ports.progress import HourOfUse
from bot.use_cases.compare import ask_compare
from bot.use_cases.leaks import ask_leaks
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from tests.builders import at, day
from tests.builders_use_cases import Company, costs, rate, runs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore
    from bot.views.efficiency import CompareAnswer
    from bot.views.leaks import LeakAnswer

SINCE = "2026-11-27"


def used(company: Company, *hours: tuple[str, str, float]) -> None:
    with company.store.write() as unit:
        unit.ledger.record_use(
            [
                HourOfUse(resource_id=name, hour=at(when), gpu_pct=pct, covered_s=3600)
                for name, when, pct in hours
            ]
        )


def busy(
    company: Company, pct: float = 90, names: tuple[str, ...] = ("i-1", "i-2")
) -> None:
    begin = at("2026-11-28T00:00Z")
    with company.store.write() as unit:
        unit.ledger.record_use(
            [
                HourOfUse(
                    resource_id=name, hour=begin + number * timedelta(hours=1),
                    gpu_pct=pct, covered_s=3600,
                )
                for name in names
                for number in range(57)
            ]
        )  # fmt: skip


def reports(
    company: Company,
    *values: tuple[str, int],
    job: str = "job-123",
    counter: Counter = Counter.STEPS,
) -> None:
    with company.store.write() as unit:
        unit.ledger.record_progress(
            job,
            [
                ProgressReport(counter=counter, at=at(when), value=value)
                for when, value in values
            ],
            by="",
            now=company.now,
        )


def leaks_asked(company: Company, job: str = "job-123", **question: Any) -> LeakAnswer:
    asked = CostQuestion(job=job, since=day(question.pop("since", SINCE)), **question)
    with company.store.read() as unit:
        return ask_leaks(
            unit.ledger, asked, prices=price_book(unit.ledger, ()), keys=company.keys,
            stale=(), now=company.now,
        )  # fmt: skip


def compared(company: Company, *jobs: str) -> CompareAnswer:
    first, second = jobs
    with company.store.read() as unit:
        return ask_compare(
            unit.ledger, (first, second), CostQuestion(),
            prices=price_book(unit.ledger, ()), keys=company.keys, now=company.now,
        )  # fmt: skip


def groups_of(answer: LeakAnswer) -> dict[str, str]:
    return {group.key: group.total.text() for group in answer.cost.groups}


def leak_amount(answer: LeakAnswer, leak: Leak) -> Any:
    (found,) = [one.amount for one in answer.leaks if one.leak is leak]
    return found


def make_run(store: SqlStore) -> Company:
    """A run of two instances: two billed days, and a morning that is not billed yet."""
    made = Company(store)
    made.is_priced(rate("10"))
    instances = [runs(name, since="2026-11-28T00:00Z") for name in ("i-1", "i-2")]
    made.is_watched(at_="2026-11-27T00:00Z")
    made.is_watched(*instances, at_="2026-11-28T00:00Z")
    made.is_watched(*instances)
    made.bills(
        costs("2026-11-28", "480"),
        costs("2026-11-29", "480"),
        costs("2026-11-29", "24", usage_type="NatGateway-Bytes",
              cost_category=CostCategory.NETWORK),
        costs("2026-11-29", "6", usage_type="EBS:VolumeUsage.gp3",
              cost_category=CostCategory.STORAGE),
        through="2026-11-30",
    )  # fmt: skip
    return made
