"""Which files make up the newest delivery of each billing period."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from billing.exports import ExportFolder
from billing.exports.delivery import find_deliveries
from billing.exports.errors import IncompleteExportError, UnreadableExportError
from tests.builders_exports import DATA, cur_row, write_csv, write_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from billing.exports.delivery import Delivery

SEPTEMBER = date(2026, 9, 1)
BUCKET = "s3://bill/exports/gpu"


def _one(root: Path) -> Delivery:
    found = find_deliveries(ExportFolder(root))
    assert found.problems == ()
    (delivery,) = found.deliveries
    return delivery


def _data_export(root: Path, *, execution: str = "", parts: int = 1) -> None:
    """Deliver September as Data Exports does, overwriting or in a folder of its own."""
    period = "BILLING_PERIOD=2026-09"
    folder = f"data/{period}/{execution}".rstrip("/")
    names = [f"{folder}/gpu-0000{part + 1}.csv.gz" for part in range(parts)]
    for name in names:
        write_csv(root / name, [cur_row()])
    content = {
        "exportArn": "arn:aws:bcm-data-exports:us-east-1:012345678901:export/gpu-1",
        "executionId": execution or "e-1",
        "columns": [{"name": "line_item_usage_type", "type": "string"}],
        "dataFiles": [f"{BUCKET}/{name}" for name in names],
    }
    write_manifest(root / f"metadata/{period}/gpu-Manifest.json", **content)
    if execution:
        own = root / f"metadata/{period}/{execution}/gpu-Manifest.json"
        write_manifest(own, **content)


def test_a_data_export_is_its_manifest_s_files(tmp_path: Path) -> None:
    _data_export(tmp_path, parts=2)
    write_csv(tmp_path / "data/BILLING_PERIOD=2026-09/gpu-00003.csv.gz", [cur_row()])

    found = _one(tmp_path)

    names = [file.key.rpartition("/")[2] for file in found.files]
    assert names == ["gpu-00001.csv.gz", "gpu-00002.csv.gz"]
    assert (found.period, found.columns) == (SEPTEMBER, ("line_item_usage_type",))


def test_of_deliveries_that_are_kept_the_outer_manifest_names_the_newest(
    tmp_path: Path,
) -> None:
    _data_export(tmp_path, execution="20260902-e1")
    _data_export(tmp_path, execution="20260901-e2")

    assert "20260901-e2" in _one(tmp_path).files[0].key


def test_older_deliveries_may_be_cleared_away(tmp_path: Path) -> None:
    _data_export(tmp_path, execution="20260901-e1")
    _data_export(tmp_path, execution="20260902-e2")
    shutil.rmtree(tmp_path / "data/BILLING_PERIOD=2026-09/20260901-e1")

    assert "20260902-e2" in _one(tmp_path).files[0].key


def test_a_broken_newest_delivery_is_not_replaced_by_an_older_one(
    tmp_path: Path,
) -> None:
    _data_export(tmp_path, execution="20260901-e1")
    _data_export(tmp_path, execution="20260902-e2")
    shutil.rmtree(tmp_path / "data/BILLING_PERIOD=2026-09/20260902-e2")

    found = find_deliveries(ExportFolder(tmp_path))

    assert (found.deliveries, len(found.problems)) == ((), 1)


@pytest.mark.parametrize("kept", ["", "reports/", "reports/gpu/20260901-20261001/"])
def test_a_legacy_report_is_found_wherever_the_folder_begins(
    tmp_path: Path, kept: str
) -> None:
    whole = "reports/gpu/20260901-20261001/"
    inside = whole.removeprefix(kept)
    write_csv(tmp_path / f"{inside}a-1/gpu-1.csv.gz", [cur_row()])
    write_manifest(
        tmp_path / f"{inside}gpu-Manifest.json",
        reportName="gpu",
        billingPeriod={"start": "20260901T000000.000Z", "end": "20261001T000000.000Z"},
        columns=[{"category": "lineItem", "name": "UsageType"}],
        reportKeys=[f"/{whole}a-1/gpu-1.csv.gz"],
    )

    found = _one(tmp_path)

    assert (found.period, found.name) == (SEPTEMBER, "gpu")
    assert found.columns == ("lineItem/UsageType",)
    assert [file.key for file in found.files] == [f"{inside}a-1/gpu-1.csv.gz"]


@pytest.mark.parametrize("name", ["cur_legacy_small", "cur_2_0"])
def test_manifests_of_both_generations_list_files(tmp_path: Path, name: str) -> None:
    shutil.copy(DATA / f"{name}-Manifest.json", tmp_path)

    found = find_deliveries(ExportFolder(tmp_path))

    assert found.deliveries == ()
    assert "is not there" in found.problems[0][1]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    _data_export(tmp_path, parts=2)
    (tmp_path / "data/BILLING_PERIOD=2026-09/gpu-00002.csv.gz").unlink()

    ((name, message),) = find_deliveries(ExportFolder(tmp_path)).problems

    assert name == "metadata/BILLING_PERIOD=2026-09/gpu-Manifest.json"
    assert "'gpu-00002.csv.gz' is not there" in message


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"dataFiles": 1}', '{"dataFiles": ["a/../../b.csv"]}']
)
def test_a_broken_manifest_is_a_problem_not_a_bill(
    tmp_path: Path, content: str
) -> None:
    write_csv(tmp_path / "b.csv", [cur_row()])
    (tmp_path / "gpu-Manifest.json").write_text(content, encoding="utf-8")

    found = find_deliveries(ExportFolder(tmp_path))

    assert (found.deliveries, len(found.problems)) == ((), 1)


def test_a_changed_manifest_or_file_is_another_delivery(tmp_path: Path) -> None:
    _data_export(tmp_path)
    first = _one(tmp_path)
    same = _one(tmp_path)
    write_csv(
        tmp_path / "data/BILLING_PERIOD=2026-09/gpu-00001.csv.gz", [cur_row()] * 2
    )
    second = _one(tmp_path)

    assert first == same
    assert first.fingerprint != second.fingerprint
    assert first.export == second.export


def test_a_folder_without_a_manifest_is_one_delivery(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [cur_row()])
    write_csv(tmp_path / "b.csv", [cur_row()])

    found = _one(tmp_path)

    assert [file.key.rpartition("/")[2] for file in found.files] == ["a.csv", "b.csv"]
    assert found.period is None


def test_deliveries_side_by_side_without_a_manifest_are_refused(tmp_path: Path) -> None:
    for execution in ("e-1", "e-2"):
        write_csv(tmp_path / execution / "a.csv", [cur_row()])

    with pytest.raises(IncompleteExportError, match="no manifest: name the folder"):
        find_deliveries(ExportFolder(tmp_path))


def test_a_place_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IncompleteExportError, match="no file or folder"):
        find_deliveries(ExportFolder(tmp_path / "gone"))
    with pytest.raises(IncompleteExportError, match="no manifest, Parquet or CSV"):
        find_deliveries(ExportFolder(tmp_path))


def test_a_folder_of_countless_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("billing.exports.delivery.FILES_MAX", 2)
    for name in "abc":
        write_csv(tmp_path / f"{name}.csv", [cur_row()])

    with pytest.raises(UnreadableExportError, match="over 2 files"):
        find_deliveries(ExportFolder(tmp_path))


def test_a_delivery_is_as_old_as_its_newest_file(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [cur_row()])

    assert _one(tmp_path).delivered_at > datetime(2020, 1, 1, tzinfo=UTC)
