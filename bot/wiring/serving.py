"""`gpucost serve`: everything in one process, stopped cleanly by SIGTERM."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from threading import Event
from types import FrameType
from uuid import uuid4

import structlog

from bot.api import ApiHandlers, ApiServer, build_api
from bot.clock import system_now
from bot.schedule import Beat
from bot.settings import Settings
from bot.slack.http import check_request
from bot.unit_of_work import acquire_serve_lock
from bot.wiring.application import Application, open_application
from bot.wiring.health import metrics_text, readiness
from bot.wiring.logs import configure_logs
from bot.wiring.memory import settle
from bot.wiring.slack_side import SlackSide
from bot.wiring.tasks import Children, PolicySet, Work, tasks
from bot.wiring.v1 import V1

log = structlog.get_logger()


def serve(config_path: str) -> None:
    """Run until SIGTERM or SIGINT.

    Raises:
        ServeLockedError: Another `serve` runs on the same SQLite file.
        InvalidSettingsError: Something needed is not set.
        SlackRefusedError: Slack refuses a token.
    """
    configure_logs()
    with (
        open_application(config_path, upgrades=True) as application,
        ExitStack() as stack,
    ):
        stack.enter_context(acquire_serve_lock(application.store.database))
        stop = _stop_on_signals()
        _start(application, config_path, stop, stack)
        settle()
        log.info("serving", slack=_mode(application.settings))
        stop.wait()
        log.info("stopping")
    log.info("stopped")


def _mode(settings: Settings) -> str:
    if settings.has_slack:
        return settings.config.slack.mode
    return "off: SLACK_BOT_TOKEN is not set"


def _stop_on_signals() -> Event:
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _start(
    application: Application, config_path: str, stop: Event, stack: ExitStack
) -> None:
    """Start every part; the stack stops them in reverse order."""
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    policies = PolicySet(lambda: application.load_policies(None))
    side = (
        SlackSide(application, owner, stop) if application.settings.has_slack else None
    )
    if side is not None:
        side.start()
        stack.callback(side.close)
    http = application.settings.config.http
    server = ApiServer(
        build_api(_api_handlers(application, side, policies)),
        host=http.host,
        port=http.port,
    )
    server.start()
    stack.callback(server.stop)
    work = Work(application, lambda: side.directory if side else None, policies)
    _listen(application, work, stop, stack)
    children = Children(config_path, stop)
    beat = Beat(
        tasks(application, work, children), application.store, application.now, owner
    )
    beat.start()
    stack.callback(beat.stop)
    stack.callback(stop.set)


def _listen(
    application: Application, work: Work, stop: Event, stack: ExitStack
) -> None:
    """Hear events of AWS, where a queue of them is configured."""
    if not application.settings.config.aws.events.queue_url:
        return
    from bot.wiring.events import EventIntake, event_queue  # noqa: PLC0415 - loads boto3

    intake = EventIntake(
        application, event_queue(application), route=work.routing, stop=stop
    )
    intake.start()
    stack.callback(intake.close)


def _api_handlers(
    application: Application, side: SlackSide | None, policies: PolicySet
) -> ApiHandlers:
    settings = application.settings
    is_http = side is not None and settings.config.slack.mode == "http"
    secret = settings.environment.slack_signing_secret.get_secret_value()

    def check(headers: Mapping[str, str], body: bytes) -> tuple[int, str] | None:
        found = check_request(headers, body, secret=secret, now=system_now())
        return None if found is None else (found.status, found.reason)

    return ApiHandlers(
        ready=lambda: readiness(application, policies.problem),
        metrics=lambda: metrics_text(application),
        check_slack=check if is_http else None,
        dispatch_slack=side.dispatch if side is not None and is_http else None,
        v1=V1(
            application,
            policies=policies.current,
            slack=lambda: side.directory if side is not None else None,
        ).handlers(),
    )
