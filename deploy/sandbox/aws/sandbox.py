"""The AWS double as one object: start it, change it, read what was asked of it.

It must not know the product.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

import boto3
from botocore.config import Config

from deploy.sandbox.aws import control
from deploy.sandbox.aws.clock import Clock
from deploy.sandbox.aws.dispatch import Dispatcher, Outcome
from deploy.sandbox.aws.faults import Faults
from deploy.sandbox.aws.recording import Requests
from deploy.sandbox.aws.seed import seed
from deploy.sandbox.aws.server import Server
from deploy.sandbox.aws.wire import Raw
from deploy.sandbox.aws.world import World

ACCESS_KEY = "AKIASANDBOXEXAMPLE00"
SECRET_KEY = "sandbox-secret"  # noqa: S105  # accepted by nothing but this double
DEFAULT_REGION = "us-east-1"
DEFAULT_ROLE = "gpucost-read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKey:
    """What makes two boto3 clients the same."""

    endpoint_url: str
    service: str
    region: str
    account: str | None
    config: str


class AwsSandbox:
    """A loopback AWS for a real boto3 application."""

    _running: ClassVar[AwsSandbox | None] = None
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self,
        world: World | None = None,
        *,
        clock: str | datetime | Callable[[], datetime] | None = None,
        port: int = 0,
    ) -> None:
        """Serve this world; `clock` wins over the world's own `now`."""
        first = world or World()
        self.clock = Clock(clock if clock is not None else first.now)
        self._fixed_clock = clock is not None
        self._dispatcher = Dispatcher(first, self.clock)
        self._port = port
        self._server: Server | None = None
        self._session = boto3.session.Session()
        self._clients: dict[ClientKey, Any] = {}

    @property
    def world(self) -> World:
        """Return the world that answers come from; its lists may be changed."""
        return self._dispatcher.world

    @world.setter
    def world(self, world: World) -> None:
        self.reset(world)

    @property
    def faults(self) -> Faults:
        """Return the faults that are switched on."""
        return self._dispatcher.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._dispatcher.faults = faults

    @property
    def requests(self) -> Requests:
        """Return what was asked so far."""
        return self._dispatcher.requests

    @requests.setter
    def requests(self, requests: Requests) -> None:
        self._dispatcher.requests = requests

    @property
    def endpoint_url(self) -> str:
        """Return the value for AWS_ENDPOINT_URL."""
        if self._server is None:
            message = "the sandbox is not running: call start() first"
            raise RuntimeError(message)
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> Self:
        """Listen on loopback and put the world into moto."""
        with self._guard:
            if AwsSandbox._running is not None:
                message = (
                    "another AWS sandbox runs in this process: stop() it first, "
                    "since moto keeps its data per process"
                )
                raise RuntimeError(message)
            AwsSandbox._running = self
        try:
            self._dispatcher.moto.start()
            seed(self.world)
            self._server = Server(self._port, self._answer)
            self._server.start()
        except BaseException:
            AwsSandbox._running = None
            raise
        return self

    @classmethod
    def shared(cls) -> AwsSandbox:
        """Return the sandbox that runs in this process, or start one until its end."""
        running = AwsSandbox._running
        if running is not None:
            return running
        started = cls().start()
        atexit.register(started.stop)
        return started

    def stop(self) -> None:
        """Stop listening and empty moto's tables; a second call does nothing."""
        if self._server is None:
            return
        self._server.stop()
        self._server = None
        self._dispatcher.moto.stop()
        AwsSandbox._running = None

    def __enter__(self) -> Self:
        """Start on entry."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Stop on exit."""
        self.stop()

    def reset(self, world: World | None = None) -> None:
        """Start over from a world: no faults, no requests, no tokens."""
        with self._dispatcher.moto.locked():
            fresh = Dispatcher(world or World(), self.clock)
            fresh.moto = self._dispatcher.moto
            if not self._fixed_clock:
                self.clock.set(fresh.world.now)
            if self._server is not None:
                fresh.moto.clear()
                seed(fresh.world)
            self._clients = {
                key: client
                for key, client in self._clients.items()
                if key.account is None
            }
            self._dispatcher = fresh

    def serve_prebuilt(self, pages: list[bytes]) -> None:
        """Answer GetCostAndUsage with these bytes; a page's token is its number."""
        self._dispatcher.prebuilt = pages

    def environment(self) -> dict[str, str]:
        """Return the environment that points an application at this sandbox."""
        values = {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": DEFAULT_REGION,
            "AWS_REGION": DEFAULT_REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        if isinstance(self.clock.source, str):
            values["GPUCOST_NOW"] = self.clock.source
        return values

    def client(
        self,
        service: str,
        *,
        region: str = DEFAULT_REGION,
        account: str | None = None,
        **config: Any,
    ) -> Any:
        """Return a real boto3 client; `account` assumes a role there first.

        Clients are kept for the next time, since making one takes longer than a call.
        """
        key = ClientKey(
            endpoint_url=self.endpoint_url,
            service=service,
            region=region,
            account=account,
            config=repr(sorted(config.items())),
        )
        if key not in self._clients:
            self._clients[key] = self._make_client(key, config)
        return self._clients[key]

    def _make_client(self, key: ClientKey, config: dict[str, Any]) -> Any:
        keys = {
            "aws_access_key_id": ACCESS_KEY,
            "aws_secret_access_key": SECRET_KEY,
        }
        if key.account is not None:
            answer = self.client("sts").assume_role(
                RoleArn=f"arn:aws:iam::{key.account}:role/{DEFAULT_ROLE}",
                RoleSessionName="sandbox",
            )["Credentials"]
            keys = {
                "aws_access_key_id": answer["AccessKeyId"],
                "aws_secret_access_key": answer["SecretAccessKey"],
                "aws_session_token": answer["SessionToken"],
            }
        options = {"retries": {"total_max_attempts": 1, "mode": "standard"}} | config
        make_client: Any = self._session.client
        return make_client(
            key.service,
            region_name=key.region,
            endpoint_url=key.endpoint_url,
            config=Config(**options),
            **keys,
        )

    def _answer(self, raw: Raw) -> Outcome:
        path = raw.target.partition("?")[0]
        if path.startswith(control.PREFIX):
            return Outcome(reply=control.handle(self, raw.method, path, raw.body))
        return self._dispatcher.handle(raw)
