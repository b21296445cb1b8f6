"""Pods that held GPUs, as placements: from the metrics of kube-state-metrics.

A pod holds what it requests while it runs. What it requests stands in
``kube_pod_container_resource_requests``, that it runs in ``kube_pod_status_phase``, since
when in ``kube_pod_start_time``, its labels in ``kube_pod_labels`` (only those that
kube-state-metrics was told to export), the instance of its node in ``kube_node_info``.
https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Protocol

from billing.core.attribution import normalise_job
from billing.core.placements import Placement, PlacementSource
from billing.prometheus.client import Series

STEP = timedelta(seconds=60)
WINDOW = timedelta(hours=6)
#: Resources that count as accelerators, as Prometheus writes their names.
RESOURCES = "nvidia_com_gpu|aws_amazon_com_neuron|aws_amazon_com_neurondevice"
_NOT_A_LABEL = re.compile(r"[^a-zA-Z0-9_]")
_INSTANCE = re.compile(r"/(i-[0-9a-f]+)$")

_HELD = f"""sum by (namespace, pod, uid, node) (
  kube_pod_container_resource_requests{{resource=~"{RESOURCES}"}}
) * on (namespace, pod, uid) group_left ()
  max by (namespace, pod, uid) (kube_pod_status_phase{{phase="Running"}} == 1)"""


class Answers(Protocol):
    """What is asked: Prometheus, or a double of it."""

    def at(self, query: str, instant: datetime) -> Sequence[Series]:
        """Return the series of a query at one instant."""

    def over(
        self, query: str, start: datetime, end: datetime, step: timedelta
    ) -> Sequence[Series]:
        """Return the series of a query between two instants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodQuestion:
    """What to ask for.

    Attributes:
        job_label: The pod label that names the job.
        window: How far back pods are looked for.
    """

    job_label: str = "job-id"
    window: timedelta = WINDOW
    step: timedelta = STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """What was found.

    Attributes:
        unplaced: Pods whose node is no known instance.
        since: Pods that ended before it are not in the answer.
    """

    placements: tuple[Placement, ...]
    unplaced: tuple[str, ...]
    since: datetime


def pod_placements(
    source: Answers, now: datetime, question: PodQuestion | None = None
) -> Pods:
    """Return the pods that held accelerators within the window.

    Raises:
        SourceUnavailableError: Prometheus could not be asked; nothing is concluded.
    """
    asked = question or PodQuestion()
    since = now - asked.window
    window = f"{int(asked.window.total_seconds())}s"
    held = source.over(_HELD, since, now, asked.step)
    known = {
        name: source.at(f"last_over_time({name}[{window}])", now)
        for name in (
            "kube_pod_labels", "kube_pod_owner", "kube_node_info", "kube_pod_start_time"
        )
    }  # fmt: skip
    nodes = {
        one.labels.get("node", ""): found[1]
        for one in known["kube_node_info"]
        if (found := _INSTANCE.search(one.labels.get("provider_id", "")))
    }
    jobs = _jobs(known["kube_pod_labels"], known["kube_pod_owner"], asked.job_label)
    starts = {
        _pod(one.labels): start
        for one in known["kube_pod_start_time"]
        if (start := _instant(one)) is not None
    }
    placements, unplaced = [], []
    for one in held:
        instance = nodes.get(one.labels.get("node", ""), "")
        name = f"{one.labels.get('namespace', '')}/{one.labels.get('pod', '')}"
        if not instance:
            unplaced.append(name)
            continue
        pod = _pod(one.labels)
        job = jobs.get(pod) or normalise_job(f"kubernetes/{name}")
        placement = _placement(one, job, instance, starts.get(pod), now, asked.step)
        if placement is not None:
            placements.append(placement)
    return Pods(
        placements=tuple(sorted(placements, key=lambda one: one.external_id)),
        unplaced=tuple(sorted(unplaced)),
        since=since,
    )


def label_name(label: str) -> str:
    """Return a pod's label as kube-state-metrics writes it.

    >>> label_name("job-id"), label_name("example.com/job")
    ('label_job_id', 'label_example_com_job')
    """
    return f"label_{_NOT_A_LABEL.sub('_', label)}"


#: A pod: its namespace, name and uid.
_Pod = tuple[str, str, str]


def _pod(labels: Mapping[str, str]) -> _Pod:
    return (labels.get("namespace", ""), labels.get("pod", ""), labels.get("uid", ""))


def _jobs(
    labels: Sequence[Series], owners: Sequence[Series], job_label: str
) -> dict[_Pod, str]:
    """Return the job of each pod: its label, else the Kubernetes job that owns it."""
    name = label_name(job_label)
    found = {}
    for one in owners:
        owner = one.labels.get("owner_name", "")
        if one.labels.get("owner_kind") == "Job" and owner:
            namespace = one.labels.get("namespace", "")
            found[_pod(one.labels)] = normalise_job(f"kubernetes/{namespace}/{owner}")
    for one in labels:
        job = normalise_job(one.labels.get(name, ""))
        if job:
            found[_pod(one.labels)] = job
    return found


def _instant(series: Series) -> datetime | None:
    try:
        seconds = float(series.samples[-1][1])
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (ValueError, IndexError, OverflowError):
        return None


def _placement(
    series: Series,
    job: str,
    instance: str,
    start: datetime | None,
    now: datetime,
    step: timedelta,
) -> Placement | None:
    """Make a pod's placement; one without a sample held nothing."""
    if not series.samples:
        return None
    first, last = (
        datetime.fromtimestamp(second, tz=UTC)
        for second in (series.samples[0][0], series.samples[-1][0])
    )
    is_over = last < now - 2 * step
    started = min(start or first, first)
    try:
        gpus = Decimal(series.samples[-1][1])
    except InvalidOperation:
        return None
    if not (gpus.is_finite() and gpus > 0):
        return None
    namespace, pod, uid = _pod(series.labels)
    return Placement(
        job=job,
        resource_id=instance,
        started_at=started,
        ended_at=max(started, last + step) if is_over else None,
        gpus=gpus,
        source=PlacementSource.KUBERNETES,
        external_id=uid or f"{namespace}/{pod}",
    )
