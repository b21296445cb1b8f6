"""Every service that is read beside EC2's instances, scope by scope, each on its own.

One that fails is named with its account and region; the others are whole. A region that
has no such service is no failure. Must not know what a service holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime

import boto3
from botocore.exceptions import EndpointConnectionError, UnknownRegionError

from billing.aws import (
    fsx,
    network,
    reservations,
    sagemaker_clusters,
    sagemaker_serving,
    sagemaker_training,
)
from billing.aws.failures import AWS_ERRORS, cause_of, describe
from billing.aws.inventory import Ec2FleetSource
from billing.aws.scopes import WORKERS_MAX
from billing.aws.scopes import Scope as Where
from billing.aws.service_calls import Found, Reader, Scope
from billing.aws.session import AwsClients
from billing.core.fleet import FleetObservation
from billing.core.resources import OtherResources, Service, ServiceFailure, ServiceScope
from billing.ports import SourceUnavailableError

#: Service -> its boto3 name and what reads it.
READERS: Mapping[Service, tuple[str, Reader]] = {
    Service.SNAPSHOTS: ("ec2", network.read_snapshots),
    Service.NAT_GATEWAYS: ("ec2", network.read_nat_gateways),
    Service.RESERVATIONS: ("ec2", reservations.read_reservations),
    Service.FILE_SYSTEMS: ("fsx", fsx.read_file_systems),
    Service.TRAINING: ("sagemaker", sagemaker_training.read_training),
    Service.CLUSTERS: ("sagemaker", sagemaker_clusters.read_clusters),
    Service.ENDPOINTS: ("sagemaker", sagemaker_serving.read_endpoints),
    Service.NOTEBOOKS: ("sagemaker", sagemaker_serving.read_notebooks),
    Service.STUDIO: ("sagemaker", sagemaker_serving.read_studio),
    Service.TRAINING_PLANS: ("sagemaker", reservations.read_training_plans),
}
PERMISSIONS = tuple(
    permission
    for module in (
        *(fsx, network, reservations),
        *(sagemaker_clusters, sagemaker_serving, sagemaker_training),
    )
    for permission in module.PERMISSIONS
)

_Outcome = tuple[ServiceScope, Found | ServiceFailure | None]


class AwsResources:
    """Reads other services of every configured scope at once.

    Args:
        scopes: ``(account, region)`` pairs to read.
        job_tag_keys: Tag keys that name jobs.
        services: The services to ask; None: every one.
    """

    def __init__(
        self,
        clients: AwsClients,
        scopes: Sequence[Where],
        *,
        job_tag_keys: Sequence[str] = (),
        services: Collection[Service] | None = None,
    ) -> None:
        self._clients = clients
        self._scopes = tuple(sorted(set(scopes)))
        self._services = [one for one in READERS if services is None or one in services]
        self._keys = tuple(job_tag_keys)

    def read(self, now: datetime) -> OtherResources:
        """Read every service of every scope; a failing one is named, never dropped."""
        wanted = [
            (account, region, service)
            for account, region in self._scopes
            for service in self._services
        ]
        with ThreadPoolExecutor(WORKERS_MAX, thread_name_prefix="resources") as pool:
            outcomes = list(pool.map(lambda one: self._attempt(one, now), wanted))
        found = [(scope, one) for scope, one in outcomes if isinstance(one, Found)]
        failures = [one for _, one in outcomes if isinstance(one, ServiceFailure)]
        return OtherResources(
            resources=tuple(
                sorted(
                    (one for _, some in found for one in some.resources),
                    key=lambda one: one.resource_id,
                )
            ),
            reservations=tuple(
                sorted(
                    (one for _, some in found for one in some.reservations),
                    key=lambda one: one.reservation_id,
                )
            ),
            scanned=tuple(scope for scope, _ in found),
            failures=tuple(failures),
        )

    def _attempt(self, wanted: ServiceScope, now: datetime) -> _Outcome:
        account, region, service = wanted
        name, reader = READERS[service]
        try:
            client = self._clients.client(name, account=account, region=region)
            scope = Scope(
                client=client,
                account=account,
                region=region,
                job_tag_keys=self._keys,
                now=now,
            )
            return wanted, reader(scope)
        except (*AWS_ERRORS, SourceUnavailableError) as error:
            if is_missing(name, region, error):
                return wanted, None
            failure = ServiceFailure(
                account=account,
                region=region,
                service=service,
                code=cause_of(error),
                message=describe(error),
            )
            return wanted, failure


def is_missing(service: str, region: str, error: Exception) -> bool:
    """Tell whether a region has no such service: no address, and AWS lists none."""
    cause = error.__cause__ or error
    if not isinstance(cause, EndpointConnectionError):
        return False
    known = boto3.Session()
    try:
        partition = known.get_partition_for_region(region)
    except UnknownRegionError:
        return False
    return region not in known.get_available_regions(service, partition)


class AwsFleetSource:
    """The fleet: instances and volumes, and what other services hold beside them."""

    def __init__(self, instances: Ec2FleetSource, others: AwsResources) -> None:
        self._instances = instances
        self._others = others

    def observe(self, now: datetime) -> FleetObservation:
        """Read every configured scope; what fails is named, never dropped."""
        seen = self._instances.observe(now)
        return replace(seen, others=self._others.read(now))

    def describe(
        self, wanted: Mapping[Where, Sequence[str]], now: datetime
    ) -> FleetObservation:
        """Look at some instances that events told of."""
        return self._instances.describe(wanted, now)
