"""Other launchers' questions, judged by grants and policies, also without a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from billing.core.estimate import EstimateRequest, NoPriceError
from billing.core.gpus import gpu_count, snapshot_price
from billing.core.money import Money
from billing.core.prices import Price, PriceKey
from billing.ledger.database import DatabaseBusyError, DatabaseUnavailableError
from bot.api import dstack
from bot.api.dstack import DstackAsked
from bot.api.skypilot import SkyAnswer, SkyRequest, launch_of
from bot.migrations import SchemaError
from bot.ports import SlackFailedError
from bot.settings import Settings
from bot.use_cases.admission import Assumed, Judge, Launch, Need, admit
from bot.use_cases.estimate import BadPlanError, estimate_run
from bot.use_cases.grants import Coverage
from bot.use_cases.pricing import PriceBook, price_book
from bot.wiring.application import Application
from bot.wiring.desk import ApprovalDesk
from bot.wiring.grants import contradiction
from bot.wiring.parts import own_prices
from policies.core.catalogue import Policy
from policies.core.grants import Grant
from policies.core.rules import planned_job, rule_for

log = structlog.get_logger()

Policies = Callable[[], Sequence[Policy]]
#: What keeps gpucost from judging as it should.
DOWN = (DatabaseBusyError, DatabaseUnavailableError, SchemaError, SlackFailedError)


@dataclass(frozen=True)
class Admission:
    """Judges launches of other launchers; records nothing."""

    application: Application
    desk: ApprovalDesk
    policies: Policies

    def skypilot(self, asked: SkyRequest) -> SkyAnswer:
        """Judge a launch of SkyPilot."""
        keys = self.application.settings.config.tags.job
        return self._judged("skypilot", launch_of(asked, keys))

    def dstack(self, asked: DstackAsked) -> str:
        """Return why what dstack applies is refused; "" lets it through."""
        keys = self.application.settings.config.tags.job
        launch = dstack.launch_of(asked, keys)
        return "" if launch is None else self._judged("dstack", launch).refused

    def _judged(self, launcher: str, launch: Launch) -> SkyAnswer:
        try:
            refused = admit(launch, _Recorded(self.desk, self.policies), self._assumed)
        except DOWN as error:
            return self._without(launch, error)
        if refused:
            log.info("launch_refused", launcher=launcher, request=launch.name)
        return SkyAnswer(refused=refused)

    @property
    def _assumed(self) -> Assumed:
        settings = self.application.settings
        return Assumed(
            region=self.application.default_region,
            hours=settings.config.http.admission.hours,
        )

    def _without(self, launch: Launch, error: Exception) -> SkyAnswer:
        """Judge as configured while gpucost cannot look anything up."""
        choice = self.application.settings.config.http.admission.when_down
        code = getattr(error, "code", type(error).__name__)
        log.warning("admission_without_record", code=code, when_down=choice)
        if choice == "open":
            return SkyAnswer()
        if choice == "over-limit":
            judge = _Unrecorded(self.application, self.policies)
            refused = admit(launch, judge, self._assumed)
            told = f"{refused} (gpucost's record cannot be asked now)"
            return SkyAnswer(refused=told if refused else "")
        return SkyAnswer(
            refused="gpucost cannot be asked now, and is set to refuse then",
            is_down=True,
        )


@dataclass(frozen=True)
class _Recorded(Judge):
    """Judges by the record."""

    desk: ApprovalDesk
    policies: Policies

    def read(self, token: str) -> Grant | Coverage:
        """Return the grant of a token, or why it is none."""
        return self.desk.grants.read(token)

    def verify(self, token: str, plan: EstimateRequest) -> Coverage:
        """Tell whether a token covers a plan."""
        return self.desk.grants.verify(token, plan)

    def need(self, plan: EstimateRequest) -> Need | None:
        """Return the policy that wants approval of a plan."""
        high = self._high(plan)
        rule = self.desk.rule_for(plan, high)
        return Need(policy=rule.policy, high=high) if rule else None

    def _high(self, plan: EstimateRequest) -> Money | None:
        own = own_prices(self.desk.settings)
        with self.desk.store.read() as unit:
            prices = price_book(unit.ledger, own)
            try:
                return estimate_run(plan, prices).high
            except (BadPlanError, NoPriceError):
                return None


class _Snapshot:
    """Prices that ship with the product, for when no others can be asked for."""

    def latest_prices(self, keys: Sequence[PriceKey]) -> dict[PriceKey, Price]:
        return {key: price for key in keys if (price := snapshot_price(key))}


@dataclass(frozen=True)
class _Unrecorded(Judge):
    """Judges by what a token itself says, and by shipped prices."""

    application: Application
    policies: Policies

    def read(self, token: str) -> Grant | Coverage:
        """Return the grant of a token, or why it is none."""
        return self.application.grants.read(token)

    def verify(self, token: str, plan: EstimateRequest) -> Coverage:
        """Tell whether a token contradicts a plan."""
        why = contradiction(self.application.settings, token, plan)
        return Coverage(request_id="", reason=why or "")

    def need(self, plan: EstimateRequest) -> Need | None:
        """Return the policy that wants approval of a plan on its own."""
        return need_without_record(self.application.settings, self.policies(), plan)


def need_without_record(
    settings: Settings, policies: Sequence[Policy], plan: EstimateRequest
) -> Need | None:
    """Return the policy that wants approval of a plan on its own, at shipped prices."""
    prices = PriceBook(_Snapshot(), own_prices(settings))  # type: ignore[arg-type] # only this is asked
    try:
        high: Money | None = estimate_run(plan, prices).high
    except (BadPlanError, NoPriceError):
        high = None
    job = planned_job(
        job=plan.job, team="", owner="", environment="",
        instance_type=plan.instance_type, count=plan.count,
        gpus=gpu_count(plan.instance_type), high=high,
    )  # fmt: skip
    rule = rule_for(policies, job, high, Money.zero())
    return Need(policy=rule.policy, high=high) if rule else None
