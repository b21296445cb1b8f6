"""The parts of the application, each loaded and made when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from billing.core.errors import GpucostError
from bot.clock import Now
from bot.settings import Settings
from bot.unit_of_work import SqlStore
from bot.use_cases.pricing import OwnPrice
from bot.wiring.parts import own_prices, policy_paths, tag_keys

if TYPE_CHECKING:
    from bot.use_cases.facts import FactSources
    from bot.wiring.aws import AwsParts
    from bot.wiring.desk import ApprovalDesk
    from bot.wiring.enforcing import Enforcing
    from bot.wiring.grants import GrantDesk
    from bot.wiring.intake import Intake
    from bot.wiring.waivers import WaiverDesk
    from policies.core.catalogue import Policy
    from policies.core.facts import Facts


class InvalidPoliciesError(GpucostError, ValueError):
    """A policy file is invalid; nothing of the set is used."""

    code = "invalid_policies"
    exit_code = 2

    def __init__(self, errors: Sequence[object]) -> None:
        super().__init__("\n".join(str(error) for error in errors))


@dataclass(frozen=True)
class Desks:
    """The parts of the application, each made when it is first used."""

    settings: Settings
    store: SqlStore
    now: Now

    @cached_property
    def aws(self) -> AwsParts:
        """Return what reads AWS; nothing is loaded or called before it is needed."""
        from bot.wiring.aws import AwsParts  # noqa: PLC0415 - loads boto3

        return AwsParts(settings=self.settings, store=self.store, now=self.now)

    @cached_property
    def intake(self) -> Intake:
        """Return what reads sources into the ledger."""
        from bot.wiring.intake import Intake  # noqa: PLC0415 - as above

        return Intake(aws=self.aws, store=self.store, now=self.now)

    @cached_property
    def desk(self) -> ApprovalDesk:
        """Return where approvals are asked for and decided."""
        from bot.wiring.desk import ApprovalDesk  # noqa: PLC0415 - as above

        return ApprovalDesk(
            settings=self.settings,
            store=self.store,
            now=self.now,
            policies=lambda: self.load_policies(None),
        )

    @cached_property
    def enforcing(self) -> Enforcing:
        """Return what acts for policies that enforce."""
        from bot.wiring.enforcing import Enforcing  # noqa: PLC0415 - loads boto3

        return Enforcing(
            settings=self.settings, store=self.store, now=self.now,
            facts=self.fresh_facts,
        )  # fmt: skip

    @cached_property
    def waivers(self) -> WaiverDesk:
        """Return where waivers are asked for and decided."""
        from bot.wiring.waivers import WaiverDesk  # noqa: PLC0415 - as above

        return WaiverDesk(
            settings=self.settings, store=self.store, now=self.now,
            directory=self.desk.directory,
        )  # fmt: skip

    @cached_property
    def grants(self) -> GrantDesk:
        """Return where grants of approvals are handed out and checked."""
        from bot.wiring.grants import GrantDesk  # noqa: PLC0415 - loads cryptography

        return GrantDesk(settings=self.settings, store=self.store, now=self.now)

    def load_policies(self, named: Sequence[Path] | None) -> tuple[Policy, ...]:
        """Load the named policy files, or the configured ones, as a whole or not at all.

        Raises:
            InvalidPoliciesError: With every error of every file.
        """
        from policies.load import load_policies  # noqa: PLC0415 - loads CEL and YAML

        paths = policy_paths(self.settings, named)
        policies, errors = load_policies(paths) if paths else ((), ())
        if errors:
            raise InvalidPoliciesError(errors)
        return policies

    def facts(self, policies: Sequence[Policy]) -> Facts:
        """Gather what some policies look at; dear answers may be hours old."""
        return self._facts(policies, self.aws.fact_sources)

    def fresh_facts(self, policies: Sequence[Policy]) -> Facts:
        """Gather what some policies look at, with objects listed right now."""
        return self._facts(policies, self.aws.fresh_sources)

    def _facts(self, policies: Sequence[Policy], sources: FactSources) -> Facts:
        from bot.use_cases.facts import gather_facts  # noqa: PLC0415 - as above

        return gather_facts(
            self.store,
            policies,
            sources,
            keys=tag_keys(self.settings),
            own=self._own,
            now=self.now(),
        ).facts

    @cached_property
    def _own(self) -> tuple[OwnPrice, ...]:
        return own_prices(self.settings)
