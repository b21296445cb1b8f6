"""Events about the fleet, reserved capacity and what is really paid, as a protocol.

Names roles only: no SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from billing.core.fleet_events import FleetEvent, TagEvent
from billing.core.money import Money
from billing.core.paid_shares import PaidShare
from billing.core.resources import Reservation


class ResourceLedger(Protocol):
    """What is known of the fleet beside what runs."""

    def apply_events(self, events: Sequence[FleetEvent]) -> frozenset[str]:
        """Learn from events in any order; return instances that no poll has described."""

    def apply_tag_events(self, events: Sequence[TagEvent]) -> None:
        """Move the tags of known resources to when AWS says they changed."""

    def reservations(self) -> Sequence[Reservation]:
        """Return every reservation ever seen, by id."""

    def fee_sources(self) -> Mapping[str, str]:
        """Return who says what each reservation cost; unknown fees are absent."""

    def set_fee(self, reservation_id: str, fee: Money, source: str) -> None:
        """Record what a reservation cost at purchase, and who says so."""

    def paid_shares(self) -> Sequence[PaidShare]:
        """Return what accounts really pay for families, by account and family."""

    def set_paid_shares(self, account: str, shares: Sequence[PaidShare]) -> None:
        """Replace what is known of an account."""
