"""`gpucost ingest --source exports`: what is configured, or one place by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.settings import load_settings
from bot.use_cases.runner import Task
from bot.wiring.application import open_application
from bot.wiring.exports import export_checks
from bot.wiring.tasks import Children, PolicySet, Work, tasks
from tests.builders_exports import ACCOUNT_A, cur_row, focus_row, write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from billing.ports import ExportFiles
    from tests.builders_cli import Office

SEPTEMBER = ("--since", "2026-09-01", "--until", "2026-10-01")


def _no_bucket(location: str, spool: Path) -> ExportFiles:
    raise AssertionError(location)


def _configure(office: Office, exports: str) -> None:
    text = office.config.read_text(encoding="utf-8")
    office.config.write_text(f"{text}exports: {exports}\n", encoding="utf-8")


def test_a_path_is_read_into_the_ledger(office: Office, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "bill/a.csv", [focus_row(BilledCost="7.00")])

    found = office.json("ingest", "--source", "exports", "--path", str(table.parent))

    (report,) = found["imports"]
    assert (report["source"], report["account"]) == ("exports", ACCOUNT_A)
    assert (report["state"], report["total"], report["control_total"]) == (
        *("done", "7.00", "7.00"),
    )
    assert found["errors"] == []
    cost = office.json("cost", "job-1", *SEPTEMBER, "--metric", "billed")
    assert cost["total"] == "7.00"


def test_exported_days_answer_service_region_and_list_cost(
    office: Office, tmp_path: Path
) -> None:
    rows = [
        focus_row(ListCost="4.00"),
        focus_row(ListCost="1.00", ServiceName="Amazon FSx", RegionId="eu-west-1"),
    ]
    table = write_csv(tmp_path / "a.csv", rows)
    office.run("ingest", "--source", "exports", "--path", str(table))

    by = {
        dimension: office.json(
            "cost", "--by", dimension, *SEPTEMBER, "--metric", "list"
        )
        for dimension in ("service", "region")
    }

    assert {one["key"]: one["total"] for one in by["service"]["groups"]} == {
        "Amazon Elastic Compute Cloud": "4.00",
        "Amazon FSx": "1.00",
    }
    assert [one["key"] for one in by["region"]["groups"]] == ["us-east-2", "eu-west-1"]
    assert by["service"]["total"] == "5.00"


def test_a_path_belongs_to_exports_alone(office: Office) -> None:
    ran = office.run("ingest", "--source", "prices", "--path", "x")

    assert (ran.code, ran.out) == (2, "")
    assert "--path is of --source exports" in ran.err


def test_a_path_that_is_not_there_fails(office: Office, tmp_path: Path) -> None:
    ran = office.run("ingest", "--source", "exports", "--path", str(tmp_path / "gone"))

    assert ran.code == 1
    assert "there is no file or folder" in ran.out


def test_configured_exports_are_read_and_again_left_alone(
    office: Office, tmp_path: Path
) -> None:
    write_csv(tmp_path / "bill/a.csv", [focus_row()])
    _configure(office, f"[{{location: {tmp_path / 'bill'}, format: focus}}]")

    states = [
        office.json("ingest", "--source", "exports")["imports"][0]["state"]
        for _ in range(2)
    ]

    assert states == ["done", "unchanged"]


def test_an_export_of_another_format_than_configured_is_refused(
    office: Office, tmp_path: Path
) -> None:
    write_csv(tmp_path / "bill/a.csv", [cur_row()])
    _configure(office, f"[{{location: {tmp_path / 'bill'}, format: focus}}]")

    found = office.json("ingest", "--source", "exports")

    assert found["imports"] == []
    assert "of a cur export, not of focus" in found["errors"][0]["message"]


def test_nothing_configured_is_said(office: Office) -> None:
    found = office.json("ingest", "--source", "exports")

    assert found["notes"] == ["exports: none are configured"]


def test_an_engine_without_its_table_is_an_error_not_another_engine(
    office: Office, tmp_path: Path
) -> None:
    write_csv(tmp_path / "bill/a.csv", [focus_row()])
    _configure(office, f"[{{location: {tmp_path / 'bill'}, engine: athena}}]")

    found = office.json("ingest", "--source", "exports")

    assert found["imports"] == []
    assert "engine athena needs its table" in found["errors"][0]["message"]


def _tasks(office: Office) -> dict[str, Task]:
    import threading

    with open_application(str(office.config)) as application:
        work = Work(application, lambda: None, PolicySet(lambda: ()))
        children = Children(config_path="", stopping=threading.Event())
        return {one.name: one for one in tasks(application, work, children)}


def test_exports_are_scheduled_where_there_are_any(office: Office) -> None:
    without = _tasks(office)
    _configure(office, "[{location: /bill}]")

    assert "ingest-exports" not in without
    assert "ingest-exports" in _tasks(office)


@pytest.mark.parametrize(
    ("rows", "ok", "says"),
    [([focus_row()], True, "no manifest, delivered"), ([], False, "no file or folder")],
)
def test_doctor_says_what_lies_at_an_export(
    office: Office, tmp_path: Path, rows: list[dict[str, str]], says: str, *, ok: bool
) -> None:
    if rows:
        write_csv(tmp_path / "bill/a.csv", rows)
    _configure(office, f"[{{location: {tmp_path / 'bill'}}}]")

    (check,) = export_checks(load_settings(str(office.config)), _no_bucket)

    assert (check.ok, says in check.message) == (ok, True)
