"""Values that views and listeners get, for tests: takes only what a test is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from textwrap import wrap as _wrap
from typing import Any

from billing.core.charges import Metric, Source
from billing.core.estimate import Alternative, Estimate, EstimateLine, EstimateRequest
from billing.core.money import Money, Rate
from billing.core.prices import Purchase
from billing.ports import Freshness
from bot.ports import Message
from bot.views.answers import (
    CostAnswer,
    CostGroup,
    DigestAnswer,
    EstimateAnswer,
    RunningLine,
    TopLine,
)
from policies.core.approvals import (
    ApprovalRequest,
    ApprovalRule,
    ApprovalTier,
    Envelope,
    RequestState,
    Verdict,
    Vote,
)
from policies.core.finding import (
    Evidence,
    Finding,
    PlannedAction,
    Severity,
    Subject,
)

NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
ACCOUNT = "012345678901"
#: Longest line of a snapshot.
LINE_MAX = 84
PEOPLE = {
    "p-mia": "U0MIA",
    "p-ada": "U0ADA",
    "p-omar": "U0OMAR",
    "@gpu-approvers": "S0APPROVE",
    "mia@example.com": "U0MIA",
}


def usd(text: str) -> Money:
    return Money.of(text)


def make_group(key: str, total: str, *, provisional: str | None = "0") -> CostGroup:
    part = None if provisional is None else usd(provisional)
    billed = usd(total) - part if part else usd(total)
    return CostGroup(key=key, total=usd(total), billed=billed, provisional=part)


def make_freshness(**values: Any) -> Freshness:
    defaults: dict[str, Any] = {
        "source": Source.COST_EXPLORER,
        "account": ACCOUNT,
        "as_of": NOW - timedelta(hours=2),
    }
    return Freshness(**(defaults | values))


def make_running(**values: Any) -> RunningLine:
    defaults: dict[str, Any] = {
        "instance_type": "p5.48xlarge",
        "lifecycle": "on-demand",
        "region": "us-east-1",
        "count": 4,
        "gpus": 32,
        "rate": Rate.of("220.16"),
    }
    return RunningLine(**(defaults | values))


def make_job_answer(**values: Any) -> CostAnswer:
    """An answer about job-123: two days billed, one provisional."""
    days = [date(2026, 11, 28), date(2026, 11, 29), date(2026, 11, 30)]
    defaults: dict[str, Any] = {
        "currency": "USD",
        "metric": Metric.EFFECTIVE,
        "since": datetime(2026, 11, 1, tzinfo=UTC),
        "until": NOW,
        "as_of": NOW,
        "job": "job-123",
        "team": "research",
        "owner": "mia@example.com",
        "total": usd("14089.02"),
        "billed": usd("10566.46"),
        "provisional": usd("3522.56"),
        "credits": usd("-120.50"),
        "billed_through": {ACCOUNT: datetime(2026, 11, 30, tzinfo=UTC)},
        "by_category": (
            make_group("compute", "13900.00", provisional="3522.56"),
            make_group("storage", "189.02"),
        ),
        "by_day": (
            (days[0], usd("5283.23"), False),
            (days[1], usd("5283.23"), False),
            (days[2], usd("3522.56"), True),
        ),
        "running": (make_running(),),
        "burn": Rate.of("220.16"),
        "forecast_24h": usd("5283.84"),
        "freshness": (
            make_freshness(),
            make_freshness(source=Source.INVENTORY, as_of=NOW - timedelta(minutes=3)),
        ),
        "first_seen_at": datetime(2026, 11, 28, tzinfo=UTC),
        "last_seen_at": NOW - timedelta(minutes=3),
    }
    return CostAnswer(**(defaults | values))


def make_top_answer(**values: Any) -> CostAnswer:
    """An answer about everything, by job."""
    defaults: dict[str, Any] = {
        "job": "",
        "team": "",
        "owner": "",
        "by": "job",
        "by_category": (),
        "by_day": (),
        "running": (),
        "groups": (
            make_group("job-123", "10000"),
            make_group("bucket:untagged", "4000"),
            make_group("job-9", "89.02", provisional=None),
        ),
        "unattributed": usd("4000"),
    }
    return replace(make_job_answer(), **(defaults | values))


def make_estimate_answer(**values: Any) -> EstimateAnswer:
    request = EstimateRequest(
        instance_type="p5.48xlarge",
        count=32,
        hours=Fraction(24),
        region="us-east-1",
        job="job-123",
    )
    estimate = Estimate(
        request=request,
        hourly=Rate.of("1761.28"),
        compute=usd("42270.72"),
        low=usd("42270.72"),
        expected=usd("54951.94"),
        high=usd("63406.08"),
        lines=(
            EstimateLine(
                name="compute",
                cost=usd("42270.72"),
                basis="32 x $55.04/h x 24 h",
            ),
            EstimateLine(
                name="synchronisation and idle",
                cost=usd("12681.22"),
                basis="30 % of compute, the default",
            ),
        ),
        list_rate=Rate.of("55.04"),
        yours=Rate.of("49.54"),
        price_source="price list",
        price_as_of=NOW - timedelta(days=1),
        alternatives=(
            Alternative(
                what="spot in us-east-2",
                expected=usd("18000"),
                why="2.4 % a day reclaimed",
            ),
            Alternative(what="capacity block", expected=None, why=""),
        ),
    )
    defaults: dict[str, Any] = {
        "estimate": estimate,
        "required": True,
        "policy": "approve-large-runs",
        "over": usd("10000"),
    }
    return EstimateAnswer(**(defaults | values))


def make_envelope(**values: Any) -> Envelope:
    defaults: dict[str, Any] = {
        "job": "job-123",
        "instance_type": "p5.48xlarge",
        "count": 32,
        "hours": Fraction(24),
        "purchase": Purchase.ON_DEMAND,
        "region": "us-east-1",
        "cost_ceiling": usd("40000"),
    }
    return Envelope(**(defaults | values))


def make_rule(*approvers: str, required: int = 1) -> ApprovalRule:
    tier = ApprovalTier(over=usd("10000"), required=required, approvers=approvers)
    return ApprovalRule(policy="approve-large-runs", tier=tier, expires_after_s=86_400)


def make_request(**values: Any) -> ApprovalRequest:
    """A request of Mia's that waits for one of the GPU approvers."""
    defaults: dict[str, Any] = {
        "request_id": "apr-7k2m9q",
        "version": 1,
        "state": RequestState.PENDING,
        "envelope": make_envelope(),
        "requester": "p-mia",
        "caller": "p-mia",
        "owner": "p-mia",
        "reason": "Final pretraining run of the quarter",
        "low": usd("31000"),
        "expected": usd("36500"),
        "high": usd("40000"),
        "rule": make_rule("@gpu-approvers"),
        "created_at": NOW - timedelta(minutes=1),
        "expires_at": NOW + timedelta(hours=24),
        "team": "research",
        "basis": "price list of 29 Nov 2026",
        "alternatives": (
            Alternative(what="spot", expected=usd("14000"), why="restarts likely"),
        ),
    }
    return ApprovalRequest(**(defaults | values))


