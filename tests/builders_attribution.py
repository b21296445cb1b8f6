"""Values of attribution for tests: each builder takes only what the test is about."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from billing.core.assignments import Assignment, MappingRule
from billing.core.bill_lines import BillLine
from billing.core.claims import AttributionRules, Claims
from billing.core.day_transfers import Day, transfers_of
from billing.core.money import Money
from billing.core.placements import Placement, PlacementSource
from tests.builders import ACCOUNT, REGION, at, day, usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from billing.core.transfers import Transfer
    from billing.core.usage import TagSpan, UsageInterval

ON = "2026-11-10"


def make_placement(
    job: str = "job-a",
    *,
    on: str = "i-1",
    start: str = f"{ON}T00:00",
    end: str | None = f"{ON}T12:00",
    gpus: str | None = "8",
    source: PlacementSource = PlacementSource.SLURM,
    external_id: str = "1",
    attempt: int = 0,
) -> Placement:
    return Placement(
        job=job,
        resource_id=on,
        started_at=at(start),
        ended_at=None if end is None else at(end),
        gpus=None if gpus is None else Decimal(gpus),
        source=source,
        external_id=external_id,
        attempt=attempt,
    )


def make_assignment(
    job: str = "job-x",
    *,
    resource_id: str = "",
    usage_type: str = "",
    region: str = "",
    since: str = "2026-01-01",
    until: str | None = None,
    on: str = "2026-11-20",
    number: int | None = 1,
    account: str = ACCOUNT,
) -> Assignment:
    return Assignment(
        job=job,
        account=account,
        resource_id=resource_id,
        usage_type=usage_type,
        region=region,
        since=at(since),
        until=None if until is None else at(until),
        by="person-1",
        at=at(on),
        reason="it is ours",
        assignment_id=number,
    )


def make_line(
    job: str = "",
    *,
    amount: str = "240",
    effective: str | None = None,
    list_cost: str | None = None,
    hours: str | None = "24",
    usage_type: str = "BoxUsage:p5.48xlarge",
    resource_id: str = "",
    region: str = REGION,
    service: str = "",
    pricing: str = "standard",
    cost_category: str = "compute",
) -> BillLine:
    return BillLine(
        region=region,
        service=service,
        usage_type=usage_type,
        pricing=pricing,
        cost_category=cost_category,
        job=job,
        resource_id=resource_id,
        billed=usd(amount),
        effective=usd(effective or amount),
        list_cost=None if list_cost is None else usd(list_cost),
        quantity=None if hours is None else Decimal(hours),
        unit="Hrs",
    )


def make_rule(to_key: str, **where: str) -> MappingRule:
    return MappingRule(to_key=to_key, name="1", **where)


def make_claims(
    *,
    placements: Iterable[Placement] = (),
    tags: Iterable[TagSpan] = (),
    assignments: Iterable[Assignment] = (),
    rules: AttributionRules | None = None,
    managed: Iterable[str] = (),
) -> Claims:
    placed: dict[str, list[Placement]] = {}
    for one in placements:
        placed.setdefault(one.resource_id, []).append(one)
    spans: dict[str, list[TagSpan]] = {}
    for span in tags:
        spans.setdefault(span.resource_id, []).append(span)
    return Claims(
        rules=rules or AttributionRules(),
        tags=spans,
        placements=placed,
        managed=frozenset({*placed, *managed}),
        assignments=tuple(assignments),
    )


def attribute(
    lines: Sequence[BillLine],
    intervals: Sequence[UsageInterval] = (),
    claims: Claims | None = None,
    *,
    on: str = ON,
    uses: Mapping[tuple[str, str], Mapping[str, int]] | None = None,
) -> list[Transfer]:
    return transfers_of(
        Day(
            account=ACCOUNT,
            day=day(on),
            lines=lines,
            intervals=intervals,
            claims=claims or Claims(),
            uses=uses or {},
        )
    )


def totals(lines: Sequence[BillLine], transfers: Sequence[Transfer]) -> dict[str, str]:
    """Return what each key costs after transfers, in text; nothing left is left out."""
    sums: dict[str, int] = {}
    for line in lines:
        sums[line.key] = sums.get(line.key, 0) + line.effective.nanos
    for one in transfers:
        sums[one.from_key] = sums.get(one.from_key, 0) - one.effective.nanos
        sums[one.to_key] = sums.get(one.to_key, 0) + one.effective.nanos
    return {key: Money(nanos).text() for key, nanos in sorted(sums.items()) if nanos}
