"""JSON of the commands, field by field as the contract writes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from billing.core.money import Money

if TYPE_CHECKING:
    from tests.builders_cli import Office

MONEY = re.compile(r"-?\d+\.\d{2,9}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ACCOUNT = "012345678901"
ASK = (
    "approval", "request", "--job", "llm-7", "--instance-type", "p5.48xlarge",
    "--count", "8", "--hours", "72", "--requester", "mia@example.com",
    "--reason", "new model",
)  # fmt: skip


def test_cost_of_a_job(office: Office) -> None:
    document = office.json("cost", "job-123")

    # 28 Nov as billed, nine hours of 30 Nov at $98.32.
    assert {name: document[name] for name in ("total", "billed", "provisional")} == {
        "total": "1124.88",
        "billed": "240.00",
        "provisional": "884.88",
    }
    assert (document["currency"], document["metric"]) == ("USD", "effective")
    assert (document["since"], document["until"]) == (
        "2026-11-01T00:00:00Z",
        "2026-11-30T09:00:00Z",
    )
    assert (document["job"], document["team"]) == ("job-123", "nlp")
    assert document["billed_through"] == {ACCOUNT: "2026-11-30T00:00:00Z"}
    assert document["credits"] == "0.00"
    assert document["unattributed"] is None
    assert document["groups"] == []
    assert document["burn_per_hour"] == "98.32"
    assert document["forecast_24h"] == "2359.68"
    assert document["days"] == [
        {"day": "2026-11-28", "total": "240.00", "provisional": False},
        {"day": "2026-11-30", "total": "884.88", "provisional": True},
    ]
    assert document["instances"] == [
        {
            "instance_type": "p5.48xlarge",
            "lifecycle": "on-demand",
            "region": "us-east-1",
            "count": 1,
            "gpus": 8,
            "per_hour": "98.32",
        }
    ]


def test_cost_by_job(office: Office) -> None:
    document = office.json("cost", "--by", "job")

    assert document["job"] is None
    assert document["by"] == "job"
    assert document["unattributed"] == "10.00"
    assert document["groups"] == [
        {
            "key": "job-123",
            "total": "1124.88",
            "billed": "240.00",
            "provisional": "884.88",
        },
        {
            "key": "bucket:untagged",
            "total": "10.00",
            "billed": "10.00",
            "provisional": "0.00",
        },
    ]


def test_stale_sources_say_since_when_and_why(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_NOW", "2026-12-02T09:00:00Z")

    stale = office.json("cost")["stale"]

    assert {"source", "account", "as_of", "reason"} == set(stale[0])
    inventory = next(one for one in stale if one["source"] == "inventory")
    assert inventory == {
        "source": "inventory",
        "account": ACCOUNT,
        "as_of": "2026-11-30T09:00:00Z",
        "reason": "not read for 2 d",
    }


def test_jobs(office: Office) -> None:
    assert office.json("jobs")["jobs"] == [
        {
            "job": "job-123",
            "team": "nlp",
            "owner": "mia",
            "state": "running",
            "total": "1124.88",
            "burn_per_hour": "98.32",
            "instances": 1,
            "gpus": 8,
            "since": "2026-11-28T00:00:00Z",
        }
    ]


def test_estimate(office: Office) -> None:
    document = office.json(
        "estimate", "--instance-type", "p5.48xlarge", "--count", "32", "--hours", "72"
    )

    price = document["price"]
    assert price["yours_per_hour"] == "98.32"
    assert MONEY.fullmatch(price["per_hour"])
    assert price["source"]
    assert TIME.fullmatch(price["as_of"])
    listed = Money.of(price["per_hour"])
    # `compute` is list price x count x hours.
    assert Money.of(document["compute"]) == listed * (32 * 72)
    assert Money.of(document["hourly"]) == listed * 32
    # At the organisation's own price: the published example.
    assert document["low"] == "226529.28"
    assert document["approval"] == {
        "required": True,
        "policy": "approve-large-runs",
        "over": "10000.00",
    }
    assert all({"name", "cost", "basis"} == set(one) for one in document["lines"])
    assert all(
        {"what", "expected", "why"} == set(one) for one in document["alternatives"]
    )


def test_a_small_estimate_needs_no_approval(office: Office) -> None:
    document = office.json(
        "estimate", "--instance-type", "p5.48xlarge", "--count", "1", "--hours", "1"
    )

    assert document["approval"] == {"required": False, "policy": None, "over": None}


def test_policy_plan(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody answers there: signals are missing, and what needs none is found.
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    document = office.json("policy", "plan")

    assert TIME.fullmatch(document["now"])
    assert {"findings", "refused", "unknown"} <= set(document)
    (finding,) = document["findings"]
    assert {
        "policy", "kind", "subject", "job", "severity", "since", "cost_at_stake",
        "evidence", "explanation", "actions",
    } <= set(finding)  # fmt: skip
    assert finding["policy"] == "no-old-runs"
    assert {"type", "id", "account", "region"} == set(finding["subject"])
    assert {"name", "value", "unit", "threshold", "as_of"} == set(
        finding["evidence"][0]
    )
    assert all({"do", "at"} == set(one) for one in finding["actions"])


def test_a_set_clock_plans_nothing_against_aws_itself(office: Office) -> None:
    ran = office.run("policy", "plan", "--format", "json")

    assert ran.code == 2
    assert "GPUCOST_NOW is set" in ran.json["error"]["message"]


def test_policy_validate(office: Office) -> None:
    bad = office.folder / "bad.yaml"
    bad.write_text("policies:\n  - name: p\n    kind: ttl\n    defualt: 4h\n")

    ran = office.run("policy", "validate", str(bad), "--format", "json")

    assert ran.code == 2
    (error,) = ran.json["errors"]
    assert {name: error[name] for name in ("file", "line", "column", "policy")} == {
        "file": str(bad),
        "line": 4,
        "column": 5,
        "policy": "p",
    }
    assert "defualt" in error["message"]


def test_policy_schema_is_a_json_schema_that_accepts_the_policies_in_use(
    office: Office,
) -> None:
    import json

    schema = json.loads(office.run("policy", "schema").out)

    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    good = {"policies": [{"name": "p", "kind": "ttl", "default": "4h"}]}
    bad = {"policies": [{"name": "p", "kind": "ttl", "defualt": "4h"}]}
    assert validator.is_valid(good)
    assert not validator.is_valid(bad)


def test_an_approval_from_request_to_decision(office: Office) -> None:
    asked = office.run(*ASK, "--format", "json")
    request = asked.json

    assert asked.code == 4
    assert re.fullmatch(r"apr-\w+", request["id"])
    assert request["state"] == "pending"
    assert request["envelope"] == {
        "job": "llm-7",
        "instance_type": "p5.48xlarge",
        "count": 8,
        "hours": 72.0,
        "purchase": "on-demand",
        "region": "us-east-1",
        "cost_ceiling": "84948.48",
    }
    assert (request["requester"], request["caller"]) == ("mia@example.com",) * 2
    assert (request["policy"], request["required"]) == ("approve-large-runs", 1)
    assert (request["votes"], request["grant"]) == ([], None)
    assert request["expires_at"] == "2026-12-01T09:00:00Z"

    voted = office.run(
        "approval", "approve", request["id"], "--as", "ada@example.com",
        "--format", "json",
    )  # fmt: skip

    assert voted.code == 0
    decided = voted.json
    assert decided["state"] == "approved"
    assert decided["votes"] == [
        {
            "by": "ada@example.com",
            "decision": "approve",
            "at": "2026-11-30T09:00:00Z",
            "asserted": True,
            "for": None,
            "reason": None,
        }
    ]
    listed = office.json("approval", "list", "--state", "approved")["requests"]
    assert [one["id"] for one in listed] == [request["id"]]
    assert office.json("audit", "verify")["problems"] == []


def test_digest(office: Office) -> None:
    document = office.json("digest", "--week", "2026-W48", "--dry-run")

    assert (document["week"], document["queued"]) == ("2026-W48", False)
    assert (document["currency"], document["total"]) == ("USD", "250.00")
    assert document["messages"][0]["text"].startswith("GPU costs 2026-W48: $250.00")


def test_pause_and_resume(office: Office) -> None:
    paused, resumed = office.json("pause", "--reason", "x"), office.json("resume")

    assert (paused["paused"], paused["since"]) == (True, "2026-11-30T09:00:00Z")
    assert paused["reason"] == "x"
    assert resumed["paused"] is False


def test_db_check_and_upgrade(office: Office) -> None:
    checks = office.json("db", "check")["checks"]
    versions = office.json("db", "upgrade")

    assert all({"name", "ok", "message", "fix"} == set(one) for one in checks)
    assert {one["ok"] for one in checks} == {True}
    assert versions["before"] == versions["after"] != ""


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in _leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in _leaves(one)]
    return [value]


@pytest.mark.parametrize(
    "command",
    [
        ("cost",),
        ("cost", "job-123"),
        ("cost", "--by", "category"),
        ("jobs",),
        (
            "estimate", "--instance-type", "p5.48xlarge", "--count", "3",
            "--hours", "0.333",
        ),
    ],
)  # fmt: skip
def test_no_document_holds_a_float_or_an_exponent(
    office: Office, command: tuple[str, ...]
) -> None:
    leaves = _leaves(office.json(*command))

    assert not [leaf for leaf in leaves if isinstance(leaf, float)]
    assert not [leaf for leaf in leaves if isinstance(leaf, str) and "E-" in leaf]
