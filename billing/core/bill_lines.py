"""Lines of one account's day as attribution sees them, and the parts they split into.

Parts of a line sum to the line to the nano-unit. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from billing.core.claims import UNTAGGED_KEY
from billing.core.money import Money, split
from billing.core.transfers import Basis, Rule

#: Key and rule of a holder; key "" is nobody.
Share = tuple[str, Rule | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BillLine:
    """Usage of one account and day, summed by everything attribution tells apart.

    Attributes:
        job: The job of the bill's own tag; "" when untagged.
        resource_id: "" where the bill names none (all of Cost Explorer).
        quantity: In ``unit``; None when any summed charge has none.
        is_unheld: A sum over resources that nothing may hold: no running time that was
            seen stands behind it.
    """

    region: str
    service: str
    usage_type: str
    pricing: str
    cost_category: str
    job: str
    resource_id: str
    billed: Money
    effective: Money
    list_cost: Money | None
    quantity: Decimal | None
    unit: str
    is_unheld: bool = False

    @property
    def key(self) -> str:
        """Return the key that the bill itself books the line under."""
        return self.job or UNTAGGED_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a line, and whom it goes to; ``to_key`` may be the line's own key.

    Attributes:
        rule: None where the bill stands as it is.
        weight / of: The part's share of the line.
    """

    line: BillLine
    to_key: str
    billed: Money
    effective: Money
    list_cost: Money | None
    rule: Rule | None
    basis: Basis
    evidence: str
    weight: int
    of: int

    @property
    def is_moved(self) -> bool:
        """Tell whether the part goes to another key than the bill's."""
        return self.to_key != self.line.key

    def as_line(self) -> BillLine:
        """Return the part as a line of its own."""
        quantity = self.line.quantity
        return replace(
            self.line,
            billed=self.billed,
            effective=self.effective,
            list_cost=self.list_cost,
            quantity=None if quantity is None else quantity * self.weight / self.of,
        )


def whole_of(line: BillLine) -> Part:
    """Return a line as the one part that stays where the bill has it."""
    return Part(
        line=line,
        to_key=line.key,
        billed=line.billed,
        effective=line.effective,
        list_cost=line.list_cost,
        rule=None,
        basis=Basis.ALLOCATED,
        evidence="",
        weight=1,
        of=1,
    )


def parts_of(
    line: BillLine,
    weights: Mapping[Share, int],
    evidence: Mapping[Share, str],
    *,
    basis: Basis,
) -> list[Part]:
    """Split a line by positive weights; the key "" is the line's own."""
    sizes = [*weights.values()]
    whole = sum(sizes)
    billed, effective = _split(line.billed, sizes), _split(line.effective, sizes)
    listed: Sequence[Money | None] = [None] * len(sizes)
    if line.list_cost is not None:
        listed = _split(line.list_cost, sizes)
    return [
        Part(
            line=line,
            to_key=share[0] or line.key,
            billed=billed[place],
            effective=effective[place],
            list_cost=listed[place],
            rule=share[1],
            basis=basis,
            evidence=evidence.get(share, ""),
            weight=weight,
            of=whole,
        )
        for place, (share, weight) in enumerate(weights.items())
    ]


def _split(amount: Money, sizes: Sequence[int]) -> Sequence[Money]:
    if len(sizes) == 1:
        return (amount,)
    parts = split(amount, sizes)
    assert parts is not None, "weights are positive"
    return parts