def make_vote(person: str = "p-ada", **values: Any) -> Vote:
    defaults: dict[str, Any] = {"verdict": Verdict.APPROVE, "at": NOW}
    return Vote(person_id=person, **(defaults | values))


def make_finding(**values: Any) -> Finding:
    defaults: dict[str, Any] = {
        "policy": "stop-idle-gpus",
        "kind": "idle",
        "mode": "notify",
        "subject": Subject(
            type="instance", id="i-0abc", account=ACCOUNT, region="us-east-1"
        ),
        "job": "job-123",
        "severity": Severity.WARNING,
        "clause": "gpu_utilization < 5% for 30m",
        "since": NOW - timedelta(minutes=42),
        "cost_at_stake": usd("1320.96"),
        "evidence": (
            Evidence(
                name="gpu_utilization", value="0.4", unit="%", threshold="5", as_of=NOW
            ),
            Evidence(name="network", value=None, unit="MB/s", threshold="1"),
        ),
        "explanation": ("No GPU of i-0abc did anything for 42 minutes.",),
        "owner": "mia@example.com",
        "team": "research",
    }
    return Finding(**(defaults | values))


def make_action(**values: Any) -> PlannedAction:
    defaults: dict[str, Any] = {"do": "stop", "at": NOW + timedelta(minutes=15)}
    return PlannedAction(**(defaults | values))


