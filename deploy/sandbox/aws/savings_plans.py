"""The Savings Plans service: the plans of the organisation and their rates.

It must not know how plans are used; Cost Explorer's double answers that.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from deploy.sandbox.aws.errors import AwsError
from deploy.sandbox.aws.own import Call, Handler, answer
from deploy.sandbox.aws.pages import PageRules
from deploy.sandbox.aws.world import SavingsPlanSeed
from deploy.sandbox.aws.world_plans import OfferedPlanSeed

PAGES = PageRules(field="nextToken", unknown_code="ValidationException")
DEFAULT_SIZE = 1000
YEAR_S = 365 * 24 * 3600
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.000Z"
PRODUCT_TYPES = {
    "Compute": ["EC2", "Fargate", "Lambda"],
    "EC2Instance": ["EC2"],
    "SageMaker": ["SageMaker"],
}


def handle(call: Call) -> dict[str, Any]:
    """Answer one call to Savings Plans."""
    return answer(call, HANDLERS, code="ValidationException")


def describe_savings_plans(call: Call) -> dict[str, Any]:
    """Answer DescribeSavingsPlans."""
    params = call.params
    plans = [
        shown(plan, call)
        for plan in call.world.savings_plans
        if call.account in (call.world.caller_account, plan.account)
        and _asked(params.get("savingsPlanIds"), plan.id)
        and _asked(params.get("savingsPlanArns"), plan.arn)
        and _asked(params.get("states"), state(plan, call))
    ]
    for item in params.get("filters") or []:
        plans = [plan for plan in plans if _matches(plan, item)]
    size = params.get("maxResults", DEFAULT_SIZE)
    page, token = call.pages.cut(plans, params, rules=PAGES, size=size)
    result: dict[str, Any] = {"savingsPlans": list(page)}
    return result | ({"nextToken": token} if token else {})


def describe_savings_plan_rates(call: Call) -> dict[str, Any]:
    """Answer DescribeSavingsPlanRates from the rates that the world states."""
    wanted = call.params["savingsPlanId"]
    plan = next((p for p in call.world.savings_plans if p.id == wanted), None)
    if plan is None:
        message = f"Savings Plan {wanted} not found"
        raise AwsError("ResourceNotFoundException", message, status=404)
    rates = [
        {
            "rate": rate,
            "currency": call.world.currency,
            "unit": "Hrs",
            "productType": "EC2",
            "serviceCode": "AmazonEC2",
            "usageType": usage_type,
            "operation": "RunInstances",
            "properties": [
                {"name": "region", "value": plan.region or "us-east-1"},
                {"name": "instanceType", "value": usage_type.split(":")[-1]},
                {"name": "productDescription", "value": "Linux/UNIX"},
                {"name": "tenancy", "value": "shared"},
            ],
        }
        for usage_type, rate in sorted(plan.rates.items())
    ]
    size = call.params.get("maxResults", DEFAULT_SIZE)
    page, token = call.pages.cut(rates, call.params, rules=PAGES, size=size)
    result: dict[str, Any] = {"savingsPlanId": plan.id, "searchResults": list(page)}
    return result | ({"nextToken": token} if token else {})


def describe_savings_plans_offering_rates(call: Call) -> dict[str, Any]:
    """Answer DescribeSavingsPlansOfferingRates from the plans on offer."""
    params = call.params
    found = [
        rate
        for plan in call.world.offered_plans
        if _asked(params.get("savingsPlanTypes") or [], plan.type)
        and _asked(params.get("savingsPlanPaymentOptions") or [], plan.payment_option)
        for rate in _offered(plan, call)
        if _asked(params.get("usageTypes") or [], rate["usageType"])
        and _asked(params.get("products") or [], rate["productType"])
        and _asked(params.get("serviceCodes") or [], rate["serviceCode"])
        and _asked(params.get("operations") or [], rate["operation"])
    ]
    for item in params.get("filters") or []:
        found = [rate for rate in found if _has_property(rate, item)]
    size = params.get("maxResults") or DEFAULT_SIZE
    page, token = call.pages.cut(found, params, rules=PAGES, size=size)
    result: dict[str, Any] = {"searchResults": list(page)}
    return result | ({"nextToken": token} if token else {})


def _offered(plan: OfferedPlanSeed, call: Call) -> list[dict[str, Any]]:
    prefix = "" if plan.region == "us-east-1" else f"{plan.region}-"
    offering = {
        "offeringId": f"{plan.type}-{plan.years}-{plan.payment_option}",
        "paymentOption": plan.payment_option,
        "planType": plan.type,
        "durationSeconds": plan.years * YEAR_S,
        "currency": call.world.currency,
        "planDescription": f"{plan.years} year {plan.payment_option} {plan.type}",
    }
    return [
        {
            "savingsPlanOffering": offering,
            "rate": rate,
            "unit": "Hrs",
            "productType": "EC2",
            "serviceCode": "AmazonEC2",
            "usageType": f"{prefix}{plan.usage}:{shape}",
            "operation": "RunInstances",
            "properties": [
                {"name": "region", "value": plan.region},
                {"name": "instanceType", "value": shape},
                {"name": "instanceFamily", "value": shape.partition(".")[0]},
                {"name": "productDescription", "value": plan.operating_system},
                {"name": "tenancy", "value": plan.tenancy},
            ],
        }
        for shape, rate in sorted(plan.rates.items())
    ]


def _has_property(rate: dict[str, Any], item: dict[str, Any]) -> bool:
    held = {one["name"]: one["value"] for one in rate["properties"]}
    return held.get(item.get("name", "")) in (item.get("values") or [])


HANDLERS: dict[str, Handler] = {
    "DescribeSavingsPlans": describe_savings_plans,
    "DescribeSavingsPlanRates": describe_savings_plan_rates,
    "DescribeSavingsPlansOfferingRates": describe_savings_plans_offering_rates,
}


def state(plan: SavingsPlanSeed, call: Call) -> str:
    """Return the plan's state at the call's instant."""
    if plan.state != "active":
        return plan.state
    if call.now < plan.start:
        return "queued"
    return "retired" if call.now >= plan.end else "active"


def shown(plan: SavingsPlanSeed, call: Call) -> dict[str, Any]:
    """Return a plan as the service writes it."""
    term = int((plan.end - plan.start).total_seconds())
    answer_: dict[str, Any] = {
        "offeringId": f"offering-{plan.id}",
        "savingsPlanId": plan.id,
        "savingsPlanArn": plan.arn,
        "description": f"{plan.payment_option} {plan.type} Savings Plan",
        "start": plan.start.strftime(TIME_FORMAT),
        "end": plan.end.strftime(TIME_FORMAT),
        "state": state(plan, call),
        "savingsPlanType": plan.type,
        "paymentOption": plan.payment_option,
        "productTypes": PRODUCT_TYPES.get(plan.type, ["EC2"]),
        "currency": call.world.currency,
        "commitment": str(Decimal(plan.commitment)),
        "upfrontPaymentAmount": plan.upfront,
        "recurringPaymentAmount": plan.commitment,
        "termDurationInSeconds": term,
        "tags": {},
    }
    if plan.type == "EC2Instance":
        answer_ |= {"region": plan.region, "ec2InstanceFamily": plan.family}
    return answer_


FILTER_FIELDS = {
    "region": "region",
    "ec2-instance-family": "ec2InstanceFamily",
    "commitment": "commitment",
    "upfront": "upfrontPaymentAmount",
    "savings-plan-type": "savingsPlanType",
    "payment-option": "paymentOption",
    "start": "start",
    "end": "end",
}


def _matches(plan: dict[str, Any], item: dict[str, Any]) -> bool:
    field = FILTER_FIELDS.get(item.get("name", ""))
    if field is None:
        message = f"Filter {item.get('name')!r} is not supported by the sandbox"
        raise AwsError("ValidationException", message)
    return plan.get(field) in (item.get("values") or [])


def _asked(wanted: list[str] | None, value: str) -> bool:
    return not wanted or value in wanted
