"""Which CloudWatch metrics are signals of activity, and what their values mean.

Pure: no calls. A gap stays a gap; a signal made of two metrics has a point only where
both have one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.ports import MetricSeries

PERIOD_S = 300

GPU_UTILIZATION = "gpu_utilization"
GPU_MEMORY = "gpu_memory_used"
CPU = "cpu_utilization"
NETWORK = "network"
DISK = "disk"

#: instant -> value
Points = Mapping[datetime, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A metric whose dimensions must be looked up before it can be asked for.

    Attributes:
        role: ``value``, or ``used`` and ``total`` of a share.
        part_key: Dimension that tells the accelerators of an instance apart.
    """

    namespace: str
    name: str
    signal: str
    role: str = "value"
    part_key: str = "index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One metric of one resource, as it is asked for."""

    namespace: str
    name: str
    stat: str
    resource_id: str
    signal: str
    role: str
    part: str
    dimensions: tuple[tuple[str, str], ...]

    def query(self, query_id: str) -> dict[str, Any]:
        """Return it as an entry of MetricDataQueries."""
        dimensions = [{"Name": name, "Value": value} for name, value in self.dimensions]
        metric = {
            "Namespace": self.namespace,
            "MetricName": self.name,
            "Dimensions": dimensions,
        }
        stat = {"Metric": metric, "Period": PERIOD_S, "Stat": self.stat}
        return {"Id": query_id, "MetricStat": stat, "ReturnData": True}


#: `utilization_memory` of the agent is activity of the memory bus, not occupancy.
LISTED = (
    Listed(
        namespace="CWAgent", name="nvidia_smi_utilization_gpu", signal=GPU_UTILIZATION
    ),
    Listed(
        namespace="CWAgent",
        name="nvidia_smi_memory_used",
        signal=GPU_MEMORY,
        role="used",
    ),
    Listed(
        namespace="CWAgent",
        name="nvidia_smi_memory_total",
        signal=GPU_MEMORY,
        role="total",
    ),
    Listed(
        namespace="ContainerInsights",
        name="node_gpu_utilization",
        signal=GPU_UTILIZATION,
        part_key="GpuDevice",
    ),
    Listed(
        namespace="ContainerInsights",
        name="node_gpu_memory_utilization",
        signal=GPU_MEMORY,
        part_key="GpuDevice",
    ),
)

#: EC2 publishes these for every instance: name, signal, role, statistic.
_EVERY_INSTANCE = (
    ("CPUUtilization", CPU, "value", "Average"),
    ("NetworkIn", NETWORK, "in", "Sum"),
    ("NetworkOut", NETWORK, "out", "Sum"),
    ("EBSReadBytes", DISK, "in", "Sum"),
    ("EBSWriteBytes", DISK, "out", "Sum"),
)


def ec2_series(instance_id: str) -> list[Series]:
    """Return what EC2 itself publishes of an instance."""
    return [
        Series(
            namespace="AWS/EC2",
            name=name,
            stat=stat,
            resource_id=instance_id,
            signal=signal,
            role=role,
            part="",
            dimensions=(("InstanceId", instance_id),),
        )
        for name, signal, role, stat in _EVERY_INSTANCE
    ]


def listed_series(
    listed: Listed, found: Iterable[Mapping[str, Any]], wanted: frozenset[str]
) -> list[Series]:
    """Return the series of wanted instances; of two alike the more precise one."""
    chosen: dict[tuple[str, str], Series] = {}
    for metric in found:
        dimensions = {one["Name"]: one["Value"] for one in metric["Dimensions"]}
        instance_id = dimensions.get("InstanceId", "")
        if instance_id not in wanted:
            continue
        part = dimensions.get(listed.part_key, "")
        series = Series(
            namespace=listed.namespace,
            name=listed.name,
            stat="Average",
            resource_id=instance_id,
            signal=listed.signal,
            role=listed.role,
            part=part,
            dimensions=tuple(sorted(dimensions.items())),
        )
        known = chosen.get((instance_id, part))
        if known is None or len(known.dimensions) < len(series.dimensions):
            chosen[instance_id, part] = series
    return list(chosen.values())


def combine(found: Iterable[tuple[Series, Points]]) -> list[MetricSeries]:
    """Make signals of the metrics' points, sorted by resource, signal and part."""
    roles: dict[tuple[str, str, str], dict[str, Points]] = {}
    for series, points in found:
        key = (series.resource_id, series.signal, series.part)
        roles.setdefault(key, {})[series.role] = points
    return [
        MetricSeries(
            resource_id=resource_id,
            signal=signal,
            part=part,
            points=tuple(sorted(_points(by_role).items())),
            period_s=PERIOD_S,
        )
        for (resource_id, signal, part), by_role in sorted(roles.items())
        if _points(by_role)
    ]


def _points(by_role: Mapping[str, Points]) -> dict[datetime, float]:
    if "value" in by_role:
        return dict(by_role["value"])
    if "in" in by_role or "out" in by_role:
        return _both(by_role, "in", "out", lambda one, two: (one + two) / PERIOD_S)
    return _both(by_role, "used", "total", _share)


def _share(used: float, whole: float) -> float | None:
    return 100 * used / whole if whole > 0 else None


def _both(
    by_role: Mapping[str, Points],
    first: str,
    second: str,
    join: Callable[[float, float], float | None],
) -> dict[datetime, float]:
    ones, twos = by_role.get(first, {}), by_role.get(second, {})
    joined = {at: join(ones[at], twos[at]) for at in ones.keys() & twos.keys()}
    return {at: value for at, value in joined.items() if value is not None}


def batches(series: Sequence[Series], size: int) -> list[Sequence[Series]]:
    """Return the series in batches of at most ``size``."""
    return [series[start : start + size] for start in range(0, len(series), size)]
