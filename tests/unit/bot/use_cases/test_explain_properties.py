"""Whatever a ledger holds: what explains a figure sums to the figure, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings

from billing.core.money import Money, total
from bot.use_cases.explain import Explainer
from bot.use_cases.pricing import price_book
from tests.unit.bot.use_cases.test_cost_properties import (
    ACCOUNTS,
    DAYS,
    FIRST,
    _company,
    worlds,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bot.views.explain_values import Explanation
    from tests.builders_use_cases import Company
    from tests.unit.bot.use_cases.test_cost_properties import World


def _explained(company: Company, figure: str) -> Explanation:
    with company.store.read() as unit:
        explainer = Explainer(
            ledger=unit.ledger,
            prices=price_book(unit.ledger, company.own),
            keys=company.keys,
            stale=(),
            now=company.now,
        )
        return explainer.explain(explainer.named(figure))


def _is_whole(explained: Explanation, figure: Money) -> None:
    assert explained.total == figure, explained.figure
    assert explained.difference == Money.zero(), explained.figure
    assert total(line.amount for line in explained.lines) == figure


@settings(max_examples=20)
@given(world=worlds)
def test_the_lines_of_every_figure_sum_to_it(
    sqlite_template: Path, world: World
) -> None:
    with _company(sqlite_template, world) as company:
        for figure, shown in _figures(company).items():
            explained = _explained(company, figure)

            _is_whole(explained, shown)


def _figures(company: Company) -> dict[str, Money]:
    """Return every figure that answers about cost show, by the name it has."""
    ask: Any = company.ask
    days = f"{FIRST}.."
    whole = ask(since=str(FIRST))
    found = {
        f"all@{days}": whole.total,
        f"all:billed@{days}": whole.billed,
        f"all:provisional@{days}": whole.provisional,
        f"all:credits@{days}": whole.credits,
    }
    for by, prefix in (("job", ""), ("account", "account:"), ("region", "region:")):
        for group in ask(since=str(FIRST), by=by).groups:
            name = group.key if group.key.startswith("bucket:") else prefix + group.key
            found |= {
                f"{name}@{days}": group.total,
                f"{name}:billed@{days}": group.billed,
                f"{name}:provisional@{days}": group.provisional,
            }
    for group in ask(since=str(FIRST), by="category").groups:
        found[f"all:{group.key}@{days}"] = group.total
    for job in ("job-a", "job-b"):
        if f"{job}@{days}" in found:
            answer = ask(job, since=str(FIRST))
            for group in answer.by_category:
                found[f"{job}:{group.key}@{days}"] = group.total
            for day, amount, _ in answer.by_day:
                found[f"{job}@{day}"] = amount
    return found


@settings(max_examples=10)
@given(world=worlds)
def test_the_days_of_an_account_are_explained_one_by_one(
    sqlite_template: Path, world: World
) -> None:
    with _company(sqlite_template, world) as company:
        for account in ACCOUNTS:
            days = [
                _explained(company, f"account:{account}@{FIRST.replace(day=number)}")
                for number in range(FIRST.day, FIRST.day + DAYS)
            ]
            whole = company.ask(account=account, since=str(FIRST))

            assert total(one.total or Money.zero() for one in days) == whole.total
            assert all(one.difference == Money.zero() for one in days)
