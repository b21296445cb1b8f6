"""The AWS double as contract tests use it: a world, a clock and the product's clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from botocore.session import Session

from billing.aws.cost_explorer import CostExplorerSource
from billing.aws.session import AwsClients
from billing.core.money import Money
from deploy.sandbox.aws import AwsSandbox, World

NOW = datetime(2026, 4, 14, 6, tzinfo=UTC)
PAYER = "123456789012"
MEMBER = "012345678901"
ROLE = "arn:aws:iam::{account}:role/gpucost-read"


@cache
def _loader() -> Any:
    return Session().get_component("data_loader")


def _core() -> Session:
    """Make a session that shares the models of services with the other tests."""
    core = Session()
    core.register_component("data_loader", _loader())
    return core


@dataclass(slots=True)
class Aws:
    """A sandbox, and what the product's clients were charged for."""

    sandbox: AwsSandbox
    charged: list[tuple[str, Money]] = field(default_factory=list)

    def serve(self, **fields: Any) -> AwsSandbox:
        """Start over from a world."""
        self.sandbox.reset(World(**fields))
        self.sandbox.clock.set(NOW)
        return self.sandbox

    def clients(self) -> AwsClients:
        """Make the product's clients, pointed at the sandbox by the environment."""
        return AwsClients(
            _core(),
            role=ROLE,
            on_billable=lambda what, cost: self.charged.append((what, cost)),
        )

    def bill(
        self,
        *,
        accounts: tuple[str, ...] | None = None,
        keys: tuple[str, ...] = ("job-id",),
    ) -> CostExplorerSource:
        """Make the source of the bill."""
        return CostExplorerSource(
            self.clients(), accounts=accounts, job_tag_keys=keys, clock=lambda: NOW
        )


def on(text: str) -> date:
    return date.fromisoformat(text)
