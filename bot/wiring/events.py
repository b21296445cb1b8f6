"""Events of AWS in `serve`: one thread takes them from the queue and has them stored.

Messages are small and few are handled at once, so this needs no process of its own.
Nothing is taken while the database cannot be reached: the queue keeps it better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event, Lock, Thread

import structlog

from billing.aws.events import SqsEventQueue
from billing.core.charges import Source
from billing.core.errors import GpucostError
from billing.core.fleet_events import FleetEvent, FleetState, TagEvent
from billing.core.periods import day_of
from billing.ports import SourceUnavailableError
from billing.ports.events import EventQueue, QueuedMessage
from bot.use_cases.events import UNREADABLE, Ears, Fact, hear
from bot.use_cases.policies import Routing
from bot.views.answers import Check
from bot.wiring.application import Application
from bot.wiring.parts import tag_keys

log = structlog.get_logger()

FIRST_WAIT_S = 1.0
WAIT_MAX_S = 60.0
#: A good read is noted this often: each note is a write to the database.
NOTED_EVERY = timedelta(minutes=1)
#: How long a stop waits for the messages in hand.
JOIN_S = 8.0

Route = Callable[[set[str]], Routing]


@dataclass
class EventIntake:
    """Takes events from the queue until stopped.

    Attributes:
        route: Where notices for some owners go.
    """

    application: Application
    queue: EventQueue
    route: Route
    stop: Event
    _busy: Lock = field(default_factory=Lock)
    _noted_at: datetime | None = None
    _problem: str = ""

    def start(self) -> None:
        """Begin to listen, in a thread of its own."""
        Thread(target=self._run, name="events", daemon=True).start()

    def close(self) -> None:
        """Wait for the messages in hand; a question that waits is left to itself."""
        self.stop.set()
        if self._busy.acquire(timeout=JOIN_S):
            self._busy.release()

    def _run(self) -> None:
        wait_s = 0.0
        while not self.stop.wait(wait_s):
            try:
                self.listen_once()
            except Exception as failure:  # noqa: BLE001 - a thread that must not end
                wait_s = min(max(wait_s * 2, FIRST_WAIT_S), WAIT_MAX_S)
                self._failed(failure)
            else:
                wait_s = 0.0

    def listen_once(self) -> int:
        """Wait for messages, handle them and delete them; return how many were done.

        Raises:
            SourceUnavailableError: The queue cannot be read.
            GpucostError: The database cannot be used; nothing was deleted.
        """
        ears = self._ears()  # Asks the database and AWS before anything is taken.
        messages = self.queue.receive()
        with self._busy:
            if self.stop.is_set():
                return 0  # Handed out again to whoever comes after us.
            self._note_good()
            return self._handle(messages, ears) if messages else 0

    def _handle(self, messages: Sequence[QueuedMessage], ears: Ears) -> int:
        try:
            return self._hear(messages, ears)
        except GpucostError:
            raise
        except Exception:
            if len(messages) == 1:
                log.exception("event_failed", message=messages[0].message_id)
                return 0
        # One that cannot be handled must not keep the others back.
        return sum(self._handle([one], ears) for one in messages)

    def _hear(self, messages: Sequence[QueuedMessage], ears: Ears) -> int:
        application = self.application
        found = hear(application.store, messages, ears, now=application.now())
        undeleted = self.queue.delete(found.done)
        for message_id in found.unreadable:
            log.warning("event_unreadable", message=message_id)
        log.info("events_heard", undeleted=undeleted, **_words(found.counts))
        return len(found.done)

    def _ears(self) -> Ears:
        application = self.application
        with application.store.read():
            pass
        return Ears(
            accounts=frozenset(application.aws.accounts),
            regions=frozenset(application.aws.regions),
            keys=tag_keys(application.settings),
            learn=lambda facts: learn(application, facts),
            routing=self.route,
        )

    def _note_good(self) -> None:
        now = self.application.now()
        is_due = self._noted_at is None or abs(now - self._noted_at) >= NOTED_EVERY
        if is_due or self._problem:
            self._note(now, "")
            self._noted_at, self._problem = now, ""

    def _failed(self, failure: Exception) -> None:
        """Say once what is wrong, and have every answer say it until it is over."""
        problem = str(failure) if isinstance(failure, GpucostError) else ""
        problem = problem or type(failure).__name__
        if problem == self._problem:
            return
        self._problem = problem
        log.error("events_not_heard", problem=problem)
        if isinstance(failure, SourceUnavailableError):
            try:
                self._note(None, problem)
            except GpucostError as error:
                log.error("events_not_heard", problem=str(error))  # noqa: TRY400 - named

    def _note(self, as_of: datetime | None, reason: str) -> None:
        with self.application.store.write() as unit:
            unit.ledger.note_freshness(Source.EVENTS, "", as_of=as_of, reason=reason)


def _words(counts: object) -> dict[str, int]:
    found: dict[str, int] = dict(counts)  # type: ignore[call-overload] # a mapping
    return {name.replace(" ", "_"): number for name, number in found.items()}


def learn(application: Application, facts: Sequence[Fact]) -> None:
    """Teach the fleet what events say, looking at instances that it never saw.

    An account that refuses to be looked at is left to the next poll, which names it.
    """
    fleet = [one for one in facts if isinstance(one, FleetEvent)]
    with application.store.write() as unit:
        unseen = unit.ledger.apply_events(fleet)
    wanted: dict[tuple[str, str], set[str]] = {}
    for one in fleet:
        if one.resource_id in unseen and one.state is not FleetState.PENDING:
            wanted.setdefault((one.account, one.region), set()).add(one.resource_id)
    found = None
    if wanted:
        asked = {scope: sorted(ids) for scope, ids in wanted.items()}
        found = application.aws.fleet().describe(asked, application.now())
        for failure in found.failures:
            log.warning(
                "instances_not_described", account=failure.account,
                region=failure.region, code=failure.code,
            )  # fmt: skip
    tags = [one for one in facts if isinstance(one, TagEvent)]
    with application.store.write() as unit:
        if found is not None and found.instances:
            unit.ledger.apply_observation(replace(found, failures=()))
        unit.ledger.apply_tag_events(tags)


def event_queue(application: Application) -> EventQueue:
    """Return the configured queue."""
    url = application.settings.config.aws.events.queue_url
    return SqsEventQueue(application.aws.clients, url)


def event_checks(application: Application) -> Sequence[Check]:
    """Check the queue: there, open to us, and with a place for what cannot be read."""
    if not application.settings.config.aws.events.queue_url:
        return []
    fix = (
        "create it from deploy/aws/events and allow what deploy/aws/iam-read.json does"
    )
    try:
        state = event_queue(application).state()
    except SourceUnavailableError as error:
        return [Check(name="event queue", ok=False, message=str(error), fix=fix)]
    waiting = "unknown" if state.waiting is None else f"about {state.waiting:,}"
    with application.store.read() as unit:
        counts = unit.events.counted(day_of(application.now()))
    bad = counts.get(UNREADABLE, 0)
    said = f"{waiting} waiting, {sum(counts.values()) - bad:,} handled today"
    said += f", {bad:,} could not be read" if bad else ""
    checks = [Check(name="event queue", ok=True, message=said)]
    if not state.moves_aside:
        checks.append(
            Check(
                name="event queue redrive",
                ok=None,
                message="no redrive policy: what cannot be read comes again for days",
                fix="give the queue a dead-letter queue, as deploy/aws/events does",
            )
        )
    return checks
