"""One sandbox for the whole folder: each test resets it to a world of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from deploy.sandbox.aws import AwsSandbox, World

NOW = "2026-04-14T06:00:00Z"

Serve = Callable[[World], AwsSandbox]


@pytest.fixture(scope="package")
def running_sandbox() -> Iterator[AwsSandbox]:
    with AwsSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def serve(running_sandbox: AwsSandbox) -> Serve:
    def reset(world: World) -> AwsSandbox:
        running_sandbox.reset(world)
        running_sandbox.clock.set(world.now or NOW)
        return running_sandbox

    return reset


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
