"""The AWS double, started over from a world of its own by each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from tests.contract.sources.aws import Aws


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    sandbox = AwsSandbox.shared()
    # A retry waits up to a second; what is under test is that it happens.
    monkeypatch.setattr(
        "botocore.retries.standard.ExponentialBackoff.delay_amount",
        lambda _self, _context: 0,
    )
    for name, value in sandbox.environment().items():
        monkeypatch.setenv(name, value)
    yield Aws(sandbox)
    sandbox.reset(World())
