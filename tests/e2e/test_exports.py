"""An export in a bucket, read by `serve` on its own, beside a Cost Explorer that differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.aws.builders import days, instant
from deploy.sandbox.aws.world import ObjectSeed
from deploy.sandbox.slack import SlackSandbox
from tests.builders_exports import focus_row, write_csv
from tests.e2e.conftest import Opens
from tests.e2e.support import Place
from tests.e2e.world import ACCOUNT, FIRST_DAY, JOB, LAST_DAY, NEVER, company

DELIVERED = "2026-04-14T05:00:00Z"
TABLE = "data/BILLING_PERIOD=2026-04/gpu-00001.csv"
MANIFEST = "metadata/BILLING_PERIOD=2026-04/gpu-Manifest.json"
WHOLE_DAYS = ("--since", FIRST_DAY, "--until", LAST_DAY)


def _objects(folder: Path) -> list[ObjectSeed]:
    """Deliver six whole days of the job, $2 each at a list cost of $3."""
    rows = [
        focus_row(
            day.isoformat(), SubAccountId=ACCOUNT, Tags=f'{{"job-id": "{JOB}"}}',
            ChargePeriodEnd=f"{day}T23:59:59.999999Z",
            BilledCost="2.00", EffectiveCost="2.00", ListCost="3.00",
        )
        for day in days(FIRST_DAY, LAST_DAY)
    ]  # fmt: skip
    # The export knows the day to its end once usage of the next has begun.
    rows.append(
        focus_row(LAST_DAY, SubAccountId=ACCOUNT, Tags=f'{{"job-id": "{JOB}"}}')
    )
    texts = {
        TABLE: write_csv(folder / "gpu.csv", rows).read_text("utf-8"),
        MANIFEST: f'{{"dataFiles": ["s3://bill/exports/gpu/{TABLE}"]}}',
    }
    return [
        ObjectSeed(
            bucket="bill", key=f"exports/gpu/{name}", text=text,
            modified_at=instant(DELIVERED),
        )
        for name, text in texts.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def place(
    opens: Opens,
    aws: AwsSandbox,
    slack: SlackSandbox,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    """Serve until the export was read once."""
    aws.reset(company(objects=_objects(tmp_path_factory.mktemp("bill"))))
    exports = [{"location": "s3://bill/exports/gpu", "format": "focus"}]
    with opens(slack, schedule=NEVER, exports=exports) as opened:
        opened.skip_first_reads()
        running = opened.serve().ready()
        running.tasks("ingest-exports")
        running.stop()
        yield opened


def test_what_was_delivered_is_answered_by_service_and_list_cost(place: Place) -> None:
    found = place.json("cost", JOB, *WHOLE_DAYS, "--by", "service", "--metric", "list")

    assert found["total"] == "18.00"
    assert [one["key"] for one in found["groups"]] == ["Amazon Elastic Compute Cloud"]


def test_cost_explorer_leaves_delivered_days_alone(place: Place) -> None:
    read = place.json("ingest", "--source", "cost-explorer", "--since", FIRST_DAY)

    (report,) = read["imports"]
    assert (report["state"], report["since"]) == ("done", LAST_DAY)
    assert place.json("cost", JOB, *WHOLE_DAYS)["total"] == "12.00"
    assert place.run("db", "check").code == 0


def test_an_unchanged_delivery_is_not_fetched_again(
    place: Place, aws: AwsSandbox
) -> None:
    aws.requests.clear()

    (report,) = place.json("ingest", "--source", "exports")["imports"]

    assert report["state"] == "unchanged"
    assert aws.requests.count("GetObject") == 1  # The manifest alone.
    assert list((place.root / "data/spool").iterdir()) == []
