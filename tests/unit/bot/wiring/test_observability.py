"""Dashboard and alerts ask for metrics that exist, and each alert has its runbook."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from bot.settings import load_settings
from bot.wiring.application import Application
from bot.wiring.health import metrics_text
from tests.builders import NOW
from tests.project import ROOT

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

RULES = YAML(typ="safe").load(
    (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text("utf-8")
)["groups"][0]["rules"]
DASHBOARD = json.loads(
    (ROOT / "deploy" / "grafana" / "gpucost.json").read_text("utf-8")
)
RUNBOOKS = (ROOT / "docs" / "runbooks.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
METRIC = re.compile(r"\bgpucost_\w+")


@pytest.fixture
def known(store: SqlStore) -> set[str]:
    """Return the metrics that there are, with or without values."""
    text = metrics_text(
        Application(settings=load_settings(), store=store, now=lambda: NOW)
    ).decode()
    return set(re.findall(r"^# TYPE (gpucost_\w+) ", text, re.MULTILINE))


def _dashboard() -> list[str]:
    return [
        target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]
    ]


def test_every_expression_asks_for_metrics_that_exist(known: set[str]) -> None:
    for expression in (*_dashboard(), *(rule["expr"] for rule in RULES)):
        asked = set(METRIC.findall(expression))

        assert asked or expression == 'up{job="gpucost"} == 0', expression
        assert asked <= known, expression


def test_every_metric_is_on_the_dashboard_and_documented(known: set[str]) -> None:
    shown = set(METRIC.findall(" ".join(_dashboard())))

    assert known - shown == set()
    assert known - set(METRIC.findall(OPERATIONS)) == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_each_alert_has_a_runbook_and_a_severity(rule: dict[str, Any]) -> None:
    name = rule["alert"]

    assert f"\n## {name}\n" in RUNBOOKS
    assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{name.lower()}"
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]


def test_no_runbook_is_of_an_alert_that_is_gone() -> None:
    named = set(re.findall(r"^## (\w+)$", RUNBOOKS, re.MULTILINE))

    assert named == {rule["alert"] for rule in RULES}


def test_brackets_of_every_expression_close() -> None:
    for expression in (*_dashboard(), *(rule["expr"] for rule in RULES)):
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), expression
