"""What a run can bear, over HTTP as on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.api.models import EstimateBody
from bot.use_cases.estimate import PlanTexts

if TYPE_CHECKING:
    from tests.builders_http import Site

RUN = {"instance_type": "p5.48xlarge", "count": 2, "hours": 72}


def test_options_of_the_command_are_options_of_the_body(site: Site) -> None:
    body = RUN | {
        "deadline": "2099-12-20", "interruptible": True, "stage": "production",
        "model_params": "70B", "compare": "on-premises",
        "on_premises": "price=$300,000", "retrain_per_year": "12",
    }  # fmt: skip

    reply = site.post("/v1/estimates", body, token=site.token())

    assert reply.status == 200
    names = {line["name"] for line in reply.json["lines"]}
    assert {"checkpoints", "deadline", "retraining"} <= names
    assert "on-premises" in {one["what"] for one in reply.json["alternatives"]}


def test_everything_wrong_is_told_at_once(site: Site) -> None:
    body = RUN | {"stage": "soon", "model_params": "many"}

    reply = site.post("/v1/estimates", body, token=site.token())

    assert reply.status in {400, 422}
    assert "stage must be" in str(reply.json)
    assert "model-params must be" in str(reply.json)


def test_the_body_knows_every_option_of_a_plan() -> None:
    known = set(EstimateBody.model_fields) | {"is_time_limit", "is_interruptible"}

    assert set(PlanTexts.__dataclass_fields__) <= known
