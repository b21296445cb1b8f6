"""Pods from the configured Prometheus into the ledger."""

from __future__ import annotations

from datetime import datetime

from billing.prometheus import PodQuestion, Prometheus, pod_placements
from bot.ports import Store
from bot.settings import Settings
from bot.use_cases.pods import record_pods
from bot.views.answers import IngestOutcome


def read_pods(settings: Settings, store: Store, *, now: datetime) -> IngestOutcome:
    """Read the pods that held GPUs lately; nothing without a Prometheus.

    Raises:
        SourceUnavailableError: It could not be asked; nothing was stored.
    """
    url = settings.config.prometheus.url
    if not url:
        return IngestOutcome()
    label = settings.config.attribution.kubernetes_job_label
    found = pod_placements(Prometheus(url), now, PodQuestion(job_label=label))
    return record_pods(
        store, found.placements, unplaced=found.unplaced, since=found.since, now=now
    )
