"""A small company in a store, and questions to it, for tests of the use cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from billing.core.attribution import TagKeys
from bot.use_cases.cost import ask_cost
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from tests.builders import (
    ACCOUNT,
    NOW,
    REGION,
    at,
    day,
    make_charge,
    make_instance,
    make_observation,
    make_price,
)
from tests.builders_store import import_charges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from billing.core.charges import Charge
    from billing.core.fleet import Instance, Volume
    from billing.core.prices import Price
    from bot.unit_of_work import SqlStore
    from bot.use_cases.pricing import OwnPrice
    from bot.views.answers import CostAnswer, CostGroup

OTHER_ACCOUNT = "111111111111"
BOTH = ((ACCOUNT, REGION), (OTHER_ACCOUNT, REGION))
#: An instance type nobody has a price for.
UNPRICED = "p9.96xlarge"


@dataclass
class Company:
    """What one company's ledger holds, filled step by step.

    Attributes:
        now: The instant of questions and polls.
    """

    store: SqlStore
    now: datetime = NOW
    own: Sequence[OwnPrice] = ()
    keys: TagKeys = field(default_factory=TagKeys)

    def bills(
        self,
        *charges: Charge,
        account: str = ACCOUNT,
        through: str = "",
        days: Sequence[str] = (),
        mark: str = "",
    ) -> None:
        """Import charges of one account; `through` is its billed-through."""
        import_charges(
            self.store,
            charges,
            account=account,
            days=[day(one) for one in days],
            now=self.now,
            mark=mark,
        )
        if through:
            self.is_billed_through(through, account=account)

    def is_billed_through(self, through: str, *, account: str = ACCOUNT) -> None:
        with self.store.write() as unit:
            unit.ledger.set_billed_through(account, at(through), self.now)

    def is_watched(
        self,
        *instances: Instance,
        at_: str | datetime | None = None,
        volumes: Sequence[Volume] = (),
        scanned: Sequence[tuple[str, str]] = ((ACCOUNT, REGION),),
        failed: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Let the inventory see instances, now or at an instant."""
        seen = make_observation(
            *instances,
            observed=at_ or self.now,
            volumes=volumes,
            scanned=scanned,
            failed=failed,
        )
        with self.store.write() as unit:
            unit.ledger.apply_observation(seen)

    def is_priced(self, *prices: Price) -> None:
        with self.store.write() as unit:
            unit.ledger.record_prices(prices, self.now)

    def ask(self, job: str = "", **question: Any) -> CostAnswer:
        """Ask about cost; `since` and `until` are texts."""
        for name in ("since", "until"):
            if name in question:
                question[name] = day(question[name])
        with self.store.read() as unit:
            return ask_cost(
                unit.ledger,
                CostQuestion(job=job, **question),
                prices=price_book(unit.ledger, self.own),
                keys=self.keys,
                stale=(),
                now=self.now,
            )


def tagged(job: str = "job-123", **tags: str) -> dict[str, str]:
    """Return the tags of a resource of a job; "" for none."""
    return ({"job-id": job} if job else {}) | tags


def runs(
    resource_id: str = "i-1",
    *,
    job: str = "job-123",
    since: str | datetime = "2026-11-30T00:00Z",
    **values: Any,
) -> Instance:
    """Make a running instance of a job."""
    tags = values.pop("tags", {})
    return make_instance(
        resource_id=resource_id, launched=since, tags=tagged(job, **tags), **values
    )


def costs(on: str, billed: str, job: str = "job-123", **values: Any) -> Charge:
    """Make a charge of a job on a day."""
    return make_charge(on=on, billed=billed, job=job, **values)


def rate(text: str = "10", **values: Any) -> Price:
    """Make the price of one hour of a p5.48xlarge."""
    return make_price(text, **values)


def figures(answer: CostAnswer) -> tuple[str, str, str]:
    """Return total, billed and provisional as texts."""
    return answer.total.text(), answer.billed.text(), answer.provisional.text()


def totals(groups: Iterable[CostGroup]) -> dict[str, str]:
    """Return the total of each group as text."""
    return {group.key: group.total.text() for group in groups}
