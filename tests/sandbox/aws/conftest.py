"""One sandbox for the whole run: each test resets it to a world of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from deploy.sandbox.aws import AwsSandbox, World

NOW = "2026-04-14T06:00:00Z"

Serve = Callable[[World], AwsSandbox]


@pytest.fixture
def serve() -> Iterator[Serve]:
    sandbox = AwsSandbox.shared()

    def reset(world: World) -> AwsSandbox:
        sandbox.reset(world)
        sandbox.clock.set(world.now or NOW)
        return sandbox

    yield reset
    sandbox.reset(World())
