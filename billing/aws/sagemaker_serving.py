"""SageMaker endpoints, notebooks and Studio applications. Must not know prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from billing.aws.calls import ask, whole
from billing.aws.service_calls import (
    SAGEMAKER_TAGS,
    Found,
    Scope,
    every,
    listing,
    sagemaker_tags,
    single,
)
from billing.core.periods import utc
from billing.core.priced import SERVERLESS
from billing.core.resources import Resource
from billing.core.usage import ResourceKind

PAGE_SIZE = 100

ENDPOINTS = listing("list_endpoints", "sagemaker:ListEndpoints", "Endpoints")
ENDPOINT = single(
    "describe_endpoint",
    "sagemaker:DescribeEndpoint",
    *("EndpointArn", "CreationTime", "LastModifiedTime"),
)
ENDPOINT_CONFIG = single(
    "describe_endpoint_config",
    "sagemaker:DescribeEndpointConfig",
    "ProductionVariants",
)
NOTEBOOKS = listing(
    "list_notebook_instances", "sagemaker:ListNotebookInstances", "NotebookInstances"
)
APPS = listing("list_apps", "sagemaker:ListApps", "Apps")
APP = single("describe_app", "sagemaker:DescribeApp", "AppArn")
PERMISSIONS = (
    ENDPOINTS.permission,
    ENDPOINT.permission,
    ENDPOINT_CONFIG.permission,
    NOTEBOOKS.permission,
    APPS.permission,
    APP.permission,
    SAGEMAKER_TAGS.permission,
)
#: An endpoint in one of these states holds no instances (or none yet).
_NO_INSTANCES = frozenset({"Creating", "Deleting", "Failed", "OutOfService"})
#: Studio runs the user interface itself on this, free of charge.
_FREE_INSTANCE = "system"
_RUNNING = "InService"


def read_endpoints(scope: Scope) -> Found:
    """Read every variant of every endpoint that holds instances."""
    found: list[Resource] = []
    for entry in every(scope, ENDPOINTS, {"MaxResults": PAGE_SIZE}):
        with whole(ENDPOINTS, scope.place):
            name, status = entry["EndpointName"], entry["EndpointStatus"]
        if status not in _NO_INSTANCES:
            found += _endpoint(name, scope)
    return Found(resources=tuple(found))


def _endpoint(name: str, scope: Scope) -> list[Resource]:
    raw = ask(scope.client, ENDPOINT, {"EndpointName": name}, place=scope.place)
    variants = [
        *raw.get("ProductionVariants", ()),
        *raw.get("ShadowProductionVariants", ()),
    ]
    if not variants or not raw.get("EndpointConfigName"):
        return []
    asked = {"EndpointConfigName": raw["EndpointConfigName"]}
    config = ask(scope.client, ENDPOINT_CONFIG, asked, place=scope.place)
    with whole(ENDPOINT_CONFIG, scope.place):
        types = {
            one["VariantName"]: one.get("InstanceType") or SERVERLESS
            for one in (
                *config["ProductionVariants"],
                *config.get("ShadowProductionVariants", ()),
            )
        }
    tags = sagemaker_tags(scope, raw["EndpointArn"])
    with whole(ENDPOINT, scope.place):
        return [_variant(one, raw, types, scope=scope, tags=tags) for one in variants]


def _variant(
    raw: Mapping[str, Any],
    endpoint: Mapping[str, Any],
    types: Mapping[str, str],
    *,
    scope: Scope,
    tags: Mapping[str, str],
) -> Resource:
    shape = types.get(raw["VariantName"], SERVERLESS)
    return Resource(
        resource_id=f"{endpoint['EndpointArn']}/variant/{raw['VariantName']}",
        kind=ResourceKind.ENDPOINT,
        account=scope.account,
        region=scope.region,
        shape=shape,
        # Each change of the endpoint moves this, also of its number of instances.
        started_at=utc(endpoint["LastModifiedTime"]),
        units=1 if shape == SERVERLESS else int(raw["CurrentInstanceCount"]),
        tags=tags,
    )


def read_notebooks(scope: Scope) -> Found:
    """Read notebook instances that run."""
    asked = {"StatusEquals": _RUNNING, "MaxResults": PAGE_SIZE}
    found = []
    for entry in every(scope, NOTEBOOKS, asked):
        with whole(NOTEBOOKS, scope.place):
            found.append(
                Resource(
                    resource_id=entry["NotebookInstanceArn"],
                    kind=ResourceKind.NOTEBOOK,
                    account=scope.account,
                    region=scope.region,
                    shape=entry["InstanceType"],
                    # A start is the last thing that changed a notebook that runs.
                    started_at=utc(entry["LastModifiedTime"]),
                    tags=sagemaker_tags(scope, entry["NotebookInstanceArn"]),
                )
            )
    return Found(resources=tuple(found))


def read_studio(scope: Scope) -> Found:
    """Read Studio's applications that run on an instance of their own."""
    return Found(resources=tuple(_apps(scope)))


def _apps(scope: Scope) -> Iterator[Resource]:
    for entry in every(scope, APPS, {"MaxResults": PAGE_SIZE}):
        with whole(APPS, scope.place):
            instance_type = (entry.get("ResourceSpec") or {}).get("InstanceType")
            is_running = entry["Status"] == _RUNNING
        if not is_running or instance_type in {None, _FREE_INSTANCE}:
            continue
        with whole(APPS, scope.place):
            asked = {
                name: entry[name]
                for name in ("DomainId", "AppType", "AppName")
                + (("SpaceName",) if entry.get("SpaceName") else ("UserProfileName",))
            }
        raw = ask(scope.client, APP, asked, place=scope.place)
        yield Resource(
            resource_id=raw["AppArn"],
            kind=ResourceKind.STUDIO_APP,
            account=scope.account,
            region=scope.region,
            shape=instance_type,
            started_at=utc(entry["CreationTime"]),
            tags=sagemaker_tags(scope, raw["AppArn"]),
        )