def make_digest(**values: Any) -> DigestAnswer:
    since = date(2026, 11, 23)
    days = [since + timedelta(days=index) for index in range(7)]
    costs = ["2000", "2100", "1900", "2400", "2600", "900", "2189.02"]
    defaults: dict[str, Any] = {
        "label": "2026-W48",
        "since": since,
        "until": since + timedelta(days=7),
        "currency": "USD",
        "team": "",
        "total": usd("14089.02"),
        "billed": usd("11900"),
        "provisional": usd("2189.02"),
        "credits": usd("-120.50"),
        "previous": usd("12808.20"),
        "by_day": tuple(
            (day, usd(cost), day == days[-1])
            for day, cost in zip(days, costs, strict=True)
        ),
        "by_category": (
            make_group("compute", "13900"),
            make_group("storage", "189.02"),
        ),
        "top_jobs": (
            TopLine(key="job-123", total=usd("10000"), previous=usd("8000")),
            TopLine(key="job-200", total=usd("430"), previous=usd("0")),
            TopLine(key="job-201", total=usd("20"), previous=None),
        ),
        "top_teams": (
            TopLine(key="research", total=usd("12000"), previous=usd("12000")),
        ),
        "untagged": usd("700"),
        "findings": (make_finding(),),
        "approvals": (
            make_request(
                state=RequestState.APPROVED, decided_by="p-ada", decided_at=NOW
            ),
        ),
        "burn": Rate.of("220.16"),
        "estimated_days": (days[-1],),
        "stale": (),
        "notes": (),
    }
    return DigestAnswer(**(defaults | values))


def shown(*messages: Message) -> str:
    """Return messages as compact text: fallback first, then one block after another."""
    return "\n======\n".join(_shown(message) for message in messages)


def drawn(*messages: Message) -> str:
    """Return ``shown`` in lines short enough for a snapshot; a cut line goes on indented."""
    lines = shown(*messages).split("\n")
    return "\n".join("\n   ".join(_lines(line)) if line else "" for line in lines)


def _lines(line: str) -> list[str]:
    if len(line) <= LINE_MAX:
        return [line]
    return _wrap(line, LINE_MAX, break_long_words=False, break_on_hyphens=False)


def _shown(message: Message) -> str:
    return "\n".join([message.text, "------", *map(_block, message.blocks)])


def _block(block: dict[str, Any]) -> str:
    kind = block["type"]
    if kind == "header":
        return f"# {block['text']['text']}"
    if kind == "section" and "fields" in block:
        texts = [field["text"].replace("\n", " ") for field in block["fields"]]
        return "\n".join(f"| {text}" for text in texts)
    if kind == "section":
        return str(block["text"]["text"])
    if kind == "context":
        return "\n".join(f"({element['text']})" for element in block["elements"])
    if kind == "actions":
        return " ".join(
            f"[{one['text']['text']} {one['action_id']}={one['value']}]"
            for one in block["elements"]
        )
    if kind == "rich_text":
        return f"> {block['elements'][0]['elements'][0]['text']}"
    if kind == "data_visualization":
        points = block["chart"]["series"][0]["data"]
        drawn = ", ".join(f"{point['label']} {point['value']}" for point in points)
        return f"<chart {block['title']}: {drawn}>"
    return _other(block)


def _other(block: dict[str, Any]) -> str:
    if block["type"] == "input":
        return f"<{block['label']['text']}: ____>"
    return f"<{block['type']}>"
