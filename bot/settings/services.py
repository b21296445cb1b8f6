"""Which services beside EC2's instances are read; a value of the configuration file.

Knows neither the environment nor how the file is read.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from billing.core.resources import Service

#: Names in the configuration.
SERVICES = {
    "snapshots": Service.SNAPSHOTS,
    "nat-gateways": Service.NAT_GATEWAYS,
    "capacity-reservations": Service.RESERVATIONS,
    "fsx": Service.FILE_SYSTEMS,
    "sagemaker-training": Service.TRAINING,
    "sagemaker-hyperpod": Service.CLUSTERS,
    "sagemaker-endpoints": Service.ENDPOINTS,
    "sagemaker-notebooks": Service.NOTEBOOKS,
    "sagemaker-studio": Service.STUDIO,
    "sagemaker-training-plans": Service.TRAINING_PLANS,
}
#: Stands for everything of SageMaker.
SAGEMAKER = "sagemaker"


def _services(value: object) -> object:
    """Read names of services; None, the default, is every one."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not value:
        message = f"expected a list of services, or no key for all, got {value!r}"
        raise ValueError(message)
    unknown = [one for one in value if one not in (SAGEMAKER, *SERVICES)]
    if unknown:
        names = ", ".join([*SERVICES, SAGEMAKER])
        message = f"expected services among {names}, got {unknown[0]!r}"
        raise ValueError(message)
    return tuple(
        service
        for name, service in SERVICES.items()
        if name in value or (SAGEMAKER in value and name.startswith(SAGEMAKER))
    )


ReadServices = Annotated[tuple[Service, ...] | None, BeforeValidator(_services)]
