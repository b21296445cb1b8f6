"""Answer one request: faults first, then the double's own services or moto.

It must not know sockets; `server` writes what this returns.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, replace
from typing import Any, Literal

from botocore.model import StructureShape

from deploy.sandbox.aws import (
    cost_explorer,
    ec2,
    ec2_instances,
    more_services,
    price_list,
    savings_plans,
)
from deploy.sandbox.aws.clock import Clock
from deploy.sandbox.aws.cloudwatch import Metrics
from deploy.sandbox.aws.errors import AwsError, Reply, not_implemented, render_error
from deploy.sandbox.aws.faults import Fault, Faults
from deploy.sandbox.aws.model import service_model
from deploy.sandbox.aws.moto_app import MotoApp, serialize
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules, Pages
from deploy.sandbox.aws.recording import RecordedRequest, Requests
from deploy.sandbox.aws.wire import Incoming, Raw, read
from deploy.sandbox.aws.world import World

OWN = {
    "ce": cost_explorer.handle,
    "pricing": price_list.handle,
    "savingsplans": savings_plans.handle,
}
CONTENT_TYPES = {"rest-json": "application/json"}
PREBUILT_TARGET = "AWSInsightsIndexService.GetCostAndUsage"
PREBUILT_TOKEN = re.compile(rb'"NextPageToken"\s*:\s*"(\d+)"')
TOKEN_NAMES = ("NextPageToken", "NextToken", "nextToken")
PAST_THE_END = 10**9
Ending = Literal["whole", "drop", "truncate", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A reply, and how much of it reaches the client."""

    reply: Reply
    ending: Ending = "whole"


