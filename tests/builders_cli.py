"""One company's folder and the command line run over it, in this process."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.testing import CliRunner

from bot.cli import app
from bot.unit_of_work import SqlStore, StoreSettings
from bot.wiring.people import os_user
from tests.builders_store import AUDIT_KEY
from tests.builders_use_cases import Company

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

CONFIG = """
data_dir: {folder}
approvals: {{cli: trusted, identities: {{{user}: mia@example.com}}}}
prices: {{overrides: [{{instance_type: p5.48xlarge, per_hour: "$98.32"}}]}}
"""
POLICIES = """
policies:
  - name: approve-large-runs
    kind: approval
    over: $10,000
    approvers: [ada@example.com, omar@example.com]
  - name: no-old-runs
    kind: ttl
    mode: notify
    default: 4h
"""


@dataclass(frozen=True)
class Ran:
    """What one command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the document, whose version is the contract's."""
        document = json.loads(self.out)
        assert document["schema"] == 1
        return document


@dataclass
class Office:
    """A configured folder; commands run as in a shell there."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        return self.folder / "gpucost.yaml"

    def run(self, *command: str) -> Ran:
        result = CliRunner().invoke(
            app, command, env=self.environment, catch_exceptions=False
        )
        return Ran(result.exit_code, result.stdout, result.stderr)

    def json(self, *command: str) -> Any:
        ran = self.run(*command, "--format", "json")
        return ran.json


def open_office(
    folder: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Office, Company]]:
    """Make a folder with an empty database, and who fills it."""
    shutil.copy(template, folder / "gpucost.db")
    office = Office(folder)
    office.config.write_text(CONFIG.format(folder=folder, user=os_user()))
    (folder / "policies.yaml").write_text(POLICIES)
    monkeypatch.setenv("GPUCOST_CONFIG", str(office.config))
    monkeypatch.setenv("GPUCOST_POLICIES", str(folder / "policies.yaml"))
    monkeypatch.setenv("GPUCOST_NOW", "2026-11-30T09:00:00Z")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    store = SqlStore.open(
        f"sqlite:///{folder / 'gpucost.db'}", StoreSettings(audit_key=AUDIT_KEY)
    )
    yield office, Company(store)
    store.close()
