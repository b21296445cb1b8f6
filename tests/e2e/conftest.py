"""The doubles, and an installation of its own for each module.

The tests of a module share processes that take seconds to start, so a module should
stay on one worker (``--dist loadfile``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.slack import PostLimit, SlackSandbox, example_workspace
from tests.e2e.support import CANARIES, Place, environment, free_port
from tests.e2e.world import NOW

Opens = Callable[..., AbstractContextManager[Place]]


@pytest.fixture(scope="module")
def aws() -> Iterator[AwsSandbox]:
    sandbox = AwsSandbox.shared()
    sandbox.reset(World(now=NOW))
    yield sandbox
    sandbox.reset(World())


@pytest.fixture(scope="module")
def slack() -> Iterator[SlackSandbox]:
    workspace = example_workspace()
    workspace.app.bot_token = CANARIES["SLACK_BOT_TOKEN"]
    workspace.app.app_token = CANARIES["SLACK_APP_TOKEN"]
    workspace.app.signing_secret = CANARIES["SLACK_SIGNING_SECRET"]
    with SlackSandbox(workspace, post_limit=PostLimit(per_s=None)) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a folder that every worker of a run shares."""
    base = tmp_path_factory.getbasetemp()
    is_worker = base.name.startswith("popen-")
    return (base.parent if is_worker else base) / "bytecode"


@contextmanager
def laid_out(place: Place, config: dict[str, Any], policies: str) -> Iterator[Place]:
    """Lay out an installation; nothing it printed may hold a secret or a traceback."""
    place.set_clock(NOW)
    document = {
        "data_dir": str(place.root / "data"),
        "slack": {"alerts": "#gpu-costs", "approvals": "#gpu-approvals"},
        "http": {"port": place.port},
        "approvals": {"cli": "trusted"},
    } | config
    place.config.write_text(json.dumps(document), encoding="utf-8")  # JSON is YAML
    place.environment |= {
        "GPUCOST_CONFIG": str(place.config),
        "GPUCOST_NOW": f"file:{place.clock}",
    }
    if policies:
        place.policies.write_text(policies, encoding="utf-8")
        place.environment["GPUCOST_POLICIES"] = str(place.policies)
    yield place
    assert place.leaks() == []


@pytest.fixture(scope="module")
def opens(
    tmp_path_factory: pytest.TempPathFactory, aws: AwsSandbox, bytecode: Path
) -> Opens:
    def opens(
        slack: SlackSandbox | None = None, /, *, policies: str = "", **config: Any
    ) -> AbstractContextManager[Place]:
        root = tmp_path_factory.mktemp("place")
        place = Place(root, environment(aws, slack, bytecode), free_port())
        aws.clock.set(f"file:{place.clock}")
        return laid_out(place, config, policies)

    return opens
