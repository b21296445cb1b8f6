"""Transfers: the overlay that moves parts of the bill to whom they belong.

Charges stay as the bill states them. A transfer takes part of one key (a job, or a
``bucket:*``) of one account and day and gives it to another, by a named rule and with
evidence; what one side gets the other loses, so sums never move. Pure; knows no store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from billing.core.money import Money


class Rule(StrEnum):
    """Why cost belongs to a key, in the order in which rules are asked."""

    PLACEMENT = "placement"
    TAG = "tag"
    IDLE = "idle"
    PARENT = "parent"
    ASSIGNMENT = "assignment"
    MAPPING = "mapping"
    SHARED = "shared"
    COMMITMENT = "commitment"


class Basis(StrEnum):
    """How well the moved amount is known."""

    #: The bill names the resource.
    EXACT = "exact"
    #: The bill names only a usage type: its amount was spread over running time.
    ALLOCATED = "allocated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Part of one key's cost on one account and day, moved to another key.

    Attributes:
        from_key / to_key: A job id or ``bucket:*``, as keys of the rollups are.
        resource_id: "" when several resources stand behind it, or none is known.
        list_cost: None where the bill does not tell list cost.
        evidence: One short line for a person: who said so, what it was split by.
    """

    account: str
    day: date
    region: str
    service: str
    usage_type: str
    pricing: str
    cost_category: str
    resource_id: str
    from_key: str
    to_key: str
    billed: Money
    effective: Money
    list_cost: Money | None
    rule: Rule
    basis: Basis
    evidence: str
