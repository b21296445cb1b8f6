"""Savings Plans on offer, as plain data of a world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPlanSeed:
    """What plans of one kind and term take for hours of instance types."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    #: instance type -> dollars an hour
    rates: Mapping[str, str]
    type: str = "Compute"
    years: int = 1
    payment_option: str = "No Upfront"
    region: str = "us-east-1"
    operating_system: str = "Linux/UNIX"
    tenancy: str = "shared"
    usage: str = "BoxUsage"
