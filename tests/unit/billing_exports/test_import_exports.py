"""Periods are replaced by what was delivered last, whole or not at all."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from billing.core.attribution import TagKeys
from billing.core.charges import Source
from billing.core.money import Money, total
from billing.exports.engine import Reader
from tests.builders_exports import (
    ACCOUNT_A,
    ACCOUNT_B,
    DATA,
    LATER,
    aged,
    cur_row,
    delivered,
    focus_row,
    ingest,
    write_csv,
    write_manifest,
)
from tests.fakes.ledger import InMemoryLedgerStore

WINDOW = (date(2026, 9, 1), date(2026, 10, 1))


def _billed(store: InMemoryLedgerStore) -> dict[str, str]:
    sums: dict[str, Money] = {}
    for (_, account, _), rows in store.ledger.rows.items():
        billed = total(one.billed for one in rows)
        sums[account] = sums.get(account, Money.zero()) + billed
    return {account: amount.text() for account, amount in sums.items()}


def _deliver(root: Path, *parts: list[dict[str, str]], execution: str = "") -> Path:
    folder = f"data/BILLING_PERIOD=2026-09/{execution}".rstrip("/")
    names = [f"{folder}/gpu-{number}.csv.gz" for number, _ in enumerate(parts)]
    for name, rows in zip(names, parts, strict=True):
        write_csv(root / name, rows)
    write_manifest(
        root / "metadata/BILLING_PERIOD=2026-09/gpu-Manifest.json",
        exportArn="arn:aws:export/gpu",
        dataFiles=[f"s3://bill/gpu/{name}" for name in names],
    )
    return root


def _copied(file: Path, folder: Path) -> Path:
    return Path(shutil.copyfile(file, folder / file.name))


def _row(billed: str, **over: str) -> dict[str, str]:
    return focus_row(BilledCost=billed, EffectiveCost=billed) | over


def test_a_period_equals_its_newest_delivery(tmp_path: Path) -> None:
    # C049
    store = InMemoryLedgerStore()
    sums = []

    for parts, execution in (
        ([[_row("10"), _row("20")]], ""),
        ([[_row("10"), _row("25")], [_row("5")]], ""),
        ([[_row("10"), _row("25"), _row("5")]], "exec-7"),
    ):
        ingest(store, _deliver(tmp_path, *parts, execution=execution))
        sums.append(_billed(store)[ACCOUNT_A])

    assert sums == ["30.00", "40.00", "40.00"]


def test_an_account_that_is_delivered_no_more_costs_nothing(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    ingest(store, _deliver(tmp_path, [_row("10"), _row("7", SubAccountId=ACCOUNT_B)]))

    ingest(store, _deliver(tmp_path, [_row("10")]))

    assert _billed(store) == {ACCOUNT_A: "10.00", ACCOUNT_B: "0.00"}


def test_what_is_as_it_was_is_not_read_again(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    ingest(store, _deliver(tmp_path, [_row("10")]))
    rows = store.ledger.rows

    found = ingest(store, tmp_path)

    (report,) = found.imports
    assert (report.state, report.total, report.difference) == (
        "unchanged",
        Money.of("10"),
        Money.zero(),
    )
    assert store.ledger.rows == rows
    assert {day.equal_reads for day in store.ledger.days.values()} == {1}


def test_a_full_reading_reads_what_is_as_it_was(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    ingest(store, _deliver(tmp_path, [_row("10")]))

    found = ingest(store, tmp_path, full=True)

    assert [(one.state, one.charges) for one in found.imports] == [("done", 1)]
    assert _billed(store) == {ACCOUNT_A: "10.00"}


def test_other_job_tags_read_a_delivery_again(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    rows = [_row("10", Tags='{"run": "r-1"}')]
    first = ingest(store, _deliver(tmp_path, rows))

    ingest(store, tmp_path, keys=TagKeys(job=("run",)))

    jobs = {one.job for rows in store.ledger.rows.values() for one in rows}
    assert jobs == {"r-1"}
    assert any("none of the job tags" in note for note in first.notes)


def test_only_days_that_ended_are_covered(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    now = datetime(2026, 9, 3, 9, tzinfo=UTC)
    rows = [
        _row("1", ChargePeriodEnd="2026-09-02T00:00:00Z"),
        focus_row("2026-09-02", ChargePeriodEnd="2026-09-03T00:00:00Z"),
        focus_row("2026-09-03", ChargePeriodEnd="2026-09-03T08:00:00Z"),
    ]

    ingest(store, aged(_deliver(tmp_path, rows), now), now=now)

    assert sorted(day.isoformat() for _, _, day in store.ledger.days) == [
        "2026-09-01",
        "2026-09-02",
    ]


def test_a_month_that_ended_days_ago_is_covered_whole(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    delivered = datetime(2026, 10, 4, tzinfo=UTC)

    ingest(store, aged(_deliver(tmp_path, [_row("10")]), delivered))

    assert len(store.ledger.days) == 30


def test_an_invoice_makes_days_final(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    rows = [_row("1", InvoiceId="7"), _row("1", InvoiceId="7", SubAccountId=ACCOUNT_B)]
    rows[1]["InvoiceId"] = ""

    ingest(store, _deliver(tmp_path, rows))

    estimated = {day.account: day.is_estimated for day in store.ledger.days.values()}
    assert estimated == {ACCOUNT_A: False, ACCOUNT_B: True}


def test_a_delivery_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    ingest(store, _deliver(tmp_path, [_row("10")]))
    broken = tmp_path / "data/BILLING_PERIOD=2026-09/gpu-0.csv.gz"
    broken.write_bytes(broken.read_bytes()[:-9])

    found = ingest(store, tmp_path)

    assert _billed(store) == {ACCOUNT_A: "10.00"}
    assert [one.state for one in found.imports] == ["failed"]
    assert found.errors[0].code == "unreadable_export"


def test_a_month_without_lines_is_no_news_but_never_takes_lines_away(
    tmp_path: Path,
) -> None:
    store, other = InMemoryLedgerStore(), [_row("1", ProviderName="Oracle")]
    early = ingest(store, _deliver(tmp_path, other))
    ingest(store, _deliver(tmp_path, [_row("10")]))

    late = ingest(store, _deliver(tmp_path, other))

    assert early.errors == ()
    assert any("no lines of an AWS bill" in note for note in early.notes)
    assert late.errors[0].code == "incomplete_answer"
    assert _billed(store) == {ACCOUNT_A: "10.00"}


def test_a_table_of_headers_alone_has_no_lines(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [_row("1")])
    path.write_text(path.read_text("utf-8").splitlines()[0] + "\n", encoding="utf-8")

    found = ingest(InMemoryLedgerStore(), path)

    assert (found.errors, found.imports) == ((), ())
    assert "no lines of an AWS bill" in found.notes[0]


def test_another_currency_is_rejected(tmp_path: Path) -> None:
    # C051
    store = InMemoryLedgerStore()
    ingest(store, _deliver(tmp_path, [_row("10")]))

    found = ingest(store, _deliver(tmp_path, [_row("10", BillingCurrency="CNY")]))

    assert [one.state for one in found.imports] == ["rejected"]
    assert found.errors[0].code == "mixed_currency"
    assert "the ledger holds USD" in found.errors[0].message


def test_rows_of_another_month_than_the_manifest_s_are_refused(tmp_path: Path) -> None:
    rows = [focus_row("2026-08-01")]

    found = ingest(InMemoryLedgerStore(), _deliver(tmp_path, rows))

    assert "manifest is of 2026-09, rows are of 2026-08" in found.errors[0].message


def test_columns_that_the_manifest_lists_must_be_there(tmp_path: Path) -> None:
    _deliver(tmp_path, [_row("10")])
    write_manifest(
        tmp_path / "metadata/BILLING_PERIOD=2026-09/gpu-Manifest.json",
        dataFiles=["s3://bill/gpu/data/BILLING_PERIOD=2026-09/gpu-0.csv.gz"],
        columns=[{"name": "BilledCost"}, {"name": "InvoiceId"}],
    )

    found = ingest(InMemoryLedgerStore(), tmp_path)

    assert "not in the files: 'InvoiceId'" in found.errors[0].message


def test_one_broken_place_leaves_the_others_alone(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    good = write_csv(tmp_path / "good/a.csv", [_row("10")])

    found = ingest(store, tmp_path / "gone", good)

    assert _billed(store) == {ACCOUNT_A: "10.00"}
    assert len(found.errors) == 1


def test_two_exports_of_the_same_account_never_both_count(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()
    one = write_csv(tmp_path / "one.csv", [_row("10")])
    two = write_csv(tmp_path / "two.csv", [cur_row()])

    for _ in range(2):
        found = ingest(store, one, two)

        assert _billed(store) == {ACCOUNT_A: "10.00"}
        assert found.errors[0].code == "two_exports"


def test_periods_out_of_reach_are_left_alone(tmp_path: Path) -> None:
    _deliver(tmp_path, [_row("10")])

    early = ingest(InMemoryLedgerStore(), tmp_path, until=WINDOW[0])
    late = ingest(InMemoryLedgerStore(), tmp_path, since=WINDOW[1])
    within = ingest(InMemoryLedgerStore(), tmp_path, since=date(2026, 9, 20))

    assert (early.imports, late.imports) == ((), ())
    assert len(within.imports) == 1


def test_a_file_of_real_rows_is_imported_to_the_nano(tmp_path: Path) -> None:
    store = InMemoryLedgerStore()

    found = ingest(store, delivered(_copied(DATA / "focus_1_0.csv", tmp_path)))

    billed = total(one.total for one in found.imports)
    control = total(one.control_total for one in found.imports if one.control_total)
    assert abs((billed - control).nanos) < 100
    assert {one.source for one in found.imports} == {Source.EXPORTS}
    assert any("rows left out: of Microsoft" in note for note in found.notes)


def test_what_is_read_is_told_while_it_is_read(tmp_path: Path) -> None:
    from billing.exports import ExportFolder, import_exports

    told: list[str] = []
    place = ExportFolder(_deliver(tmp_path, [_row("1")]))

    import_exports(
        [place], InMemoryLedgerStore(), TagKeys(), now=LATER, progress=told.append
    )

    assert told == ["reading export gpu: 1 files", "storing export gpu: 2026-09"]


def test_files_that_are_written_while_they_are_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, root = InMemoryLedgerStore(), _deliver(tmp_path, [_row("1")])
    prepare = Reader.prepare

    def prepared(reader: Reader, keys: TagKeys) -> None:
        prepare(reader, keys)
        aged(root, LATER - timedelta(days=1))

    monkeypatch.setattr(Reader, "prepare", prepared)

    found = ingest(store, root)

    assert "changed while they were read" in found.errors[0].message
    assert store.ledger.days == {}


@pytest.mark.parametrize("hours", [-1, 0])
def test_nothing_ends_before_it_ended(tmp_path: Path, hours: int) -> None:
    store = InMemoryLedgerStore()
    now = datetime(2026, 9, 2, tzinfo=UTC) + timedelta(hours=hours)
    rows = [_row("1", ChargePeriodEnd="2026-09-02T00:00:00Z")]

    found = ingest(store, aged(_deliver(tmp_path, rows), now), now=now)

    assert len(store.ledger.days) == hours + 1
    assert bool(found.notes) is (hours < 0)
