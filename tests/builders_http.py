"""One company's HTTP side, served on loopback, and clients of it."""

from __future__ import annotations

import http.client
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bot.api import ApiHandlers, ApiServer, V1Handlers, build_api
from bot.clock import system_now
from bot.settings import load_settings
from bot.use_cases.tokens import Scope, create_token
from bot.wiring.application import Application
from bot.wiring.parts import rules_clock
from bot.wiring.people import remember
from bot.wiring.v1 import V1
from tests.builders_cli import CONFIG, POLICIES
from tests.builders_use_cases import Company

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    import pytest

    from bot.unit_of_work import SqlStore

WAIT_S = 30
RUN = {"job": "llm-1", "instance_type": "p5.48xlarge", "count": 8, "hours": 72}
SMALL = {"job": "llm-1", "instance_type": "p5.48xlarge", "count": 1, "hours": 2}


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """Return the code of an error, whose document is the contract's."""
        assert self.json["schema"] == 1
        error = self.json["error"]
        assert sorted(error) == ["code", "hint", "message", "suggestions"]
        code: str = error["code"]
        return code

    @property
    def message(self) -> str:
        message: str = self.json["error"]["message"]
        return message


@dataclass
class Site:
    """An application whose `/v1` is served; closes with its test."""

    application: Application
    company: Company
    port: int = 0
    changes: dict[str, Any] = field(default_factory=dict)

    def token(
        self, *scopes: Scope, email: str = "mia@example.com", **values: Any
    ) -> str:
        """Make a token for somebody; without scopes: one that may do everything."""
        now: datetime = values.pop("now", system_now())
        store = self.application.store
        person = remember(store, email=email)
        _, text = create_token(
            store,
            person_id=person,
            scopes=scopes or tuple(Scope),
            expires_at=values.pop("expires_at", now + timedelta(days=1)),
            by=person,
            now=now,
        )
        return text

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        **headers: str,
    ) -> Reply:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        raw = json.dumps(body) if isinstance(body, dict | list) else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, answer.read().decode(), told)
        finally:
            connection.close()

    def post(self, path: str, body: Any, *, token: str | None = None) -> Reply:
        return self.ask("POST", path, body, token=token)

    def get(self, path: str, *, token: str | None = None) -> Reply:
        return self.ask("GET", path, token=token)


def make_site(
    store: SqlStore, folder: Path, monkeypatch: pytest.MonkeyPatch, *, extra: str = ""
) -> Site:
    """Configure a folder over a store; `extra` is YAML of the configuration."""
    from bot.wiring.people import os_user

    config = folder / "gpucost.yaml"
    config.write_text(CONFIG.format(folder=folder, user=os_user()) + extra)
    (folder / "policies.yaml").write_text(POLICIES)
    monkeypatch.setenv("GPUCOST_POLICIES", str(folder / "policies.yaml"))
    monkeypatch.setenv("GPUCOST_NOW", "2026-11-30T09:00:00Z")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    settings = load_settings(str(config))
    application = Application(settings=settings, store=store, now=rules_clock(settings))
    return Site(application, Company(store))


@contextmanager
def served(
    site: Site, change: Callable[[V1Handlers], V1Handlers] = lambda found: found
) -> Iterator[Site]:
    """Serve a site on a port of the system's choice."""
    v1 = V1(site.application, policies=lambda: site.application.load_policies(None))
    handlers = ApiHandlers(
        ready=lambda: (True, {}), metrics=lambda: b"", v1=change(v1.handlers())
    )
    server = ApiServer(build_api(handlers), host="127.0.0.1", port=0)
    server.start()
    try:
        assert server.port is not None
        site.port = server.port
        yield site
    finally:
        server.stop()
