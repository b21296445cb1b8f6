"""Keys of tags from the dictionaries of a Parquet file, or None where they do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from billing.exports.parquet_names import PAGE_BYTES_MAX, Chunk, dictionary_keys

if TYPE_CHECKING:
    from pathlib import Path


def _write(
    path: Path, rows: int, *, codec: str, distinct: int = 3, group: int = 2048
) -> list[Chunk]:
    duckdb.execute(
        "COPY (SELECT MAP {'key-' || (i % "  # noqa: S608 - a number
        f"{distinct}) || repeat('x', 20): 'a', 'Größe': 'b'}} AS \"Tags\""
        f" FROM range({rows}) t(i)) TO '{path}'"
        f" (FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE {group})"
    )
    found = duckdb.execute(
        "SELECT compression, dictionary_page_offset FROM parquet_metadata(?)"
        " WHERE path_in_schema LIKE 'Tags, %, key'",
        [str(path)],
    ).fetchall()
    return [Chunk(path=path, codec=codec, start=start) for codec, start in found]


@pytest.mark.parametrize("codec", ["snappy", "gzip", "uncompressed"])
def test_every_key_of_every_row_group_is_found(codec: str, tmp_path: Path) -> None:
    chunks = _write(tmp_path / "a.parquet", 5_000, codec=codec)

    found = dictionary_keys(chunks)

    assert len(chunks) == 3
    assert found == {"Größe", *(f"key-{number}{'x' * 20}" for number in range(3))}


def test_long_literals_and_copies_are_unpacked(tmp_path: Path) -> None:
    chunks = _write(
        tmp_path / "a.parquet", 20_000, codec="snappy", distinct=400, group=20_480
    )

    found = dictionary_keys(chunks)

    assert found is not None
    assert len(found) == 401


@pytest.mark.parametrize("codec", ["zstd", "brotli"])
def test_other_codecs_say_nothing(codec: str, tmp_path: Path) -> None:
    assert dictionary_keys(_write(tmp_path / "a.parquet", 10, codec=codec)) is None


def test_a_column_without_dictionary_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"")

    assert dictionary_keys([Chunk(path=path, codec="SNAPPY", start=None)]) is None


def test_a_dictionary_that_a_writer_may_have_given_up_says_nothing(
    tmp_path: Path,
) -> None:
    distinct = PAGE_BYTES_MAX // 24
    (chunk,) = _write(
        tmp_path / "a.parquet", 40_000, codec="snappy", distinct=distinct, group=40_960
    )

    assert chunk.start is not None
    assert dictionary_keys([chunk]) is None


@pytest.mark.parametrize("cut", [0, 3, 20])
def test_a_damaged_dictionary_says_nothing(cut: int, tmp_path: Path) -> None:
    first, *_ = _write(tmp_path / "a.parquet", 2_048, codec="snappy")
    assert first.start is not None
    content = first.path.read_bytes()
    first.path.write_bytes(content[: first.start + cut])

    assert dictionary_keys([first]) is None


def test_bytes_that_are_no_page_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for content in (b"\xff" * 64, b"\x15\x04\x15\x10\x15\x10\x00" + b"\xff" * 64):
        path.write_bytes(content)

        assert dictionary_keys([Chunk(path=path, codec="SNAPPY", start=0)]) is None
