"""Findings of Cost Anomaly Detection, as plain data of a world."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalySeed:
    """One finding; its last day is None while it goes on."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: str
    since: date
    impact: float
    until: date | None = None
    service: str = "Amazon Elastic Compute Cloud - Compute"
    region: str = "us-east-1"
    account: str = "123456789012"
    usage_type: str = "BoxUsage:p5.48xlarge"
    expected: float = 0.0
    feedback: str = ""
