"""What is shipped to run gpucost: pinned, without rights it does not need, consistent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from deploy.docker import healthcheck
from deploy.roles import OPEN, TEMPLATE, template
from tests.project import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DEPLOY = ROOT / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
CHART = DEPLOY / "helm" / "gpucost"
LOCK = DEPLOY / "docker" / "requirements.txt"
USER = 10001
VERSION = re.search(
    r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE
)


def _yaml(path: Path) -> Any:
    return YAML(typ="rt").load(path.read_text("utf-8"))


def _rendered(name: str) -> Any:
    """Read a template of the chart: directives left out, values as a word."""
    text = (CHART / "templates" / name).read_text("utf-8")
    text = re.sub(r"^\s*\{\{-?[^}]*\}\}\s*$\n?", "", text, flags=re.MULTILINE)
    return YAML(typ="safe").load(re.sub(r"\{\{[^}]*\}\}", "value", text))


# ----------------------------------------------------------------------- image


def test_images_name_an_exact_version() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    compose = _yaml(DEPLOY / "compose" / "compose.yaml")["services"]
    named = [*bases, *(one["image"] for one in compose.values())]

    assert len(named) == 4
    for image in named:
        assert re.fullmatch(r"[a-z]+:\d+\.\d+[.\w-]*", image), image


def test_the_image_runs_as_nobody_in_particular_and_can_be_read_only() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert f"USER {USER}:{USER}" in last
    assert "HEALTHCHECK" in last
    assert "pip install" not in last
    assert 'ENTRYPOINT ["gpucost"]' in last


def test_the_image_installs_nothing_without_its_hash() -> None:
    installs = re.findall(r"pip install (.*)", DOCKERFILE)

    assert installs == [
        "--require-hashes -r requirements.txt",
        "--no-deps --no-build-isolation . \\",
    ]
    pinned = re.findall(
        r"^[a-z][^\s=]*==(?:.|\n)*?(?=^[a-z]|\Z)", LOCK.read_text("utf-8"), re.MULTILINE
    )
    assert len(pinned) > 40
    assert all("--hash=sha256:" in one for one in pinned)


def test_no_lock_names_where_packages_come_from() -> None:
    for path in (LOCK, *ROOT.glob("requirements*.txt")):
        assert "index-url" not in path.read_text("utf-8")
    assert "index-url" not in DOCKERFILE


def test_the_image_installs_the_versions_that_are_tested() -> None:
    tested = dict(_pins(ROOT / "requirements.txt"))
    shipped = dict(_pins(LOCK))

    assert shipped.items() <= tested.items()
    assert "moto" not in shipped


def _pins(path: Path) -> list[tuple[str, str]]:
    return re.findall(
        r"^([a-z0-9][\w.-]*)==([^\s;]+)", path.read_text("utf-8"), re.MULTILINE
    )


def test_the_build_sees_only_what_it_needs() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)

    assert "*" in lines
    for name in " ".join(copied).split():
        top = "deploy/docker" if name.startswith("deploy/docker") else name
        assert f"!{top}" in lines, name


def test_a_service_that_does_not_answer_is_not_healthy() -> None:
    assert not healthcheck.healthy(1)


# --------------------------------------------------------------------- compose


def test_compose_gives_gpucost_no_rights_and_its_port_to_this_machine_alone() -> None:
    service = _yaml(DEPLOY / "compose" / "compose.yaml")["services"]["gpucost"]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["user"] == f"{USER}:{USER}"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_every_variable_of_compose_is_in_its_example() -> None:
    text = (DEPLOY / "compose" / "compose.yaml").read_text("utf-8")
    example = (DEPLOY / "compose" / "env.example").read_text("utf-8")

    assert set(re.findall(r"\$\{(\w+)", text)) == set(
        re.findall(r"^(\w+)=", example, re.MULTILINE)
    )


# ------------------------------------------------------------------------ helm


def test_the_charts_values_fit_their_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = YAML(typ="safe").load((CHART / "values.yaml").read_text("utf-8"))

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(values, schema)
    assert set(values) == set(schema["properties"]) - {"global"}


@pytest.mark.parametrize(
    "change",
    [
        {"replicas": 0},
        {"image": {"repository": "gpucost", "tag": "latest"}},
        {"config": {"http": {"host": "127.0.0.1", "port": 8080}}},
        {"replica": 2},
    ],
)
def test_values_that_would_not_run_are_refused(change: dict[str, Any]) -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = YAML(typ="safe").load((CHART / "values.yaml").read_text("utf-8"))

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values | change, schema)


def test_every_value_a_template_uses_exists() -> None:
    values = YAML(typ="safe").load((CHART / "values.yaml").read_text("utf-8"))
    used = {
        found
        for path in (CHART / "templates").iterdir()
        for found in re.findall(r"\.Values\.([\w.]+)", path.read_text("utf-8"))
    }

    for name in used:
        value: Any = values
        for part in name.split("."):
            assert part in value, name
            value = value[part]


def test_pods_run_without_rights_and_are_probed() -> None:
    spec = _rendered("deployment.yaml")["spec"]["template"]["spec"]
    (container,) = spec["containers"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == USER
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_secrets_come_from_a_secret_alone() -> None:
    (container,) = _rendered("deployment.yaml")["spec"]["template"]["spec"][
        "containers"
    ]
    plain = {one["name"] for one in container["env"] if "value" in one}

    assert plain == {"GPUCOST_CONFIG", "GPUCOST_POLICIES"}
    assert not (CHART / "templates" / "secret.yaml").exists()


@pytest.mark.parametrize(
    "name",
    [
        "configmap.yaml",
        "service.yaml",
        "serviceaccount.yaml",
        "poddisruptionbudget.yaml",
    ],
)
def test_each_template_is_one_object(name: str) -> None:
    assert {"apiVersion", "kind", "metadata"} <= set(_rendered(name))


def test_one_version_everywhere() -> None:
    assert VERSION is not None
    chart = _yaml(CHART / "Chart.yaml")
    compose = _yaml(DEPLOY / "compose" / "compose.yaml")["services"]["gpucost"]

    assert {chart["version"], chart["appVersion"]} == {VERSION[1]}
    assert _yaml(CHART / "values.yaml")["image"]["tag"] == VERSION[1]
    assert compose["image"] == f"gpucost:{VERSION[1]}"


# --------------------------------------------------------------------- systemd


def test_the_unit_gives_the_service_no_rights() -> None:
    lines = set(
        (DEPLOY / "systemd" / "gpucost.service").read_text("utf-8").splitlines()
    )

    assert {
        "DynamicUser=yes", "NoNewPrivileges=yes", "CapabilityBoundingSet=",
        "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes",
        "SystemCallFilter=@system-service",
    } <= lines  # fmt: skip


# ------------------------------------------------------------------------- AWS


def test_the_roles_template_is_what_the_shipped_policies_say() -> None:
    assert TEMPLATE.read_text("utf-8") == template(), "run `python -m deploy.roles`"


@pytest.mark.parametrize(
    ("resource", "file"),
    [("ReadPolicy", "iam-read.json"), ("EnforceRole", "iam-enforce.json")],
)
def test_each_role_allows_exactly_its_policy(resource: str, file: str) -> None:
    properties = _yaml(TEMPLATE)["Resources"][resource]["Properties"]
    inline = properties.get("Policies", [properties])[0]["PolicyDocument"]
    shipped = json.loads((DEPLOY / "aws" / file).read_text("utf-8"))

    statements = [
        one["Fn::If"][1] if "Fn::If" in one else one for one in inline["Statement"]
    ]
    assert len(statements) == len(shipped["Statement"])
    for ours, theirs in zip(statements, shipped["Statement"], strict=True):
        for key in ("Effect", "Action", "Condition"):
            assert ours.get(key) == theirs.get(key)
        assert _resources(ours["Resource"]) == _resources(theirs["Resource"])


def _resources(named: Any) -> list[str]:
    """Return ARNs with parameters as the shipped policies write them."""
    found = []
    for one in [named] if isinstance(named, str) else named:
        text = one if isinstance(one, str) else one["Fn::Sub"]
        for word, name in OPEN.items():
            text = text.replace(f"${{{name}}}", word)
        found.append(text)
    return found


def test_only_the_role_that_gpucost_runs_as_may_take_the_roles() -> None:
    resources = _yaml(TEMPLATE)["Resources"]

    for name in ("ReadRole", "EnforceRole"):
        (trust,) = resources[name]["Properties"]["AssumeRolePolicyDocument"][
            "Statement"
        ]
        assert trust["Condition"] == {
            "ArnEquals": {"aws:PrincipalArn": {"Ref": "RunsAs"}}
        }


def test_the_service_may_take_the_enforce_role_only_where_asked() -> None:
    resources = _yaml(DEPLOY / "aws" / "service" / "template.yaml")["Resources"]
    shipped = json.loads(
        (DEPLOY / "aws" / "iam-assume-enforce.json").read_text("utf-8")
    )
    taking = resources["TakeEnforceRole"]

    assert taking["Condition"] == "Enforces"
    assert taking["Properties"]["PolicyDocument"] == shipped


def test_the_task_is_read_only_and_not_root() -> None:
    resources = _yaml(DEPLOY / "aws" / "service" / "template.yaml")["Resources"]
    (container,) = resources["Task"]["Properties"]["ContainerDefinitions"]

    assert container["ReadonlyRootFilesystem"] is True
    assert container["User"] == f"{USER}:{USER}"
    assert {one["Name"] for one in container["Secrets"]} >= {
        "PGPASSWORD",
        "SLACK_BOT_TOKEN",
    }
    database = resources["Database"]["Properties"]
    assert database["StorageEncrypted"] is True
    assert database["PubliclyAccessible"] is False
    assert database["DeletionProtection"] is True
