"""Cut, swapped and inflated files: the exact result or a refusal, never a smaller total."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import duckdb
import pytest

from billing.core.errors import GpucostError
from billing.core.money import total
from billing.exports.errors import IncompleteExportError, UnreadableExportError
from tests.builders_exports import charges_in, focus_row, write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [focus_row(BilledCost=f"{number}.25") for number in range(1, 60)]


def _total(file: Path) -> str | None:
    """Return what a file sums to; None when it is refused."""
    try:
        return total(one.billed for one in charges_in(file)).text()
    except GpucostError:
        return None


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.csv", write_csv), ("a.csv.gz", write_csv), ("a.parquet", write_parquet)],
)
def test_a_file_cut_anywhere_is_refused_or_whole(
    tmp_path: Path, name: str, write: Callable[..., Path]
) -> None:
    # F5: a text cut between two lines cannot be told from a shorter one.
    path = write(tmp_path / name, ROWS)
    content, chosen = path.read_bytes(), random.Random(5)
    whole = _total(path)
    assert whole is not None

    for _ in range(12):
        cut = chosen.randrange(len(content))
        while name == "a.csv" and content[cut - 1 : cut] in {b"\n", b""}:
            cut = chosen.randrange(len(content))
        path.write_bytes(content[:cut])

        assert _total(path) in {None, whole}


def test_a_flipped_byte_of_parquet_never_loses_rows(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", ROWS)
    content, chosen = path.read_bytes(), random.Random(6)

    for place in (4, len(content) - 9, *(chosen.sample(range(len(content)), 4))):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            charges = charges_in(path)
        except GpucostError:
            continue
        assert sum(int(one.quantity or 0) for one in charges) in {0, len(ROWS)}


@pytest.mark.parametrize("change", ["without", "renamed"])
def test_parts_of_other_columns_are_refused(tmp_path: Path, change: str) -> None:
    other = focus_row()
    tags = other.pop("Tags")
    if change == "renamed":
        other["Tagz"] = tags
    one = write_parquet(tmp_path / "1.parquet", ROWS)
    two = write_parquet(tmp_path / "2.parquet", [other])

    with pytest.raises(UnreadableExportError):
        charges_in(one, two)


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [focus_row(BilledCost="12,50 EUR")])

    with pytest.raises(UnreadableExportError, match="12,50 EUR"):
        charges_in(path)


def test_a_table_that_is_no_bill_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [{"a": "1", "b": "2"}])

    with pytest.raises(
        IncompleteExportError, match="no column lineItem/UsageAccountId"
    ):
        charges_in(path)


def test_an_empty_bill_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [focus_row(ProviderName="Oracle")])

    with pytest.raises(IncompleteExportError, match="no lines of an AWS bill"):
        charges_in(path)


def test_a_zip_says_what_to_choose_instead(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv.zip", [focus_row()])

    with pytest.raises(UnreadableExportError, match="Parquet or GZIP, not ZIP"):
        charges_in(path)


def test_parquet_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    # H12
    path = tmp_path / "bomb.parquet"
    duckdb.execute(
        'COPY (SELECT repeat(chr(65), 1000000) || range AS "BilledCost" FROM range(100))'  # noqa: S608 - ours
        f" TO '{path}' (FORMAT parquet, COMPRESSION zstd)"
    )

    with pytest.raises(UnreadableExportError, match="100 times its size"):
        charges_in(path)


def test_a_bill_of_countless_lines_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("billing.exports.proof.CELLS_MAX", 1)
    rows = [focus_row(), focus_row("2026-09-02")]

    with pytest.raises(UnreadableExportError, match="become 2 lines of the ledger"):
        charges_in(write_csv(tmp_path / "a.csv", rows))


def test_an_amount_of_a_nested_type_is_refused(tmp_path: Path) -> None:
    rows = [focus_row()]
    path = write_parquet(tmp_path / "a.parquet", rows, {"BilledCost": "{'a': 1}"})

    with pytest.raises(UnreadableExportError):
        charges_in(path)


def test_hostile_names_and_values_are_only_text(tmp_path: Path) -> None:
    nasty = "'; DROP VIEW line; --"
    row = focus_row(RegionId=nasty) | {'evil" FROM x; --': "1"}
    path = write_csv(tmp_path / "it's a.csv", [row])

    (charge,) = charges_in(path)

    assert charge.region == nasty


def test_a_line_that_begins_with_a_mark_is_a_line(tmp_path: Path) -> None:
    rows = [{"Note": "#1", **row} for row in ROWS]

    assert _total(write_csv(tmp_path / "a.csv", rows)) == _total(
        write_csv(tmp_path / "b.csv", ROWS)
    )
