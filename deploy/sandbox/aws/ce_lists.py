"""Cost Explorer's lists: dimension values, tags and cost allocation tags.

It must not know amounts.
"""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any

from deploy.sandbox.aws import ce_rules as rules
from deploy.sandbox.aws.ce_filters import (
    FILTER_DIMENSIONS,
    compile_filter,
    dimension,
)
from deploy.sandbox.aws.ce_spend import lines
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.world import CostTag

PAGES = PageRules(field="NextPageToken", changed_code="RequestChangedException")
TAG_PAGES = PageRules(field="NextToken")
DEFAULT_LIST_SIZE = 1000
DEFAULT_TAG_SIZE = 100
OTHER_CONTEXTS = {"RESERVATIONS", "SAVINGS_PLANS"}


def get_dimension_values(call: Call) -> dict[str, Any]:
    """Answer GetDimensionValues for the context of cost and usage."""
    params = call.params
    asked = rules.tag_period(params, call.now, call.world.history_months)
    if params.get("Context") in OTHER_CONTEXTS:
        return _paged(call, [], "DimensionValues")
    name = params["Dimension"]
    if name not in FILTER_DIMENSIONS:
        message = f"Dimension {name} is not allowed."
        raise rules.invalid(message)
    keep = compile_filter(params.get("Filter"))
    found = {dimension(line, name) for line in lines(call, asked, keep)}
    names = {account.id: account.name for account in call.world.accounts}
    described = name == "LINKED_ACCOUNT"
    values = [
        {
            "Value": value,
            "Attributes": {"description": names.get(value, "")} if described else {},
        }
        for value in sorted(_searched(found, params))
    ]
    return _paged(call, values, "DimensionValues")


def get_tags(call: Call) -> dict[str, Any]:
    """Answer GetTags: the keys, or the values of one key."""
    params = call.params
    asked = rules.tag_period(params, call.now, call.world.history_months)
    keep = compile_filter(params.get("Filter"))
    found: set[str] = set()
    key = params.get("TagKey")
    for line in lines(call, asked, keep):
        found |= set(line.tags) if key is None else {line.tags.get(key, "")}
    return _paged(call, sorted(_searched(found, params)), "Tags")


def list_cost_allocation_tags(call: Call) -> dict[str, Any]:
    """Answer ListCostAllocationTags."""
    params = call.params
    tags = [
        _shown(tag)
        for tag in sorted(call.world.tags, key=lambda tag: tag.key)
        if params.get("Status") in (None, tag.status)
        and params.get("Type") in (None, tag.type)
        and (params.get("TagKeys") is None or tag.key in params["TagKeys"])
    ]
    size = params.get("MaxResults", DEFAULT_TAG_SIZE)
    page, token = call.pages.cut(tags, params, rules=TAG_PAGES, size=size)
    answer: dict[str, Any] = {"CostAllocationTags": list(page)}
    return answer | ({"NextToken": token} if token else {})


def _shown(tag: CostTag) -> dict[str, str]:
    shown = {"TagKey": tag.key, "Type": tag.type, "Status": tag.status}
    if tag.activated_on is not None:
        updated = datetime.combine(tag.activated_on, time.min, UTC)
        shown["LastUpdatedDate"] = updated.strftime(rules.HOUR_FORMAT)
    return shown


def _searched(values: set[str], params: dict[str, Any]) -> list[str]:
    wanted = params.get("SearchString")
    return [v for v in values if wanted is None or wanted.lower() in v.lower()]


def _paged(call: Call, values: list[Any], field: str) -> dict[str, Any]:
    params = call.params
    size = params.get("MaxResults", DEFAULT_LIST_SIZE)
    page, token = call.pages.cut(values, params, rules=PAGES, size=size)
    answer: dict[str, Any] = {
        field: list(page),
        "ReturnSize": len(page),
        "TotalSize": len(values),
    }
    return answer | ({"NextPageToken": token} if token else {})
