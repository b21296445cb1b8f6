"""SkyPilot's admin policy: its wire format, and what is let through."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from billing.ledger.database import DatabaseUnavailableError
from bot.use_cases.tokens import Scope
from tests.builders_http import SMALL, make_site, served

if TYPE_CHECKING:
    from pathlib import Path

    from bot.unit_of_work import SqlStore
    from tests.builders_http import Reply, Site

PATH = "/v1/admission/skypilot"
BIG = "name: llm-1\nnum_nodes: 8\nresources: {infra: aws/us-east-1, instance_type: p5.48xlarge}\n"
TINY = "name: llm-1\nresources: {infra: aws/us-east-1, accelerators: 'T4:1'}\n"


def body(task: str, **values: Any) -> str:
    """Encode a request as SkyPilot does: an object in a string in JSON."""
    request = {
        "task": task,
        "skypilot_config": "admin_policy: here\n",
        "request_name": "launch",
        "request_options": {"cluster_name": "c", "dryrun": False, "down": False,
                            "idle_minutes_to_autostop": None},
        "at_client_side": False,
        "user": "id: abc\nname: mia\n",
    } | values  # fmt: skip
    return json.dumps(json.dumps(request))


def ask(site: Site, task: str, **values: Any) -> Reply:
    return site.post(PATH, body(task, **values), token=site.token(Scope.ADMISSION))


def test_a_launch_under_the_limit_comes_back_unchanged(site: Site) -> None:
    reply = ask(site, TINY)

    assert reply.status == 200
    # What SkyPilot does with it: the answer is a string that holds the object.
    assert json.loads(reply.json) == {
        "task": TINY,
        "skypilot_config": "admin_policy: here\n",
    }


def test_a_launch_over_the_limit_is_refused_with_the_way_on(site: Site) -> None:
    reply = ask(site, BIG)

    assert reply.status == 400
    assert reply.headers["content-type"].startswith("text/plain")
    for part in ("8 x p5.48xlarge for 24 h", "approve-large-runs", "GPUCOST_GRANT",
                 "gpucost approval request --job llm-1", "GPUCOST_HOURS"):  # fmt: skip
        assert part in reply.text


def test_a_grant_lets_its_own_launch_through_and_no_other(site: Site) -> None:
    token = site.token()
    filed = site.post("/v1/approvals", SMALL | {"reason": "a test"}, token=token)
    own = (
        "name: llm-1\nresources: {cloud: aws, region: us-east-1, accelerators: {H100: 8}}\n"
        f"envs: {{GPUCOST_GRANT: {filed.json['grant']}}}\n"
    )

    assert ask(site, own).status == 200
    other = ask(site, own.replace("llm-1", "llm-2", 1))
    assert other.status == 400
    assert "not covered" in other.text
    assert ask(site, own + "num_nodes: 2\n").status == 400


def test_a_forged_grant_is_refused(site: Site) -> None:
    reply = ask(site, TINY + "secrets: {GPUCOST_GRANT: a.b.c}\n")

    assert reply.status == 400
    assert "not signed" in reply.text


@pytest.mark.parametrize(
    "task",
    [
        "name: cpu\nresources: {infra: aws, instance_type: m7i.24xlarge}\nnum_nodes: 99\n",
        "name: there\nnum_nodes: 8\nresources: {infra: gcp, accelerators: 'H100:8'}\n",
        "name: there\nnum_nodes: 8\nresources: {infra: k8s/here, accelerators: 'H100:8'}\n",
        "name: bare\n",
        "",
    ],
    ids=["no accelerators", "another cloud", "kubernetes", "no resources", "empty"],
)
def test_what_is_none_of_our_business_passes(site: Site, task: str) -> None:
    assert ask(site, task).status == 200


@pytest.mark.parametrize(
    "resources",
    [
        "{accelerators: 'H100:8'}",
        "{accelerators: [T4, 'H100:8']}",
        "{any_of: [{infra: gcp}, {infra: aws}], accelerators: {H100: 8}}",
        "{ordered: [{accelerators: T4}, {instance_type: p5.48xlarge}]}",
        "{infra: '*/us-east-1', accelerators: 'H200:8'}",
        "{infra: aws, instance_type: p9.96xlarge}",
        "{infra: aws, accelerators: 'Z900:8'}",
    ],
)
def test_the_dearest_place_it_may_land_in_counts(site: Site, resources: str) -> None:
    reply = ask(site, f"name: llm-1\nnum_nodes: 8\nresources: {resources}\n")

    assert reply.status == 400


def test_hours_of_the_task_count(site: Site) -> None:
    short = BIG + "envs: {GPUCOST_HOURS: 0.1}\n"

    assert ask(site, short).status == 200
    wrong = ask(site, BIG + "envs: {GPUCOST_HOURS: soon}\n")
    assert wrong.status == 400
    assert "hours" in wrong.text


def test_the_job_is_the_label_that_becomes_a_tag(site: Site) -> None:
    task = BIG.replace("{infra", "{labels: {Job-Id: job-9}, infra")

    assert "--job job-9" in ask(site, task).text


@pytest.mark.parametrize(
    "raw",
    [
        "{}", '"{}"', '"x"', "[]", "null", '"' + "[" * 1000 + '"',
        json.dumps(json.dumps({"task": "a: [", "user": ""})),
        json.dumps(json.dumps({"task": "- a", "user": ""})),
        json.dumps(json.dumps({"task": "resources: {accelerators: 'H100:x'}"})),
        json.dumps(json.dumps({"task": "[" * 5000})),
    ],
)  # fmt: skip
def test_what_is_no_request_of_skypilot_is_an_error_and_no_yes(
    site: Site, raw: str
) -> None:
    reply = site.post(PATH, raw, token=site.token(Scope.ADMISSION))

    assert reply.status == 422


def test_the_token_may_be_the_password_of_the_url(site: Site) -> None:
    token = site.token(Scope.ADMISSION)
    pair = base64.b64encode(f"gpucost:{token}".encode()).decode()

    assert (
        site.ask("POST", PATH, body(TINY), authorization=f"Basic {pair}").status == 200
    )
    # Only here: elsewhere a header can be set.
    assert (
        site.ask("GET", "/v1/costs/jobs/a", authorization=f"Basic {pair}").status == 401
    )
    assert site.ask("POST", PATH, body(TINY), authorization="Basic %").status == 401


def _down(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the database away once the token was looked at."""

    def gone(*_: object, **__: object) -> None:
        reason = "it is gone"
        raise DatabaseUnavailableError(reason)

    monkeypatch.setattr("bot.wiring.desk.ApprovalDesk.rule_for", gone)
    monkeypatch.setattr("bot.wiring.grants.GrantDesk.verify", gone)


@pytest.mark.parametrize(
    ("choice", "big", "tiny"),
    [("over-limit", 400, 200), ("closed", 503, 503), ("open", 200, 200)],
)
def test_without_the_database_it_is_as_configured(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str,
    big: int, tiny: int,
) -> None:  # fmt: skip
    extra = f"http: {{admission: {{when_down: {choice}}}}}\n"
    with served(make_site(store, tmp_path, monkeypatch, extra=extra)) as site:
        _down(site, monkeypatch)

        assert (ask(site, BIG).status, ask(site, TINY).status) == (big, tiny)


def test_without_the_database_a_signature_is_believed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = site.token()
    filed = site.post("/v1/approvals", SMALL | {"reason": "a test"}, token=token)
    grant = filed.json["grant"]
    own = (
        "name: llm-1\nresources: {infra: aws/us-east-1, instance_type: p5.48xlarge}\n"
        f"envs: {{GPUCOST_GRANT: {grant}}}\n"
    )
    _down(site, monkeypatch)

    assert ask(site, own).status == 200
    assert ask(site, own.replace("llm-1", "llm-2", 1)).status == 400
