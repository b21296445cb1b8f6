"""Commands about what is to come: their documents, texts and errors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.builders import day
from tests.builders_use_cases import costs

if TYPE_CHECKING:
    from tests.builders_cli import Office
    from tests.builders_use_cases import Company

RUN = ("--instance-type", "p5.48xlarge", "--count", "32", "--hours", "72")
DAYS = [(day("2026-11-30") - timedelta(days=n)).isoformat() for n in range(60, 0, -1)]
#: What the contract names, and nothing else.
KEYS = {
    *("schema", "currency", "hourly", "compute", "low", "expected", "high"),
    *("lines", "price", "alternatives", "approval"),
}


@pytest.fixture
def billed(fresh: Office, company: Company) -> Office:
    company.bills(
        *(costs(one, "100", job="llm-1") for one in DAYS),
        costs("2026-11-27", "4000", job="llm-9"),
        days=DAYS,
        through="2026-11-30T00:00:00Z",
    )
    return fresh


def test_every_option_leaves_the_keys_of_the_contract(office: Office) -> None:
    document = office.json(
        "estimate", *RUN, "--job", "llm-1", "--deadline", "2026-12-20",
        "--interruptible", "--stage", "production", "--model-params", "70B",
        "--optimizer", "adam", "--checkpoint-every", "30m", "--keep", "7d",
        "--compare", "on-premises,managed", "--on-premises", "price=$300,000",
        "--retrain-per-year", "12",
    )  # fmt: skip

    assert set(document) == KEYS
    assert document["compute"] == "126812.16"  # the shipped list price
    names = [line["name"] for line in document["lines"]]
    assert names == [
        "compute", "your price", "synchronisation and idle", "checkpoints",
        "deadline", "saving", "retraining",
    ]  # fmt: skip
    assert {"on-premises", "sagemaker or hyperpod"} <= {
        one["what"] for one in document["alternatives"]
    }


def test_bad_inputs_are_told_all_at_once(office: Office) -> None:
    ran = office.run(
        "estimate", "--instance-type", "p5.48xlrge", "--count", "0", "--hours", "-1",
        "--stage", "soon", "--model-params", "many", "--keep", "forever",
    )  # fmt: skip

    assert ran.code == 2
    assert "6 errors, nothing was done" in ran.err
    assert "Did you mean p5.48xlarge" in ran.err


def test_estimates_are_kept_and_listed(office: Office) -> None:
    office.json("estimate", *RUN, "--job", "llm-1")
    office.json("estimate", *RUN)

    document = office.json("estimates")

    (kept,) = document["estimates"]
    assert (kept["job"], kept["count"], kept["actual"]) == ("llm-1", 32, None)
    assert document["score"] == {
        "judged": 0, "waiting": 1, "within": 0, "coverage": None, "median_error": None,
    }  # fmt: skip
    assert "1 waits for its bill" in office.run("estimates").out


def test_no_estimate_yet_says_how_to_make_one(office: Office) -> None:
    assert "--job" in office.run("estimates").out


def test_a_request_for_approval_keeps_its_estimate(office: Office) -> None:
    office.run(
        "approval", "request", *RUN, "--job", "llm-1",
        "--requester", "mia@example.com", "--reason", "release",
    )  # fmt: skip

    (kept,) = office.json("estimates")["estimates"]
    assert kept["request"].startswith("apr-")


def test_a_finished_run_judges_its_estimate(office: Office, company: Company) -> None:
    office.json("estimate", *RUN, "--job", "llm-5")
    company.bills(
        costs("2026-11-30", "300000", job="llm-5"), days=["2026-11-30"],
        through="2026-12-01T00:00:00Z",
    )  # fmt: skip

    document = office.json("estimates")

    assert document["score"]["judged"] == 1
    assert document["estimates"][0]["actual"] == "300000.00"


def test_the_forecast_has_a_range_and_says_how_it_was_tried(billed: Office) -> None:
    document = billed.json("forecast")

    assert document["month"] == "2026-11"
    assert document["known_until"] == "2026-11-30T00:00:00Z"
    assert document["so_far"] == "6900.00"
    assert float(document["low"]) <= float(document["expected"])
    assert document["backtest"]["trials"] > 0
    assert "expected at its end" in billed.run("forecast").out


def test_a_forecast_is_of_a_team_or_of_a_job(billed: Office) -> None:
    ran = billed.run("forecast", "--team", "a", "--job", "b")

    assert ran.code == 2
    assert "not both" in ran.err


def test_a_forecast_of_an_unknown_job_names_near_ones(billed: Office) -> None:
    ran = billed.run("forecast", "--job", "llm-2")

    assert ran.code == 1
    assert "llm-1" in ran.err


def test_anomalies_name_the_day_and_the_job(billed: Office) -> None:
    document = billed.json("anomalies", "--no-aws")

    (found,) = document["items"]
    assert (found["day"], found["cost"], found["usual"]) == (
        "2026-11-27", "4100.00", "100.00",
    )  # fmt: skip
    assert found["causes"][0]["key"] == "llm-9"
    assert document["aws"] == {"read_at": None, "problem": None, "items": []}


def test_a_higher_floor_leaves_small_ones_out(billed: Office) -> None:
    document = billed.json("anomalies", "--no-aws", "--floor", "$5,000")

    assert (document["floor"], document["items"]) == ("5000.00", [])
