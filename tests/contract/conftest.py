"""One AWS double for the folder; each test starts it from a world of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.sandbox.aws import AwsSandbox
from tests.contract.aws import Aws


@pytest.fixture(scope="package")
def running() -> Iterator[AwsSandbox]:
    with AwsSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def aws(running: AwsSandbox, monkeypatch: pytest.MonkeyPatch) -> Aws:
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    return Aws(running)
