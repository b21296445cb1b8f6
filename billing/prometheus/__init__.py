"""What Prometheus knows: which pods held GPUs, from kube-state-metrics.

The only package that speaks to Prometheus. Knows no ledger.
"""

from __future__ import annotations

from billing.prometheus.client import Prometheus
from billing.prometheus.pods import PodQuestion, pod_placements

__all__ = ["PodQuestion", "Prometheus", "pod_placements"]
