"""Reading sources into the ledger, as a command or as a scheduled child process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from billing.core.charges import Source
from bot.clock import Now
from bot.ports import Store
from bot.use_cases.attribution import attribute_due
from bot.use_cases.ingest import (
    Reach,
    attempt,
    ingest_costs,
    ingest_fleet,
    ingest_new_prices,
    ingest_prices,
    merged,
    tell_refused,
)
from bot.use_cases.use_hours import ingest_use
from bot.views.answers import IngestOutcome
from bot.wiring.aws import AwsParts
from bot.wiring.settling import settled

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Intake:
    """Reads sources; a failing one leaves the others, and what is stored, alone."""

    aws: AwsParts
    store: Store
    now: Now

    def read(
        self, source: str, reach: Reach, *, path: str = "", progress: Tell
    ) -> IngestOutcome:
        """Read one source, or all of them: the fleet first, so that prices know it.

        Exports come before Cost Explorer, which leaves their days alone.
        """
        is_all = source == "all"
        readers: dict[Source, Callable[[], IngestOutcome]] = {
            Source.INVENTORY: self.fleet if is_all else self.fleet_and_new_prices,
            Source.PRICES: self.prices,
            Source.EXPORTS: lambda: self.exports(reach, path, progress),
            Source.COST_EXPLORER: lambda: self.costs(reach),
            Source.METRICS: self.use,
        }
        wanted = [*readers] if is_all else [Source(source)]
        if is_all and not self.aws.settings.config.exports:
            wanted.remove(Source.EXPORTS)
        outcomes = []
        for one in wanted:
            progress(f"reading {one.value}")
            outcomes.append(attempt(one, readers[one]))
        progress("attributing")
        outcomes.append(attribute_due(self.store, self.now(), progress=progress))
        outcomes.append(settled(self.aws.settings, self.store, wanted, self.now()))
        outcome = merged(outcomes)
        if self.aws.settings.has_slack:
            channel = self.aws.settings.config.slack.alerts
            tell_refused(self.store, outcome, channel=channel, now=self.now())
        return outcome

    def costs(self, reach: Reach) -> IngestOutcome:
        """Read what moved in the bill."""
        return ingest_costs(self.aws.costs(), self.store, reach, now=self.now())

    def exports(self, reach: Reach, path: str, progress: Tell) -> IngestOutcome:
        """Read exports that were delivered anew: those configured, or one at a path."""
        from bot.wiring.exports import read_exports  # noqa: PLC0415 - loaded when asked

        return read_exports(
            self.aws.settings,
            self.store,
            reach,
            path=path,
            open_bucket=self.aws.export_files,
            open_athena=self.aws.athena_table,
            progress=progress,
            now=self.now(),
        )

    def fleet(self) -> IngestOutcome:
        """Poll what exists, and which pods hold its GPUs."""
        seen = ingest_fleet(self.aws.fleet(), self.store, now=self.now())
        return merged([seen, attempt(Source.METRICS, self.pods)])

    def pods(self) -> IngestOutcome:
        """Read which pods held GPUs lately, where a Prometheus is configured."""
        from bot.wiring.pods import read_pods  # noqa: PLC0415 - loaded when asked

        return read_pods(self.aws.settings, self.store, now=self.now())

    def fleet_and_new_prices(self) -> IngestOutcome:
        """Poll what exists, and price what was never priced."""
        seen = self.fleet()
        priced = attempt(
            Source.PRICES,
            lambda: ingest_new_prices(self.aws.prices(), self.store, now=self.now()),
        )
        return merged([seen, priced])

    def use(self) -> IngestOutcome:
        """Measure how busy instances were in the hours since the last time."""
        from billing.aws.metrics import CloudWatchMetricSource  # noqa: PLC0415 - boto3

        metrics = CloudWatchMetricSource(self.aws.clients)
        return ingest_use(metrics, self.store, now=self.now())

    def prices(self) -> IngestOutcome:
        """Refresh the prices of what ran lately."""
        return ingest_prices(self.aws.prices(), self.store, now=self.now())
