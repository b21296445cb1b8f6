"""The Price List service: services, attribute values and products.

It must not know where the products come from, only how they are filtered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call, Handler, answer
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.price_data import Product, shipped_products
from deploy.sandbox.aws.price_services import service_products

FORMAT_VERSION = "aws_v1"
REGIONS = ("us-east-1", "eu-central-1", "ap-south-1")
MAX_PAGE = 100
PAGES = PageRules(field="NextToken", changed_code="InvalidParameterException")
#: Filters may also name these, which are no attributes.
TOP_FIELDS = ("productFamily", "sku", "ServiceCode", "serviceCode")


def handle(call: Call) -> dict[str, Any]:
    """Answer one call to the Price List."""
    if call.region not in REGIONS:
        message = (
            f"the Price List has no endpoint in {call.region!r}; "
            f"use one of {', '.join(REGIONS)}"
        )
        raise AwsError("NoEndpointInRegion", message)
    version = call.params.get("FormatVersion", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        message = f"Unsupported format version {version!r}"
        raise invalid(message)
    return answer(call, HANDLERS, code="InvalidParameterException")


def invalid(message: str) -> AwsError:
    """Return the Price List's refusal of a request."""
    return AwsError("InvalidParameterException", message)


def products(call: Call) -> list[Product]:
    """Return the products that the world sells."""
    if not call.world.shipped_prices:
        return list(call.world.products)
    return [*shipped_products(), *service_products(), *call.world.products]


def get_products(call: Call) -> dict[str, Any]:
    """Answer GetProducts: each product is a JSON text inside the list."""
    params = call.params
    offered = _of_service(call, params["ServiceCode"])
    known = {name for item in offered for name in _attributes(item)} | set(TOP_FIELDS)
    tests = [_filter(item, known) for item in params.get("Filters") or []]
    found = [item for item in offered if all(test(item) for test in tests)]
    page, token = _cut(call, found)
    result: dict[str, Any] = {
        "FormatVersion": FORMAT_VERSION,
        "PriceList": [json.dumps(item, separators=(",", ":")) for item in page],
    }
    return result | token


def describe_services(call: Call) -> dict[str, Any]:
    """Answer DescribeServices."""
    wanted = call.params.get("ServiceCode")
    names: dict[str, set[str]] = {}
    for item in products(call):
        names.setdefault(item["serviceCode"], {"productFamily"}).update(
            _attributes(item)
        )
    if wanted is not None and wanted not in names:
        raise _unknown_service(wanted)
    services = [
        {"ServiceCode": code, "AttributeNames": sorted(attributes)}
        for code, attributes in sorted(names.items())
        if wanted in (None, code)
    ]
    page, token = _cut(call, services)
    return {"FormatVersion": FORMAT_VERSION, "Services": list(page)} | token


def get_attribute_values(call: Call) -> dict[str, Any]:
    """Answer GetAttributeValues."""
    name = call.params["AttributeName"]
    offered = _of_service(call, call.params["ServiceCode"])
    values = {v for item in offered if (v := _value(item, name)) is not None}
    if not values:
        raise AwsError("NotFoundException", f"Invalid attribute name: {name}")
    page, token = _cut(call, [{"Value": value} for value in sorted(values)])
    return {"AttributeValues": list(page)} | token


HANDLERS: dict[str, Handler] = {
    "DescribeServices": describe_services,
    "GetAttributeValues": get_attribute_values,
    "GetProducts": get_products,
}


def _of_service(call: Call, code: str) -> list[Product]:
    offered = [item for item in products(call) if item["serviceCode"] == code]
    if not offered:
        raise _unknown_service(code)
    return offered


def _unknown_service(code: str) -> AwsError:
    return AwsError("NotFoundException", f"Invalid service code: {code}")


def _attributes(item: Product) -> dict[str, str]:
    attributes: dict[str, str] = item["product"]["attributes"]
    return attributes


def _value(item: Product, name: str) -> str | None:
    if name == "productFamily":
        family: str | None = item["product"].get("productFamily")
        return family
    if name == "sku":
        return str(item["product"]["sku"])
    if name in {"ServiceCode", "serviceCode"}:
        return str(item["serviceCode"])
    return _attributes(item).get(name)


def _filter(asked: dict[str, str], known: set[str]) -> Callable[[Product], bool]:
    name, wanted, kind = asked["Field"], asked["Value"], asked["Type"]
    if name not in known:
        message = f"The filter field {name!r} is not an attribute of the service"
        raise invalid(message)
    if kind in {"ANY_OF", "NONE_OF"}:
        several = {part.strip() for part in wanted.split(",")}
        inside = kind == "ANY_OF"
        return lambda item: (_value(item, name) in several) is inside
    if kind == "CONTAINS":
        return lambda item: wanted in (_value(item, name) or "")
    return lambda item: _value(item, name) == wanted


def _cut(call: Call, items: list[Any]) -> tuple[Any, dict[str, str]]:
    size = call.params.get("MaxResults", MAX_PAGE)
    page, token = call.pages.cut(items, call.params, rules=PAGES, size=size)
    return page, {"NextToken": token} if token else {}
