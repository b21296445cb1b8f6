"""The Slack side of `gpucost serve`: up as soon as Slack answers, down with the process.

A Slack that cannot be reached delays messages and nothing else: the schedule, the
ledger and HTTP run meanwhile, and what is to be said waits in the outbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import structlog
from slack_bolt import App

from billing.core.errors import GpucostError
from bot.clock import system_now
from bot.outbox import REFUSED_CODES, OutboxSender
from bot.ports import Directory, OutboxRow, SlackFailedError
from bot.settings import InvalidSettingsError, Settings
from bot.slack.app import build_app
from bot.slack.client import connect
from bot.slack.dispatch import dispatch_checked
from bot.slack.notifier import SlackNotifier
from bot.slack.socket_mode import run_socket_mode
from bot.slack.work import WorkPool
from bot.use_cases.delivery import tell_undeliverable
from bot.wiring.application import Application
from bot.wiring.people import slack_client, slack_directory
from bot.wiring.slack_answers import SlackAnswers

log = structlog.get_logger()

#: How long a stop waits for the effect in hand, or for the socket's read to end.
JOIN_S = 8.0
FIRST_WAIT_S = 1.0
WAIT_MAX_S = 30.0
UNAVAILABLE = 503


class SlackRefusedError(GpucostError):
    """Slack refuses a token; waiting cannot help."""

    code = "slack_refused"
    hint = "check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; `gpucost doctor` tells more"

    def __init__(self, code: str) -> None:
        super().__init__(f"Slack refused the token: {code}")


@dataclass(frozen=True)
class Parts:
    """Everything that speaks to Slack, once it is known who we are there."""

    app: App
    directory: Directory
    notifier: SlackNotifier
    work: WorkPool


class SlackSide:
    """Connects in the background until it works, then sends and receives.

    Args:
        application: What answers.
        owner: Our name among the workers of the outbox.
        stop: Set by anybody; also set here when Slack refuses a token for good.
    """

    def __init__(self, application: Application, owner: str, stop: Event) -> None:
        require_tokens(application.settings)
        self._application = application
        self._owner = owner
        self._stop = stop
        self._parts: Parts | None = None
        self._refused = ""
        self._client = slack_client(application.settings)
        self._thread = Thread(target=self._run, name="slack", daemon=True)

    def start(self) -> None:
        """Begin to connect; a token that is refused at once is told at once.

        Raises:
            SlackRefusedError: Waiting cannot help.
        """
        self._parts = self._connected()
        if self._refused:
            raise SlackRefusedError(self._refused)
        self._thread.start()

    def close(self) -> None:
        """Wait until the effect in hand is made and the connection is closed.

        Raises:
            SlackRefusedError: It was why the process stopped.
        """
        self._stop.set()
        self._thread.join(JOIN_S)
        if self._refused:
            raise SlackRefusedError(self._refused)

    @property
    def directory(self) -> Directory | None:
        """Return who people are; None while Slack cannot be asked."""
        parts = self._parts
        return parts.directory if parts else None

    def dispatch(
        self, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Mapping[str, str], str]:
        """Handle a request whose signature was checked (HTTP mode)."""
        parts = self._parts
        if parts is None:
            return UNAVAILABLE, {}, ""
        answer = dispatch_checked(parts.app, headers, body)
        if answer.rejected is not None:
            log.info("slack_request_refused", reason=answer.rejected.reason)
        return answer.status, answer.headers, answer.body

    # ------------------------------------------------------------------- running

    def _run(self) -> None:
        wait_s = FIRST_WAIT_S
        while self._parts is None and not self._stop.wait(wait_s):
            wait_s = min(wait_s * 2, WAIT_MAX_S)
            self._parts = self._connected()
        if self._parts is not None and not self._stop.is_set():
            with self._sending(self._parts), self._receiving(self._parts):
                self._stop.wait()

    def _connected(self) -> Parts | None:
        """Ask Slack who we are; None when it may answer later, or never."""
        try:
            home = connect(self._client)
        except SlackFailedError as error:
            if error.is_final:
                self._give_up(error.code)
            else:
                log.warning("slack_unreachable", code=error.code)
            return None
        application, client, work = self._application, self._client, WorkPool()
        settings = application.settings
        directory = slack_directory(client, home, application.store)
        secret = settings.environment.slack_signing_secret.get_secret_value()
        app = build_app(
            client=client,
            home=home,
            handlers=SlackAnswers(application, directory).handlers(),
            work=work,
            signing_secret=secret if settings.config.slack.mode == "http" else "",
        )
        return Parts(
            app=app, directory=directory, notifier=SlackNotifier(client), work=work
        )

    def _give_up(self, code: str) -> None:
        log.error("slack_refused_token", code=code)
        self._refused = code
        self._stop.set()

    @contextmanager
    def _sending(self, parts: Parts) -> Iterator[None]:
        """Make stored effects from a thread; leaving waits for the one in hand."""
        sender = OutboxSender(
            self._application.store,
            parts.notifier,
            worker=self._owner,
            on_failed=lambda row, why: self._on_failed(parts.directory, row, why),
            alone=self._application.store.database.is_sqlite,
        )
        # Effects are timed by the system clock: a set clock may stand still.
        thread = sender.start(self._stop, system_now)
        try:
            yield
        finally:
            self._stop.set()
            thread.join(JOIN_S)

    def _on_failed(self, directory: Directory, row: OutboxRow, why: str) -> None:
        """Log what can never be posted, and tell the admins of it."""
        channel = row.message.channel
        log.error("slack_effect_failed", key=row.message.key, channel=channel, why=why)
        if why not in REFUSED_CODES:
            tell_undeliverable(
                self._application.store,
                row,
                why,
                places=self._trouble_goes_to(directory),
                now=system_now(),
            )

    def _trouble_goes_to(self, directory: Directory) -> Sequence[str]:
        """Return the admins, else the channel of alerts."""
        slack = self._application.settings.config.slack
        try:
            admins, _ = directory.resolve(slack.admins)
        except SlackFailedError as error:
            log.warning("admins_not_looked_up", code=error.code)
            admins = frozenset()
        return sorted(admins) or [place for place in (slack.alerts,) if place]

    @contextmanager
    def _receiving(self, parts: Parts) -> Iterator[None]:
        """Receive from Slack: by Socket Mode from a thread, or through HTTP."""
        settings = self._application.settings
        if settings.config.slack.mode == "http":
            yield
            parts.work.close()
            return
        token = settings.environment.slack_app_token.get_secret_value()
        thread = Thread(
            target=self._listen, args=(parts, token), name="slack-socket", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            parts.work.close()
            thread.join(JOIN_S)

    def _listen(self, parts: Parts, token: str) -> None:
        try:
            run_socket_mode(
                parts.app,
                token,
                self._stop,
                on_connected=lambda: log.info("slack_connected"),
            )
        except SlackFailedError as error:
            self._give_up(error.code)


def require_tokens(settings: Settings) -> None:
    """Check that the tokens of the chosen mode are set.

    Raises:
        InvalidSettingsError: With the one that is missing.
    """
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
