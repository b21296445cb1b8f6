"""Explanations and untagged answers for tests of the views."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from billing.core.charges import Metric, Source
from billing.core.money import Money, Rate, total
from billing.ports import Freshness
from bot.views.explain_values import (
    ChargeLine,
    Explanation,
    Line,
    RunningNow,
    RunningTime,
    TransferLine,
)
from bot.views.untagged_values import (
    Confirmed,
    Reason,
    Suggestion,
    UntaggedAnswer,
    UntaggedItem,
    UntaggedResource,
)

NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
MONTH = datetime(2026, 11, 1, tzinfo=UTC)
ACCOUNT = "012345678901"
SOURCES = (
    Freshness(
        source=Source.COST_EXPLORER, account=ACCOUNT, as_of=NOW - timedelta(hours=2)
    ),
)


def make_charge_line(amount: str = "4623.36", **values: Any) -> ChargeLine:
    made = ChargeLine(
        amount=Money.of(amount),
        key="job-123",
        usage_type="BoxUsage:p5.48xlarge",
        account=ACCOUNT,
        region="us-east-1",
        service="",
        record_type="Usage",
        purchase="standard",
        category="compute",
        source="cost-explorer",
        since=date(2026, 11, 25),
        until=date(2026, 11, 27),
        days=2,
        charges=2,
        quantity=Decimal(84),
        unit="Hrs",
        unit_price=Decimal("55.040000"),
        billed=Money.of(amount),
        effective=Money.of(amount),
        list_cost=None,
    )
    return replace(made, **values)


def make_transfer_line(amount: str = "120", **values: Any) -> TransferLine:
    made = TransferLine(
        amount=Money.of(amount),
        other="bucket:untagged",
        rule="placement",
        basis="allocated",
        evidence="slurm 1234: 4 of 8 GPUs",
        usage_type="BoxUsage:p5.48xlarge",
        account=ACCOUNT,
        region="us-east-1",
        category="compute",
        since=date(2026, 11, 26),
        until=date(2026, 11, 27),
        days=1,
    )
    return replace(made, **values)


def make_running_line(amount: str = "2064", **values: Any) -> RunningTime:
    made = RunningTime(
        amount=Money.of(amount),
        what="p5.48xlarge",
        count=3,
        running=timedelta(hours=37, minutes=30),
        formula="3 x p5.48xlarge x 12.5 h x $55.04/h",
        account=ACCOUNT,
        region="us-east-1",
        purchase="on-demand",
        category="compute",
        rate=Rate.of("55.04"),
        list_rate=None,
        price_source="price list",
        price_as_of=datetime(2026, 9, 10, tzinfo=UTC),
        prices=1,
        since=date(2026, 11, 30),
        until=date(2026, 12, 1),
        days=1,
        resources=("i-0aaa", "i-0bbb", "i-0ccc"),
        shape="p5.48xlarge",
        job="job-123",
    )
    return replace(made, **values)


def make_running_now(amount: str = "110.08", **values: Any) -> RunningNow:
    made = RunningNow(
        amount=Money.of(amount),
        formula="2 x p5.48xlarge x $55.04/h",
        what="p5.48xlarge",
        count=2,
        region="us-east-1",
        purchase="on-demand",
        rate=Rate.of("55.04"),
        price_source="price list",
        price_as_of=datetime(2026, 9, 10, tzinfo=UTC),
    )
    return replace(made, **values)


def make_explanation(*lines: Line, **values: Any) -> Explanation:
    whole = total(line.amount for line in lines)
    open_ = total(line.amount for line in lines if isinstance(line, RunningTime))
    made = Explanation(
        figure="job-123",
        title="job-123",
        currency="USD",
        metric=Metric.EFFECTIVE,
        since=MONTH,
        until=NOW,
        as_of=NOW,
        total=whole,
        billed=whole - open_,
        provisional=open_,
        lines=lines,
        difference=Money.zero(),
        billed_through={ACCOUNT: datetime(2026, 11, 30, tzinfo=UTC)},
        sources=SOURCES,
        notes=("amounts are exact to a billionth",),
    )
    return replace(made, **values)


def make_suggestion(job: str = "job-123", score: int = 85) -> Suggestion:
    return Suggestion(
        job=job,
        score=score,
        reasons=(
            Reason(text="named 'trainer' like its instances", points=30),
            Reason(text="same owner 'mia'", points=25),
            Reason(text="the only job that ran p5.48xlarge then", points=30),
        ),
    )


def make_item(
    what: str = "p5.48xlarge", amount: str = "80", **values: Any
) -> UntaggedItem:
    made = UntaggedItem(
        item=f"{ACCOUNT}/us-east-1/{what}",
        account=ACCOUNT,
        region="us-east-1",
        what=what,
        pattern=f"*Usage:{what}",
        total=Money.of(amount),
        billed=Money.of(amount),
        provisional=Money.zero(),
        since=date(2026, 11, 26),
        until=date(2026, 11, 28),
        resources=(
            UntaggedResource(
                resource_id="i-0abc",
                hours=12.5,
                started_at=MONTH,
                suggestion=make_suggestion(),
            ),
        ),
        suggestion=make_suggestion(),
    )
    return replace(made, **values)


def make_untagged(*items: UntaggedItem, **values: Any) -> UntaggedAnswer:
    made = UntaggedAnswer(
        currency="USD",
        since=MONTH,
        until=NOW,
        as_of=NOW,
        total=total(item.total for item in items),
        share_of=Money.of("1000"),
        items=items,
        sources=SOURCES,
    )
    return replace(made, **values)


def make_confirmed(number: int = 1, **values: Any) -> Confirmed:
    made = Confirmed(
        number=number,
        item=f"{ACCOUNT}/us-east-1/p5.48xlarge",
        job="job-123",
        since=datetime(2026, 11, 26, tzinfo=UTC),
        until=datetime(2026, 11, 28, tzinfo=UTC),
        by="mia@example.com",
        at=NOW,
    )
    return replace(made, **values)
