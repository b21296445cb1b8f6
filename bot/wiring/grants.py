"""Grants of approved requests, as the command line hands them out and checks them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from billing.core.estimate import EstimateRequest
from bot.clock import Now
from bot.grants import GrantKeys, InvalidGrantError
from bot.ports import Store
from bot.settings import Settings
from bot.use_cases.grants import Coverage, launch_of, verify
from bot.use_cases.pricing import price_book
from bot.wiring.parts import own_prices
from policies.core.approvals import ApprovalRequest
from policies.core.grants import grant_of


@dataclass(frozen=True)
class GrantDesk:
    """Grants over one store and one key ring."""

    settings: Settings
    store: Store
    now: Now

    @cached_property
    def keys(self) -> GrantKeys:
        """Return the key ring of this installation."""
        return GrantKeys(self.settings.config.data_dir)

    def token_of(self, request: ApprovalRequest) -> str | None:
        """Return the token of a request's grant; None when it has none, or no more."""
        grant = grant_of(request)
        if grant is None or self.now() >= grant.expires_at:
            return None
        return self.keys.sign(grant)

    def verify(self, token: str, plan: EstimateRequest) -> Coverage:
        """Tell whether a token covers a launch; nothing is started or recorded."""
        self.check_clock()
        try:
            grant = self.keys.read(token)
        except InvalidGrantError as error:
            return Coverage(request_id="", reason=str(error))
        with self.store.read() as unit:
            prices = price_book(unit.ledger, own_prices(self.settings))
            return verify(unit, grant, launch_of(plan, prices), now=self.now())

    def check_clock(self) -> None:
        """Refuse a set clock: it would make an ended grant a live one.

        Raises:
            InvalidSettingsError: ``GPUCOST_NOW`` is set outside a sandbox; what is
                launched calls AWS.
        """
        self.settings.check_clock(calls_aws=True, calls_slack=False)
