"""dstack's REST plugin: its wire format, and what is let through."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from billing.ledger.database import DatabaseUnavailableError
from bot.use_cases.tokens import Scope
from tests.builders_http import SMALL, make_site, served

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore
    from tests.builders_http import Reply, Site

BASE = "/v1/admission/dstack/apply_policies"
H100 = {"name": ["H100"], "count": {"min": 8, "max": 8}, "memory": None}


def run(**configuration: Any) -> dict[str, Any]:
    """Return a run's specification, with what dstack's server sends beside it."""
    resources = {"cpu": {"min": 2, "max": None}, "gpu": H100}
    return {
        "run_name": "llm-1",
        "repo_id": "here",
        "configuration": {
            "type": "task", "name": None, "nodes": 8, "env": {}, "backends": ["aws"],
            "regions": ["us-east-1"], "instance_types": None, "resources": resources,
            "spot_policy": None, "max_duration": None, "commands": ["python train.py"],
        } | configuration,
        "profile": {"name": "default", "backends": None, "max_duration": None},
        "ssh_key_pub": "key",
    }  # fmt: skip


def ask(site: Site, spec: Any, hook: str = "on_run_apply") -> Reply:
    body = {"user": "mia", "project": "main", "spec": spec}
    return site.post(f"{BASE}/{hook}", body, token=site.token(Scope.ADMISSION))


def test_a_run_under_the_limit_comes_back_unchanged(site: Site) -> None:
    spec = run(nodes=1, max_duration=3600)

    assert ask(site, spec).json == {"spec": spec, "error": None}


def test_a_run_over_the_limit_is_refused_with_the_way_on(site: Site) -> None:
    reply = ask(site, run())

    assert (reply.status, reply.json["spec"]) == (200, run())
    for part in ("8 x p5.", "for 24 h", "approve-large-runs", "GPUCOST_GRANT",
                 "gpucost approval request --job llm-1"):  # fmt: skip
        assert part in reply.json["error"]


@pytest.mark.parametrize(
    ("changed", "hours"),
    [({"max_duration": 72 * 3600}, "72 h"), ({"env": {"GPUCOST_HOURS": "48"}}, "48 h")],
)
def test_the_hours_are_those_the_run_may_take(
    site: Site, changed: dict[str, Any], hours: str
) -> None:
    assert f"for {hours} may" in ask(site, run(**changed)).json["error"]


def test_a_grant_lets_its_own_run_through_and_no_other(site: Site) -> None:
    filed = site.post("/v1/approvals", SMALL | {"reason": "a test"}, token=site.token())
    own = run(
        nodes=1, instance_types=["p5.48xlarge"],
        env=[f"GPUCOST_GRANT={filed.json['grant']}"],
    )  # fmt: skip

    assert ask(site, own).json["error"] is None
    told = ask(site, own | {"run_name": "llm-2"}).json["error"]
    assert "not of 'llm-2'" in told


@pytest.mark.parametrize(
    "spec",
    [
        run(backends=["gcp"]),
        run(resources={"cpu": {"min": 2}, "gpu": None}),
        run(instance_types=["m7i.24xlarge"]),
    ],
    ids=["another cloud", "no accelerators", "a type without any"],
)
def test_what_is_none_of_our_business_passes(site: Site, spec: Any) -> None:
    assert ask(site, spec).json["error"] is None


@pytest.mark.parametrize(
    "changed",
    [
        {"backends": None},
        {"instance_types": ["g4dn.xlarge", "p5.48xlarge"]},
        {"nodes": 1, "type": "service", "replicas": {"min": 0, "max": 8}},
        {"resources": {"gpu": {"name": None, "count": {"min": 1}}}},
        {"spot_policy": "auto"},
    ],
    ids=["anywhere", "dearest type", "most replicas", "any gpu", "spot or not"],
)
def test_the_dearest_that_it_may_take_counts(
    site: Site, changed: dict[str, Any]
) -> None:
    assert "approve-large-runs" in ask(site, run(**changed)).json["error"]


def test_a_fleet_is_judged_and_a_volume_passes(site: Site) -> None:
    fleet = {
        "configuration": {
            "type": "fleet", "name": "gpus", "nodes": {"min": 0, "max": 8},
            "resources": {"gpu": H100}, "backends": ["aws"], "regions": ["us-east-1"],
        },
        "profile": {"name": "default"},
    }  # fmt: skip
    volume = {"configuration": {"type": "volume", "size": "1TB"}}

    assert "--count 8" in ask(site, fleet, "on_fleet_apply").json["error"]
    assert ask(site, volume, "on_volume_apply").json == {"spec": volume, "error": None}


@pytest.mark.parametrize(
    "spec",
    [None, [], {"configuration": 7}, run(nodes="many"), run(resources={"gpu": "x"})],
)
def test_what_is_no_specification_is_an_error_and_no_yes(site: Site, spec: Any) -> None:
    assert ask(site, spec).status == 422


def test_the_token_may_be_the_password_of_the_url(site: Site) -> None:
    token = site.token(Scope.ADMISSION)
    pair = base64.b64encode(f"gpucost:{token}".encode()).decode()
    body = {"user": "mia", "project": "main", "spec": run(nodes=1, max_duration=60)}
    path = f"{BASE}/on_run_apply"

    assert site.ask("POST", path, body, authorization=f"Basic {pair}").status == 200
    assert site.ask("POST", path, body).status == 401


@pytest.mark.parametrize(
    ("choice", "big", "small"),
    [("over-limit", True, False), ("closed", True, True), ("open", False, False)],
)
def test_without_the_database_it_is_as_configured(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str,
    *, big: bool, small: bool,
) -> None:  # fmt: skip
    extra = f"http: {{admission: {{when_down: {choice}}}}}\n"

    def gone(*_: object, **__: object) -> None:
        reason = "it is gone"
        raise DatabaseUnavailableError(reason)

    with served(make_site(store, tmp_path, monkeypatch, extra=extra)) as site:
        monkeypatch.setattr("bot.wiring.desk.ApprovalDesk.rule_for", gone)
        told = [
            ask(site, spec).json["error"]
            for spec in (run(), run(nodes=1, max_duration=3600))
        ]

    assert [one is not None for one in told] == [big, small]
    assert all("cannot be asked now" in one for one in told if one)
