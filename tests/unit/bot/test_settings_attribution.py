"""The section of the configuration that says whom cost belongs to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from billing.core.assignments import MappingRule
from billing.core.attribution import TagKeys
from billing.core.claims import AttributionRules
from bot.settings.attribution import AttributionSection, attribution_rules

RULE = {"where": {"region": "us-east-1"}, "team": "NLP"}


def rules(**section: Any) -> AttributionRules:
    return attribution_rules(
        AttributionSection.model_validate(section), TagKeys(), is_proportional=False
    )


def test_an_empty_section_is_the_default() -> None:
    assert rules() == AttributionRules()


def test_rules_name_teams_and_jobs_as_they_are_stored() -> None:
    found = rules(
        rules=[
            RULE,
            {"where": {"tag": {"project": "bert"}}, "job": " Job-7 ", "name": "bert"},
        ],
        late_tags="10m",
        shared=[],
    )

    assert found.mapping == (
        MappingRule(to_key="team:nlp", name="1", region="us-east-1"),
        MappingRule(to_key="job-7", name="bert", tag_key="project", tag_value="bert"),
    )
    assert (found.late_tags, found.shares) == (timedelta(minutes=10), ())


@pytest.mark.parametrize(
    "section",
    [
        {"rules": [{"where": {}, "team": "a"}]},
        {"rules": [{"where": {"region": "x"}}]},
        {"rules": [RULE | {"job": "b"}]},
        {"rules": [{"where": {"account": "123"}, "team": "a"}]},
        {"rules": [{"where": {"tag": {"a": "1", "b": "2"}}, "team": "a"}]},
        {"parents": ["mesos"]},
        {"shared": ["s3"]},
        {"late_tags": "25h"},
        {"late": "1h"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(section: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AttributionSection.model_validate(section)
