"""Events as EventBridge sends them: shapes of AWS's guides, values of these tests."""

from __future__ import annotations

import json
from typing import Any

ACCOUNT = "123456789012"
REGION = "us-east-1"
AT = "2026-04-14T06:00:00Z"
INSTANCE = "i-00000000000000001"


def event_body(
    detail_type: str,
    detail: dict[str, Any],
    *,
    event_id: str = "e-1",
    source: str = "aws.ec2",
    account: str = ACCOUNT,
    at: str = AT,
    resources: list[str] | None = None,
    **others: Any,
) -> str:
    document = {
        "version": "0", "id": event_id, "detail-type": detail_type, "source": source,
        "account": account, "time": at, "region": REGION,
        "resources": resources or [], "detail": detail,
    }  # fmt: skip
    return json.dumps(document | others)


def state_body(state: str, *, instance: str = INSTANCE, **fields: Any) -> str:
    detail = {"instance-id": instance, "state": state}
    return event_body("EC2 Instance State-change Notification", detail, **fields)


def interruption_body(
    *, instance: str = INSTANCE, action: str = "terminate", **fields: Any
) -> str:
    detail = {"instance-id": instance, "instance-action": action}
    return event_body("EC2 Spot Instance Interruption Warning", detail, **fields)


def tags_body(
    tags: dict[str, str],
    changed: list[str],
    *,
    instance: str = INSTANCE,
    **fields: Any,
) -> str:
    detail = {
        "changed-tag-keys": changed, "tags": tags, "service": "ec2",
        "resource-type": "instance", "version": 3,
    }  # fmt: skip
    arn = f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/{instance}"
    return event_body(
        "Tag Change on Resource", detail, source="aws.tag", resources=[arn], **fields
    )
