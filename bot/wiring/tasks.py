"""The schedule: one line per task, each calling a use case or a child process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, Lock

import structlog

from billing.core.errors import GpucostError
from bot.ports import Directory, SlackFailedError
from bot.settings import child_environment
from bot.settings.sections import DigestSection
from bot.use_cases.digest import last_whole, queue_digest
from bot.use_cases.due import Calendar, Every, Schedule
from bot.use_cases.facts import gather_facts
from bot.use_cases.freshness import old_sources
from bot.use_cases.ingest import tell_stale
from bot.use_cases.policies import Routing, run_policies
from bot.use_cases.policy_changes import tell_changes
from bot.use_cases.runner import Task, TaskStoppedError
from bot.use_cases.wishes import quiet_now
from bot.views.digest import digest
from bot.wiring.application import Application
from bot.wiring.approval_tasks import approval_tasks
from bot.wiring.desks import InvalidPoliciesError
from bot.wiring.gates import LOOK_EVERY, Gates
from bot.wiring.metric_progress import metric_progress_tasks
from bot.wiring.outlook import judge
from bot.wiring.parts import own_prices, tag_keys
from bot.wiring.scraped import progress_tasks
from bot.wiring.slack_subscriptions import subscription_task
from policies.core.catalogue import Policy

log = structlog.get_logger()

#: A child that reads a source is ended after this long.
CHILD_TIMEOUT = timedelta(minutes=30)
#: A killed child's slot may be taken by another replica a little later.
CHILD_LEASE_S = int(CHILD_TIMEOUT.total_seconds()) + 60
EXPIRY_EVERY = timedelta(seconds=15)
JUDGE_EVERY = timedelta(hours=6)
FINDINGS_EVERY = timedelta(hours=24)
ACT_EVERY = timedelta(seconds=30)
WATCH_EVERY = timedelta(minutes=15)
RETRY_LEAST = timedelta(minutes=10)
#: Hours of use are read whole: more often would cost more and tell no more.
USE_EVERY = timedelta(hours=6)
LOOK_AGAIN_S = 0.2


class ChildFailedError(GpucostError):
    """A child process that reads a source ended with an error."""

    code = "child_failed"

    def __init__(self, source: str, status: int | None) -> None:
        super().__init__(f"ingest of {source} ended with {status}")


@dataclass(frozen=True)
class Children:
    """Reads sources in processes of their own, so that answers stay quick."""

    config_path: str
    stopping: Event
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def ingest(self, source: str) -> None:
        """Read one source and wait for it; stopping ends it."""
        self.run(source, "ingest", "--source", source)

    def run(self, source: str, *words: str) -> None:
        """Run one of our own commands and wait for it; stopping ends it.

        Raises:
            ChildFailedError: It failed or took too long.
            TaskStoppedError: The process stops.
        """
        command = [sys.executable, "-m", "bot", *words]
        command += ["--config", self.config_path] if self.config_path else []
        child = subprocess.Popen(  # noqa: S603 - our own command
            command, env=child_environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._running.add(child)
        try:
            code = self._wait(child)
        finally:
            with self._lock:
                self._running.discard(child)
        if code != 0 and self.stopping.is_set():
            raise TaskStoppedError
        if code != 0:
            raise ChildFailedError(source, code)

    def _wait(self, child: subprocess.Popen[bytes]) -> int | None:
        waited = 0.0
        while waited < CHILD_TIMEOUT.total_seconds() and not self.stopping.is_set():
            try:
                return child.wait(LOOK_AGAIN_S)
            except subprocess.TimeoutExpired:
                waited += LOOK_AGAIN_S
        # Imports commit whole or not at all, so ending one anywhere is safe.
        child.terminate()
        try:
            return child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()


class PolicySet:
    """The policies in force: the newest set that loaded as a whole."""

    def __init__(self, load: Callable[[], tuple[Policy, ...]]) -> None:
        self._load = load
        self._good: tuple[Policy, ...] = ()
        self._lock = Lock()
        self.problem = ""

    def current(self) -> tuple[Policy, ...]:
        """Return the set; a broken file leaves the old one in force."""
        with self._lock:
            try:
                self._good = self._load()
                self.problem = ""
            except InvalidPoliciesError as error:
                if self.problem != str(error):
                    log.error("policies_refused", problem=str(error))  # noqa: TRY400 - said whole
                self.problem = str(error)
            return self._good


@dataclass(frozen=True)
class Work:
    """What scheduled tasks do.

    Attributes:
        directory: Returns who people are; None while Slack cannot be asked.
    """

    application: Application
    directory: Callable[[], Directory | None]
    policies: PolicySet

    def evaluate(self, slot: datetime) -> None:
        """Evaluate policies, record and tell."""
        del slot
        application, now = self.application, self.application.now()
        policies = self.policies.current()
        if not self.policies.problem:
            alerts = application.settings.config.slack.alerts
            tell_changes(application.store, policies, channel=alerts, now=now)
        if not policies:
            return
        gathered = gather_facts(
            application.store,
            policies,
            application.aws.fact_sources,
            keys=tag_keys(application.settings),
            own=own_prices(application.settings),
            now=now,
        )
        for failure in gathered.failures:
            log.warning(
                "facts_missing", source=failure.source, account=failure.account,
                region=failure.region, code=failure.code,
            )  # fmt: skip
        evaluation = run_policies(
            application.store,
            policies,
            gathered.facts,
            routing=self.routing({one.owner for one in gathered.facts.jobs}),
            now=now,
            can_act=application.enforcing.can_act,
        )
        log.info(
            "policies_evaluated", policies=len(policies), findings=len(evaluation.findings),
            unknown=len(evaluation.unknown),
        )  # fmt: skip

    def act(self, slot: datetime) -> None:
        """Do what enforcing policies planned and warned of."""
        del slot
        policies = self.policies.current()
        for outcome in self.application.enforcing.act(policies):
            log.info(
                "action_ended", action=outcome.action.action_id, verb=outcome.action.verb,
                policy=outcome.action.policy, state=outcome.state.value,
                reason=outcome.reason,
            )  # fmt: skip

    def routing(self, owners: set[str]) -> Routing:
        """Return where notices go; owners that Slack knows are mentioned."""
        config = self.application.settings.config
        found = {tag: one for tag in owners if (one := self._owner(tag))}
        return Routing(
            alerts=config.slack.alerts,
            teams={
                name: team.channel
                for name, team in config.teams.items()
                if team.channel
            },
            owners=found,
            quiet=self._quiet(found.values()),
            can_stop=self.application.enforcing.can_act,
        )

    def _quiet(self, slack_ids: Iterable[str]) -> frozenset[str]:
        """Return whom alerts do not mention now, by their own wish."""
        zone = getattr(self.directory(), "zone", None)
        if zone is None:
            return frozenset()
        return quiet_now(
            self.application.store, slack_ids, zone, self.application.now()
        )

    def _owner(self, owner: str) -> str:
        directory = self.directory()
        if not owner or directory is None:
            return ""
        mapped = self.application.settings.config.owners.map.get(owner, owner)
        try:
            ids, _ = directory.resolve([mapped])
        except SlackFailedError as error:
            # The owner is named instead of mentioned: an alert never waits for Slack.
            log.warning("owner_not_looked_up", code=error.code)
            return ""
        return next(iter(ids)) if len(ids) == 1 else ""

    def watch(self, slot: datetime) -> None:
        """Say in Slack which sources are too old."""
        del slot
        application, now = self.application, self.application.now()
        with application.store.read() as unit:
            known = unit.ledger.freshness()
        tell_stale(
            application.store,
            old_sources(known, application.schedules, now),
            channel=application.settings.config.slack.alerts,
            now=now,
        )

    def expire(self, slot: datetime) -> None:
        """Deny by default what nobody decided in time."""
        del slot
        for request in self.application.desk.expire():
            log.info("approval_expired", request=request.request_id)

    def judge(self, slot: datetime) -> None:
        """Read what finished runs cost: past estimates are judged by it."""
        del slot
        read = judge(self.application, self.application.now())
        log.info("finished_runs_read", runs=read)

    def send_digest(self, section: DigestSection, slot: datetime) -> None:
        """Queue the digest of the day, week or month before a slot."""
        now = self.application.now()
        scope = last_whole(section.every, slot, team=section.team)
        answer = self.application.digest_of(scope)
        people = self.routing({line.owner for line in answer.top_jobs}).owners
        queued = queue_digest(
            self.application.store,
            channel=section.channel,
            scope=scope,
            messages=digest(answer, people=people, now=now),
            now=now,
        )
        log.info("digest_queued", channel=section.channel, week=scope.label, new=queued)


def tasks(application: Application, work: Work, children: Children) -> Sequence[Task]:
    """Return every scheduled task."""
    every = application.settings.config.schedule
    gates = Gates(application, work.policies.current, work.directory, work.routing)

    def read(source: str, interval: timedelta) -> Task:
        return Task(
            name=f"ingest-{source}", schedule=Every(interval), lease_s=CHILD_LEASE_S,
            run=lambda _slot: children.ingest(source), retry_s=retry_s(interval),
        )  # fmt: skip

    return [
        read("inventory", every.inventory),
        read("prices", every.prices),
        read("metrics", USE_EVERY),
        read("cost-explorer", every.cost_explorer),
        *(
            [read("exports", every.exports)]
            if application.settings.config.exports
            else []
        ),
        Task(name="policies", schedule=Every(every.policies), run=work.evaluate),
        *(
            [Task(name="actions", schedule=Every(ACT_EVERY), run=work.act)]
            if application.enforcing.can_act
            else []
        ),
        Task(name="staleness", schedule=Every(WATCH_EVERY), run=work.watch),
        Task(name="estimates", schedule=Every(JUDGE_EVERY), run=work.judge),
        Task(
            name="aws-anomalies",
            schedule=Every(FINDINGS_EVERY),
            lease_s=CHILD_LEASE_S,
            run=lambda _slot: children.run("anomalies", "anomalies"),
        ),
        Task(name="launches", schedule=Every(LOOK_EVERY), run=gates.look),
        Task(name="approvals-expire", schedule=Every(EXPIRY_EVERY), run=work.expire),
        *approval_tasks(application),
        *progress_tasks(application),
        *metric_progress_tasks(application),
        subscription_task(application, lambda owners: work.routing(owners).owners),
        *(
            _digest_task(work, section)
            for section in application.settings.config.digests
        ),
    ]


def retry_s(interval: timedelta) -> int:
    """Return how soon a failed read is tried again: six times a period, within reason.

    Each try costs money, so a source that stays broken is not asked all the time.
    """
    return int(max(interval / 6, RETRY_LEAST).total_seconds())


def _digest_task(work: Work, section: DigestSection) -> Task:
    schedule: Schedule = Calendar(
        every=section.every, at=section.at.at, zone=section.timezone,
        weekday=section.at.weekday,
    )  # fmt: skip
    return Task(
        name=f"digest:{section.channel}:{section.every}:{section.team}",
        schedule=schedule,
        run=lambda slot: work.send_digest(section, slot),
        catches_up_first=False,
    )
