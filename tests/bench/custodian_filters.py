"""Run under Cloud Custodian's own Python: filter instances, print matches and times.

``python custodian_filters.py FILE`` reads policies and instances from a JSON file.
Imports nothing of gpucost; `tests.bench.policies` starts it.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

ROUNDS = 3


def main(path: str) -> None:
    """Filter a few rounds; print ids by policy and the best CPU time of all."""
    data = json.loads(Path(path).read_text("utf-8"))
    config = importlib.import_module("c7n.config")
    load_resources = importlib.import_module("c7n.resources").load_resources
    collection = importlib.import_module("c7n.policy").PolicyCollection
    load_resources(("aws.ec2",))
    options = config.Config.empty(
        region="us-east-1", account_id="123456789012", output_dir="", cache=""
    )
    policies = list(collection.from_data({"policies": data["policies"]}, options))
    instances = data["instances"]
    for one in instances:
        one["LaunchTime"] = datetime.fromisoformat(one["LaunchTime"])
    matched: dict[str, list[str]] = {}
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for policy in policies:
            found = _filtered(policy, instances)
            matched[policy.name] = [one["InstanceId"] for one in found]
        times.append(time.process_time() - start)
    print(json.dumps({"matched": matched, "seconds": min(times)}))


def _filtered(policy: Any, instances: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = policy.resource_manager.filter_resources(instances)
    return found


if __name__ == "__main__":
    main(sys.argv[1])
