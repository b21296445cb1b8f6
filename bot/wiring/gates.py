"""Looks after what runs: grants that lapse, and jobs over a limit without a grant.

It looks whenever the inventory was read or events were heard since it looked last, on
whichever replica did so: within seconds of either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from billing.core.charges import Source
from billing.core.periods import day_of
from bot.ports import Directory, SlackFailedError
from bot.use_cases.drift import Watch, lapse_drifted
from bot.use_cases.launch_watch import watch_launches
from bot.use_cases.policies import Routing
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys
from policies.core.catalogue import Policy

log = structlog.get_logger()

LOOK_EVERY = timedelta(seconds=15)


@dataclass
class Gates:
    """Looks after running jobs of one application.

    Attributes:
        policies: Returns the policies in force.
        directory: Returns who people are; None while Slack cannot be asked.
        route: Returns where notices for some owners go.
    """

    application: Application
    policies: Callable[[], Sequence[Policy]]
    directory: Callable[[], Directory | None]
    route: Callable[[set[str]], Routing]
    _seen: object = field(default=None)

    def look(self, slot: datetime) -> None:
        """Look, if anything was read since the last look."""
        del slot
        now = self.application.now()
        seen = self._state(now)
        if seen == self._seen:
            return
        for lapse in lapse_drifted(self._watch, now):
            log.warning(
                "grant_lapsed", job=lapse.job, requests=len(lapse.lapsed),
                asked=[one.request_id for one in lapse.asks],
            )  # fmt: skip
        found = watch_launches(
            self._watch,
            self.application.aws.fact_sources,
            routing=self.route,
            owner_id=self._owner_id,
            now=now,
        )
        for request in found.asked:
            log.warning(
                "launch_without_grant", job=request.envelope.job,
                request=request.request_id,
            )  # fmt: skip
        self._seen = seen  # Only now: a look that failed is made again.

    def _state(self, now: datetime) -> object:
        with self.application.store.read() as unit:
            read = sorted(
                (one.account, one.as_of)
                for one in unit.ledger.freshness()
                if one.source is Source.INVENTORY and one.as_of is not None
            )
            return read, sorted(unit.events.counted(day_of(now)).items())

    @property
    def _watch(self) -> Watch:
        application = self.application
        return Watch(
            store=application.store,
            policies=self.policies,
            keys=tag_keys(application.settings),
            own=own_prices(application.settings),
            horizon=application.settings.config.http.admission.hours,
            channel=application.desk.channel,
        )

    def _owner_id(self, owner: str) -> str:
        """Return the pseudonym of an owner tag's value; "" when nobody is known."""
        directory = self.directory() or self.application.desk.directory
        mapped = self.application.settings.config.owners.map.get(owner, owner)
        try:
            ids, _ = directory.resolve([mapped])
            if len(ids) != 1:
                return ""
            (key,) = ids
            known = directory.person(key) or directory.person_by_email(key)
        except SlackFailedError as error:
            log.warning("owner_not_looked_up", code=error.code)
            return ""
        return known.person_id if known else ""
