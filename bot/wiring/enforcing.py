"""Acting on what policies enforce: the role, the schedule, and who may allow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from billing.aws.session import AwsClients
from billing.core.errors import GpucostError
from bot.clock import Now, system_now
from bot.ports import Directory
from bot.settings import Settings
from bot.unit_of_work import SqlStore
from bot.use_cases.acting import Hand, Outcome, act_due
from bot.use_cases.confirming import confirm_policy
from bot.use_cases.policies import Routing, run_policies
from bot.use_cases.waivers import spent_by_job
from bot.wiring.parts import tag_keys
from bot.wiring.people import speaker_email
from policies.core.catalogue import Policy
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.finding import Evaluation
from policies.core.waivers import waive
from policies.enforce.dispatch import AwsEnforcer


class NotAdminError(GpucostError):
    """Only people of ``slack.admins`` may allow a policy to act."""

    code = "not_admin"
    exit_code = 3
    hint = "an admin of slack.admins runs it, under their own user"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is not one of slack.admins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforcing:
    """Acting, for one application.

    Attributes:
        facts: Gathers what some policies look at, now.
    """

    settings: Settings
    store: SqlStore
    now: Now
    facts: Callable[[Sequence[Policy]], Facts]

    @property
    def can_act(self) -> bool:
        """Tell whether there is a role to act with."""
        return bool(self.settings.config.aws.enforce_role)

    def act(self, policies: Sequence[Policy]) -> tuple[Outcome, ...]:
        """Do what is due; return what became of each action."""
        return act_due(self.hand(policies))

    def hand(self, policies: Sequence[Policy]) -> Hand:
        """Return what acting needs; without a role it can only look at what is stored."""
        return Hand(
            store=self.store,
            enforcer=self._enforcer() if self.can_act else None,
            policies=policies,
            evaluate=self.evaluate,
            keys=tag_keys(self.settings),
            now=self.now,
            system_now=system_now,
        )

    def apply(
        self, policies: Sequence[Policy]
    ) -> tuple[Evaluation, tuple[Outcome, ...]]:
        """Evaluate as ``plan`` does, record, warn, and do what is due by now."""
        config = self.settings.config
        teams = {name: one.channel for name, one in config.teams.items() if one.channel}
        evaluation = run_policies(
            self.store,
            policies,
            self.facts(policies),
            routing=Routing(alerts=config.slack.alerts, teams=teams),
            now=self.now(),
            can_act=self.can_act,
        )
        return evaluation, self.act(policies)

    def evaluate(self, policies: Sequence[Policy]) -> Evaluation:
        """Judge policies on facts gathered now, waivers heeded; record nothing."""
        facts, now = self.facts(policies), self.now()
        with self.store.read() as unit:
            waivers = unit.journal.waivers(since=now)
        return waive(evaluate(policies, facts, now), waivers, spent_by_job(facts))

    def _enforcer(self) -> AwsEnforcer:
        self.settings.check_clock(calls_aws=True, calls_slack=False)
        clients = AwsClients(
            role=self.settings.config.aws.enforce_role, is_role_everywhere=True
        )
        return AwsEnforcer(clients, system_now)

    def confirm(
        self,
        policies: Sequence[Policy],
        name: str,
        *,
        as_email: str,
        directory: Directory,
    ) -> Mapping[str, object]:
        """Record one admin's word that a policy, as it is written now, may act.

        Raises:
            NotAdminError: They are none.
            NoIdentityError: Nobody knows who calls.
            UnknownPolicyError: No policy of this name is in force.
        """
        email, _ = speaker_email(self.settings, as_email)
        person = directory.person_by_email(email)
        admins, _ = directory.resolve(self.settings.config.slack.admins)
        if person is None or not {person.slack_id, person.email} & admins:
            raise NotAdminError(email)
        return confirm_policy(
            self.store, policies, name, by=person.person_id, now=self.now()
        )