class Dispatcher:
    """The double's state and the way from a request to its answer."""

    def __init__(self, world: World, clock: Clock) -> None:
        """Answer from this world at this clock's time."""
        self.world = world
        self.clock = clock
        self.faults = Faults()
        self.requests = Requests()
        self.pages = Pages()
        self.moto = MotoApp(clock.now_naive)
        self.metrics = Metrics(world.metrics)
        self.prebuilt: list[bytes] = []

    def handle(self, raw: Raw) -> Outcome:
        """Answer one AWS request and record it."""
        if self.prebuilt and raw.headers.get("x-amz-target") == PREBUILT_TARGET:
            return self._handle_prebuilt(raw)
        incoming = read(raw)
        account = self.moto.account_of(incoming.access_key, self.world.caller_account)
        fault = self.faults.hit(
            service=incoming.service,
            operation=incoming.operation,
            region=incoming.region,
            account=account,
        )
        outcome = self._outcome(raw, incoming, account, fault=fault)
        self.requests.add(
            RecordedRequest(
                at=self.clock.now(),
                service=incoming.service,
                operation=incoming.operation,
                region=incoming.region,
                account=account,
                parameters=incoming.params,
                status=0 if outcome.ending == "drop" else outcome.reply.status,
                error_code=outcome.reply.error_code,
                fault=fault.kind if fault else None,
            )
        )
        return outcome

    def _handle_prebuilt(self, raw: Raw) -> Outcome:
        match = PREBUILT_TOKEN.search(raw.body)
        page = self.prebuilt[int(match.group(1)) if match else 0]
        self.requests.add(
            RecordedRequest(
                at=self.clock.now(),
                service="ce",
                operation="GetCostAndUsage",
                region="us-east-1",
                account=self.world.caller_account,
                parameters={},
                status=200,
            )
        )
        headers = {"Content-Type": "application/x-amz-json-1.1"}
        return Outcome(reply=Reply(headers=headers, body=page))

    def _outcome(
        self, raw: Raw, incoming: Incoming, account: str, *, fault: Fault | None
    ) -> Outcome:
        if fault is not None and fault.kind == "delay":
            time.sleep(fault.seconds)
        if fault is not None and fault.kind == "drop":
            return Outcome(reply=Reply(), ending="drop")
        if fault is not None and fault.kind == "change-data":
            self.world.costs.extend(fault.costs)
        try:
            if fault is not None:
                fault.check(incoming.service)
            reply = self._answer(raw, incoming, account, fault=fault)
        except AwsError as refused:
            reply = render_error(refused, incoming.protocol)
        except Exception as broken:  # noqa: BLE001  # a defect here gets a name, too
            reply = render_error(_defect(incoming, broken), incoming.protocol)
        if fault is not None and fault.kind in {"truncate", "cut"}:
            return Outcome(reply=reply, ending=fault.kind)
        return Outcome(reply=reply)

    def _answer(
        self, raw: Raw, incoming: Incoming, account: str, *, fault: Fault | None
    ) -> Reply:
        call = Call(
            service=incoming.service,
            operation=incoming.operation,
            params=incoming.params,
            world=self.world,
            now=self.clock.now(),
            account=account,
            region=incoming.region,
            pages=self.pages,
        )
        handler = OWN.get(incoming.service)
        if handler is None:
            return self._moto_answer(raw, incoming, call)
        result = handler(self._without_token(call, fault))
        body = self._with_token_fault(call, result, fault)
        content_type = CONTENT_TYPES.get(
            incoming.protocol, "application/x-amz-json-1.1"
        )
        return Reply(
            headers={"Content-Type": content_type}, body=json.dumps(body).encode()
        )

    def _moto_answer(self, raw: Raw, incoming: Incoming, call: Call) -> Reply:
        if incoming.operation == "?" or " " in incoming.operation:
            raise not_implemented(incoming.service, incoming.operation)
        if incoming.service == "sts":
            self._check_role(incoming)
        own = self._own_answer(call)
        if own is not None:
            return serialize(incoming, own)
        if incoming.service != "ec2":
            return self.moto.call(raw, incoming, call.account)
        with self.moto.locked():
            return self._ec2_answer(raw, incoming, call)

    def _own_answer(self, call: Call) -> dict[str, Any] | None:
        known = more_services.own_answer(call)
        if known is not None:
            return known
        if call.service == "ec2":
            return ec2.own_answer(call)
        return self.metrics.handle(call) if call.service == "cloudwatch" else None

    def _ec2_answer(self, raw: Raw, incoming: Incoming, call: Call) -> Reply:
        account, now = call.account, call.now
        ec2.tidy(account, incoming.region, now)
        if incoming.operation == "DescribeInstances":
            return ec2_instances.describe(call)
        request = ec2.paged_request(raw, incoming)
        self.pages.offset(incoming.params, ec2_instances.PAGES)
        reply = self.moto.call(request, incoming, account)
        ec2.after(incoming, reply, account=account, now=now)
        return ec2.paged_reply(reply, incoming, self.pages)

    def _check_role(self, incoming: Incoming) -> None:
        if not incoming.operation.startswith("AssumeRole"):
            return
        arn = str(incoming.params.get("RoleArn", ""))
        parts = arn.split(":")
        known = self.world.account_ids()
        if len(parts) < 6 or parts[4] not in known:  # noqa: PLR2004  # an ARN's parts
            message = f"not authorized to perform sts:AssumeRole on resource: {arn}"
            raise AwsError("AccessDenied", message, status=403)

    def _without_token(self, call: Call, fault: Fault | None) -> Call:
        """Return a call that a repeated token leads to the first page again."""
        if fault is None or fault.kind != "repeat-token":
            return call
        params = {k: v for k, v in call.params.items() if k not in TOKEN_NAMES}
        return replace(call, params=params)

    def _with_token_fault(
        self, call: Call, result: dict[str, Any], fault: Fault | None
    ) -> dict[str, Any]:
        if fault is None or fault.kind not in {"repeat-token", "endless-token"}:
            return result
        field = _token_field(call)
        if field is None:
            return result
        if fault.kind == "repeat-token":
            token = call.params.get(field) or f"repeated-{call.operation}"
        else:
            token = self.pages.issue(call.params, PageRules(field=field), PAST_THE_END)
        return result | {field: token}


def _defect(incoming: Incoming, broken: Exception) -> AwsError:
    message = (
        f"the sandbox failed in {incoming.service} {incoming.operation}: "
        f"{type(broken).__name__}: {broken}"
    )
    return AwsError("SandboxFailure", message, status=501)


def _token_field(call: Call) -> str | None:
    shape = service_model(call.service).operation_model(call.operation).output_shape
    members = shape.members if isinstance(shape, StructureShape) else {}
    return next((name for name in TOKEN_NAMES if name in members), None)
