"""Every kind has a page; its keys, defaults, example and message are true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from policies.core.capabilities import LIFECYCLES, MANAGERS, VERBS, refusal_of
from policies.core.catalogue import KINDS, Policy, message
from policies.core.conditions import INSTANCE_FIELDS, JOB_FIELDS
from policies.core.document import Mode
from policies.core.evaluate import evaluate
from policies.core.facts import Facts
from policies.core.spelling import spelled
from policies.load import json_schema, load_policies, load_text
from tests.builders_policies import (
    NOW,
    gpu_series,
    idle_instance,
    make_coverage,
    make_facts,
    make_instance,
    make_job,
    make_listing,
    make_month,
    saved_steps,
)
from tests.builders_watching import (
    make_anomaly,
    make_launch,
    make_reservation,
    make_transfer,
    make_work,
)
from tests.project import ROOT

PAGES = ROOT / "docs" / "policies"
LIBRARY = ROOT / "policies" / "library"
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: The situation whose message each page shows.
SITUATIONS: dict[str, Callable[[], Facts]] = {
    "approval": lambda: make_facts(jobs=[make_job(spent="12000", predicted="40000")]),
    "idle": lambda: make_facts(idle_instance()),
    "ttl": lambda: make_facts(idle_instance(running_for=timedelta(hours=23))),
    "checkpoint-retention": lambda: make_facts(
        checkpoints=[make_listing(saved_steps(1000, 2000, 3000, 4000, 5000))]
    ),
    "commitment-coverage": lambda: make_facts(
        commitments=[
            make_coverage(
                "64800",
                "180000",
                baseline_pct=45.0,
                baseline="200",
                plan_share=Fraction(72, 100),
            )
        ]
    ),
    "budget": lambda: make_facts(team_months=[make_month(forecast="212500")]),
    "job-spend": lambda: make_facts(jobs=[make_job(spent="61234.50")]),
    "utilization": lambda: make_facts(
        make_instance(series=gpu_series([40.0] * 24, [36.0] * 24))
    ),
    "tagging": lambda: make_facts(make_instance(owner="", environment="devv")),
    "stalled": lambda: make_facts(
        make_instance(series=gpu_series([100.0] * 24, [100.0] * 24)),
        jobs=[make_job(progressed=timedelta(hours=2))],
    ),
    "failed-launch": lambda: make_facts(
        launches=[make_launch(), make_launch(ago=timedelta(hours=1))]
    ),
    "capacity": lambda: make_facts(
        make_instance(job="job-9"), reservations=[make_reservation()]
    ),
    "anomaly": lambda: make_facts(anomalies=[make_anomaly()]),
    "efficiency": lambda: make_facts(jobs=[make_job()], work=[make_work()]),
    "placement": lambda: make_facts(jobs=[make_job()], transfers=[make_transfer()]),
    "custom": lambda: make_facts(jobs=[make_job(gpus=512, instances=64)]),
}


def page(kind: str) -> str:
    return (PAGES / f"{kind}.md").read_text(encoding="utf-8")


def example(kind: str) -> Policy:
    match = BLOCK.search(page(kind))
    assert match is not None
    loaded, errors = load_text(match[1], f"{kind}.md")
    assert [str(error) for error in errors] == []
    return next(policy for policy in loaded if policy.kind == kind)


def key_rows(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Return the table rows that describe a model's keys."""
    for name, field in model.model_fields.items():
        if name in {"name", "kind", "description", "mode", "limits"}:
            continue
        key = f"{prefix}{field.alias or name}"
        default = (
            "required"
            if field.is_required()
            else shown(field.get_default(call_default_factory=True))
        )
        yield f"| `{key}` | {default} | {field.description} |"
        inner = first_model(field.annotation)
        if inner is not None:
            yield from key_rows(inner, f"{key}.")


def shown(value: object) -> str:
    if value is None or value in ((), {}):
        return "none"
    text = spelled(value)
    if isinstance(text, dict):
        return "`" + ", ".join(f"{key}: {one}" for key, one in text.items()) + "`"
    if isinstance(text, list) and not isinstance(text[0], dict):
        return f"`{', '.join(str(one) for one in text)}`"
    if isinstance(text, list):
        return (
            "`"
            + "; ".join(", ".join(f"{k}: {v}" for k, v in one.items()) for one in text)
            + "`"
        )
    return f"`{str(text).lower() if isinstance(text, bool) else text}`"


def first_model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (first_model(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)


# C139
@pytest.mark.parametrize("kind", KINDS)
def test_every_key_and_default_is_documented(kind: str) -> None:
    missing = [row for row in key_rows(KINDS[kind].model) if row not in page(kind)]

    assert missing == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_on_the_page_is_the_message_a_person_gets(kind: str) -> None:
    findings = evaluate([example(kind)], SITUATIONS[kind](), NOW).findings

    assert f"```text\n{message(findings[0])}\n```" in page(kind)


def test_every_kind_is_linked_from_the_index() -> None:
    index = page("index")

    assert [kind for kind in KINDS if f"({kind}.md)" not in index] == []


def test_every_field_of_conditions_is_documented() -> None:
    rows = [
        f"| `{name}` | {kind} | {meaning} |"
        for name, (kind, meaning) in (JOB_FIELDS | INSTANCE_FIELDS).items()
    ]

    assert [row for row in rows if row not in page("index")] == []


def test_the_published_table_of_verbs_is_the_one_in_force() -> None:
    rows = [verb_row(verb, manager) for manager in MANAGERS for verb in VERBS]

    assert [row for row in rows if row and row not in page("index")] == []


def verb_row(verb: str, manager: str) -> str:
    fits = [one for one in LIFECYCLES if refusal_of(verb, manager, one) is None]
    return f"| {manager} | {verb} | {', '.join(fits)} |" if fits else ""


def test_the_library_loads_and_only_observes() -> None:
    loaded, errors = load_policies([LIBRARY])

    assert errors == ()
    assert {policy.kind for policy in loaded} == set(KINDS)
    assert {policy.mode for policy in loaded} == {Mode.OBSERVE}


# ------------------------------------------------------------------- JSON Schema


def yaml_files() -> list[str]:
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted(LIBRARY.glob("*"))
        if not path.name.endswith(".test.yaml")
    ]
    return texts + [match for kind in KINDS for match in BLOCK.findall(page(kind))]


def test_the_schema_is_valid_and_accepts_what_loads() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    for text in yaml_files():
        data = YAML(typ="safe", pure=True).load(text)
        assert [error.message for error in validator.iter_errors(data)] == []


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "ttl"},
        {"name": "a", "kind": "none"},
        {"name": "a", "kind": "ttl", "defautl": "24h"},
        {"name": "a", "kind": "ttl", "default": "24 hours"},
        {"name": "a", "kind": "ttl", "mode": "on"},
    ],
)
def test_the_schema_refuses_what_does_not_load(policy: dict[str, object]) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())

    assert not validator.is_valid({"policies": [policy]})


def test_every_key_in_the_schema_says_what_it_means() -> None:
    silent = [
        f"{name}.{key}"
        for name, definition in json_schema()["$defs"].items()
        for key, value in definition.get("properties", {}).items()
        if "description" not in value and key != "kind"
    ]

    assert silent == []


def test_the_library_is_installed_with_the_package() -> None:
    assert sorted(path.suffix for path in LIBRARY.iterdir()) == [".yaml"] * len(
        list(Path(LIBRARY).glob("*.yaml"))
    )
