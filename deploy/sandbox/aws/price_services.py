"""Price List rows of SageMaker, FSx for Lustre and NAT gateways.

It must not know requests. Only figures that somebody read from the Price List or its
pages are shipped; origins are in `data/SOURCE.md`.
"""

from __future__ import annotations

from functools import cache

from deploy.sandbox.aws.price_data import LOCATIONS, Product, product

#: What a type is sold for -> the word in its usage type.
WORDS = {
    "Training": "Train",
    "Hosting": "Host",
    "Notebook": "Notebk",
    "Studio": "Studio",
    "Cluster": "Cluster",
}
PREFIXES = {"us-east-1": "USE1-", "us-west-2": "USW2-", "eu-west-1": "EU-"}
SHIPPED = (
    ("ml.m5.xlarge", "Hosting", "0.23", "us-east-1"),
    ("ml.m5.2xlarge", "Hosting", "0.461", "us-east-1"),
    ("ml.g5.8xlarge", "Cluster", "3.06", "us-east-1"),
    ("ml.p4d.24xlarge", "Cluster", "25.91001756", "us-west-2"),
)
NAT_HOUR = "0.045"
LUSTRE_125 = "0.145"


@cache
def service_products() -> tuple[Product, ...]:
    """Return every row of these services that the sandbox ships with."""
    machines = [
        machine_product(name, component, price, region=region)
        for name, component, price, region in SHIPPED
    ]
    return (
        *machines,
        lustre_product(LUSTRE_125, tier=125),
        gateway_product(NAT_HOUR),
        gateway_product(NAT_HOUR, usage="NatGateway-Bytes", unit="GB"),
    )


def machine_product(
    instance_type: str, component: str, price: str, *, region: str = "us-east-1"
) -> Product:
    """Return SageMaker's row of one type for one use."""
    location, _ = LOCATIONS[region]
    attributes = {
        "component": component,
        "instanceName": instance_type,
        "instanceType": f"{instance_type}-{component}",
        "location": location,
        "locationType": "AWS Region",
        "operation": "RunInstance",
        "regionCode": region,
        "servicecode": "AmazonSageMaker",
        "servicename": "Amazon SageMaker",
        "usagetype": f"{PREFIXES[region]}{WORDS[component]}:{instance_type}",
    }
    return product(attributes, family="ML Instance", unit="Hrs", price=price)


def lustre_product(
    price: str, *, tier: int, region: str = "us-east-1", storage: str = "SSD"
) -> Product:
    """Return the storage of a persistent file system at one throughput."""
    location, _ = LOCATIONS[region]
    attributes = {
        "deploymentOption": "Single-AZ",
        "fileSystemType": "Lustre",
        "location": location,
        "locationType": "AWS Region",
        "operation": "CreateFileSystem:Lustre",
        "regionCode": region,
        "servicecode": "AmazonFSx",
        "servicename": "Amazon FSx",
        "storageType": storage,
        "throughputCapacity": str(tier),
        "usagetype": f"{PREFIXES[region]}Storage.{storage}.{tier}",
    }
    return product(attributes, family="Storage", unit="GB-Mo", price=price)


def gateway_product(
    price: str,
    *,
    region: str = "us-east-1",
    usage: str = "NatGateway-Hours",
    unit: str = "Hrs",
) -> Product:
    """Return the hours of a NAT gateway, or what it carries."""
    location, prefix = LOCATIONS[region]
    attributes = {
        "group": "NGW:NatGateway",
        "location": location,
        "locationType": "AWS Region",
        "operation": "NatGateway",
        "regionCode": region,
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "usagetype": f"{prefix}{usage}",
    }
    return product(attributes, family="NAT Gateway", unit=unit, price=price)
