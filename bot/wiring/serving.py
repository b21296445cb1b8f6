"""`gpucost serve`: everything in one process, stopped cleanly by SIGTERM."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from types import FrameType
from uuid import uuid4

import structlog
from slack_bolt import App

from bot.api import ApiHandlers, ApiServer, build_api
from bot.clock import system_now
from bot.outbox import OutboxSender
from bot.ports import Directory, OutboxRow, SlackFailedError
from bot.schedule import Beat
from bot.settings import InvalidSettingsError, Settings
from bot.slack.app import build_app
from bot.slack.client import connect
from bot.slack.dispatch import dispatch_checked
from bot.slack.http import check_request
from bot.slack.notifier import SlackNotifier
from bot.slack.socket_mode import run_socket_mode
from bot.slack.work import WorkPool
from bot.unit_of_work import acquire_serve_lock
from bot.wiring.application import Application, open_application
from bot.wiring.health import metrics_text, readiness
from bot.wiring.logs import configure_logs
from bot.wiring.people import slack_client, slack_directory
from bot.wiring.slack_answers import SlackAnswers
from bot.wiring.tasks import Children, PolicySet, Work, tasks

log = structlog.get_logger()

SENDER_STOP_S = 10.0


@dataclass(frozen=True)
class SlackSide:
    """Everything that speaks to Slack."""

    app: App
    directory: Directory
    notifier: SlackNotifier
    work: WorkPool


def serve(config_path: str) -> None:
    """Run until SIGTERM or SIGINT.

    Raises:
        ServeLockedError: Another `serve` runs on the same SQLite file.
        InvalidSettingsError: Something needed is not set.
    """
    configure_logs()
    with (
        open_application(config_path, upgrades=True) as application,
        ExitStack() as stack,
    ):
        stack.enter_context(acquire_serve_lock(application.store.database))
        stop = _stop_on_signals()
        side = _slack_side(application) if application.settings.has_slack else None
        _start(application, side, config_path, stop, stack)
        log.info("serving", slack=_mode(application.settings, side))
        stop.wait()
        log.info("stopping")
    log.info("stopped")


def _mode(settings: Settings, side: SlackSide | None) -> str:
    return settings.config.slack.mode if side else "off: SLACK_BOT_TOKEN is not set"


def _stop_on_signals() -> Event:
    stop = Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _start(
    application: Application,
    side: SlackSide | None,
    config_path: str,
    stop: Event,
    stack: ExitStack,
) -> None:
    """Start every part; the stack stops them in reverse order."""
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    policies = PolicySet(lambda: application.load_policies(None))
    work = Work(application, side.directory if side else None, policies)
    children = Children(config_path, stop)
    if side is not None:
        stack.enter_context(_sending(application, side, owner))
        stack.enter_context(_receiving(application.settings, side, stop))
    http = application.settings.config.http
    server = ApiServer(
        build_api(_api_handlers(application, side, policies)),
        host=http.host,
        port=http.port,
    )
    server.start()
    stack.callback(server.stop)
    beat = Beat(
        tasks(application, work, children), application.store, application.now, owner
    )
    beat.start()
    stack.callback(beat.stop)
    stack.callback(stop.set)


def _slack_side(application: Application) -> SlackSide:
    settings = application.settings
    _require_tokens(settings)
    client = slack_client(settings)
    home = connect(client)
    directory = slack_directory(client, home, application.store)
    work = WorkPool()
    secret = settings.environment.slack_signing_secret.get_secret_value()
    app = build_app(
        client=client,
        home=home,
        handlers=SlackAnswers(application, directory).handlers(),
        work=work,
        signing_secret=secret if settings.config.slack.mode == "http" else "",
    )
    return SlackSide(
        app=app, directory=directory, notifier=SlackNotifier(client), work=work
    )


def _require_tokens(settings: Settings) -> None:
    environment = settings.environment
    if settings.config.slack.mode == "socket":
        if not environment.slack_app_token.get_secret_value():
            message = (
                "SLACK_APP_TOKEN is not set: Socket Mode needs an app-level token "
                "(xapp-...) with connections:write; or set slack.mode: http"
            )
            raise InvalidSettingsError((message,))
    elif not environment.slack_signing_secret.get_secret_value():
        message = "SLACK_SIGNING_SECRET is not set: slack.mode: http needs it"
        raise InvalidSettingsError((message,))


@contextmanager
def _sending(application: Application, side: SlackSide, owner: str) -> Iterator[None]:
    """Make stored effects from a thread; leaving waits for the one in hand."""
    stop = Event()
    sender = OutboxSender(
        application.store,
        side.notifier,
        worker=owner,
        on_failed=_on_failed,
        alone=application.store.database.is_sqlite,
    )
    # Effects are timed by the system clock: a set clock may stand still.
    thread = sender.start(stop, system_now)
    try:
        yield
    finally:
        stop.set()
        thread.join(SENDER_STOP_S)


def _on_failed(row: OutboxRow, why: str) -> None:
    log.error(
        "slack_effect_failed", key=row.message.key, channel=row.message.channel, why=why
    )


@contextmanager
def _receiving(settings: Settings, side: SlackSide, stop: Event) -> Iterator[None]:
    """Receive from Slack: by Socket Mode from a thread, or through HTTP."""
    if settings.config.slack.mode == "http":
        yield
        side.work.close()
        return
    token = settings.environment.slack_app_token.get_secret_value()

    def run() -> None:
        try:
            run_socket_mode(
                side.app, token, stop, on_connected=lambda: log.info("slack_connected")
            )
        except SlackFailedError as error:
            log.error("slack_refused_app_token", code=error.code)  # noqa: TRY400 - final
            stop.set()

    thread = Thread(target=run, name="slack-socket", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        side.work.close()
        thread.join(SENDER_STOP_S)


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
        dispatch_slack=_dispatcher(side.app) if side is not None and is_http else None,
    )


def _dispatcher(
    app: App,
) -> Callable[[Mapping[str, str], bytes], tuple[int, Mapping[str, str], str]]:
    def dispatch(
        headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], str]:
        answer = dispatch_checked(app, headers, body)
        return answer.status, answer.headers, answer.body

    return dispatch
