"""The IAM actions that reading needs, gathered from the adapters that call them.

Nothing here changes anything in AWS: a test holds the list to verbs that read.
"""

from __future__ import annotations

from billing.aws import (
    anomalies,
    ce_calls,
    commitments,
    events,
    export_files,
    identity,
    inventory,
    metrics,
    objects,
    organizations,
    prices,
    progress_metrics,
    resources,
    session,
)

#: adapter -> IAM actions it calls
PERMISSIONS_BY_ADAPTER: dict[str, tuple[str, ...]] = {
    "session": session.PERMISSIONS,
    "cost_explorer": ce_calls.PERMISSIONS,
    "inventory": inventory.PERMISSIONS,
    "prices": prices.PERMISSIONS,
    "resources": resources.PERMISSIONS,
    "metrics": metrics.PERMISSIONS,
    "progress_metrics": progress_metrics.PERMISSIONS,
    "commitments": commitments.PERMISSIONS,
    "anomalies": anomalies.PERMISSIONS,
    "objects": objects.PERMISSIONS,
    "export_files": export_files.PERMISSIONS,
    "identity": identity.PERMISSIONS,
    "events": events.PERMISSIONS,
    "organizations": organizations.PERMISSIONS,
}

#: Every action, sorted, each once.
READ_PERMISSIONS: tuple[str, ...] = tuple(
    sorted({one for some in PERMISSIONS_BY_ADAPTER.values() for one in some})
)
