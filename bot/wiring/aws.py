"""Adapters that read AWS, built from settings; loaded only by what calls AWS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from billing.aws.athena import AthenaTable
from billing.aws.commitments import CostExplorerCommitments
from billing.aws.cost_explorer import CostExplorerSource
from billing.aws.export_files import S3ExportFiles
from billing.aws.inventory import Ec2FleetSource
from billing.aws.metrics import CloudWatchMetricSource
from billing.aws.objects import S3ObjectSource
from billing.aws.organizations import Organisation, read_organisation
from billing.aws.prices import AwsPriceSource
from billing.aws.progress_metrics import CloudWatchProgress
from billing.aws.resources import AwsFleetSource, AwsResources
from billing.aws.session import AwsClients
from billing.core.money import Money
from bot.clock import Now
from bot.settings import Settings
from bot.settings.athena import AthenaSection
from bot.unit_of_work import SqlStore
from bot.use_cases.facts import STALE_AFTER, FactSources
from bot.wiring.athena import athena_table
from bot.wiring.kept import KeptCommitments, KeptDetails, KeptObjects, KeptPlans

#: Facts that this many polls should have renewed judge nothing.
POLLS_UNTIL_STALE = 3


@dataclass(frozen=True)
class AwsParts:
    """Everything that reads AWS, made when first needed.

    Attributes:
        store: Counts billable requests.
    """

    settings: Settings
    store: SqlStore
    now: Now

    @cached_property
    def clients(self) -> AwsClients:
        """Return the clients; every billable request is counted before it leaves."""
        self.settings.check_clock(calls_aws=True, calls_slack=False)
        aws = self.settings.config.aws
        return AwsClients(
            role=aws.assume_role, payer=aws.payer, on_billable=self._count
        )

    def _count(self, operation: str, cost: Money) -> None:
        self.store.meter.charge(operation, cost, self.now())

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """Return the regions to look in."""
        return self.settings.config.aws.regions or (self.clients.default_region,)

    @cached_property
    def accounts(self) -> tuple[str, ...]:
        """Return the accounts to look in: configured ones, all, or the caller's."""
        configured = self.settings.config.aws.accounts
        if configured is None:
            return self.organisation.active
        return configured or (self.clients.caller_account(),)

    @cached_property
    def organisation(self) -> Organisation:
        """Return the accounts of the organisation, and those left out of it."""
        return read_organisation(self.clients)

    def costs(self) -> CostExplorerSource:
        """Return the bill."""
        every = self.settings.config.aws.accounts is None
        return CostExplorerSource(
            self.clients,
            accounts=None if every else self.accounts,
            job_tag_keys=self.settings.config.tags.job,
            clock=self.now,
        )

    def export_files(self, location: str, spool: Path) -> S3ExportFiles:
        """Return a bucket that exports are delivered to."""
        return S3ExportFiles(self.clients, location, spool=spool)

    def athena_table(self, section: AthenaSection) -> AthenaTable:
        """Return a table that Athena reads."""
        return athena_table(self.clients, section, self.store, self.now)

    def fleet(self) -> AwsFleetSource:
        """Return the fleet, and what other services hold beside it."""
        scopes = [
            (account, region) for account in self.accounts for region in self.regions
        ]
        keys = self.settings.config.tags.job
        services = self.settings.config.aws.services
        return AwsFleetSource(
            Ec2FleetSource(self.clients, scopes, job_tag_keys=keys),
            AwsResources(self.clients, scopes, job_tag_keys=keys, services=services),
        )

    def progress(self) -> CloudWatchProgress:
        """Return counters of jobs that are metrics."""
        scopes = [
            (account, region) for account in self.accounts for region in self.regions
        ]
        return CloudWatchProgress(self.clients, scopes)

    def prices(self) -> AwsPriceSource:
        """Return published prices."""
        return AwsPriceSource(self.clients)

    @cached_property
    def fact_sources(self) -> FactSources:
        """Return what policies ask at evaluation; dear answers are kept a while."""
        commitments = CostExplorerCommitments(self.clients, clock=self.now)
        schedule = self.settings.config.schedule
        stored = S3ObjectSource(self.clients)
        return FactSources(
            metrics=CloudWatchMetricSource(self.clients),
            commitments=KeptCommitments(commitments, schedule.commitments, self.now),
            plans=KeptPlans(commitments, schedule.commitments, self.now),
            objects=KeptObjects(stored, self.now),
            details=KeptDetails(stored, self.now),
            stale_after=max(STALE_AFTER, POLLS_UNTIL_STALE * schedule.inventory),
            budgets={
                name: team.budget
                for name, team in self.settings.config.teams.items()
                if team.budget is not None
            },
        )

    @cached_property
    def fresh_sources(self) -> FactSources:
        """Return the same, for what acts: objects are listed anew each time."""
        stored = S3ObjectSource(self.clients)
        return replace(self.fact_sources, objects=stored, details=stored)
