"""Places of exports: a folder and a bucket keep the same promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from billing.aws.export_files import S3ExportFiles
from billing.exports import ExportFolder
from billing.ports import ExportFiles, SourceUnavailableError
from deploy.sandbox.aws.world import ObjectSeed
from tests.builders_exports import KEYS, LATER, LIMITS, focus_row, write_csv
from tests.contract.sources.aws import NOW, Aws
from tests.fakes.ledger import InMemoryLedgerStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Make = Callable[[Mapping[str, str]], ExportFiles]

FILES = {
    "gpu/data/a b.csv": "a,b\n1,2\n",
    "gpu/gpu-Manifest.json": "{}",
    "gpu-2/other.csv": "x\n",
}


@pytest.fixture(params=["folder", "bucket"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return a maker of the place ``gpu`` over texts by path."""

    def folder(texts: Mapping[str, str]) -> ExportFiles:
        for name, text in texts.items():
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return ExportFolder(tmp_path / "root/gpu", "here")

    def bucket(texts: Mapping[str, str]) -> ExportFiles:
        aws: Aws = request.getfixturevalue("aws")
        seeds = [
            ObjectSeed(bucket="bill", key=name, modified_at=NOW, text=text)
            for name, text in texts.items()
        ]
        aws.serve(objects=seeds)
        return S3ExportFiles(aws.clients(), "s3://bill/gpu", spool=tmp_path)

    return folder if request.param == "folder" else bucket


def test_files_are_those_below_the_place(make: Make) -> None:
    found = make(FILES).files()

    assert [(one.key, one.size_bytes) for one in found] == [
        ("data/a b.csv", 8),
        ("gpu-Manifest.json", 2),
    ]


def test_a_file_is_listed_the_same_until_it_changes(make: Make) -> None:
    place = make(FILES)
    before = place.files()

    assert place.files() == before
    make({**FILES, "gpu/gpu-Manifest.json": '{"new": 1}'})
    assert place.files()[1].version != before[1].version


def test_content_is_read_and_fetched(make: Make) -> None:
    place = make(FILES)
    table, manifest = place.files()

    assert place.read(manifest) == b"{}"
    with place.fetch([table]) as paths:
        assert [Path(path).read_text("utf-8") for path in paths] == ["a,b\n1,2\n"]
        assert paths[0].endswith("a b.csv")


def test_what_changed_since_it_was_listed_is_not_fetched(make: Make) -> None:
    place = make(FILES)
    table = place.files()[0]
    make({**FILES, "gpu/data/a b.csv": "a,b\n3,4\n9,9\n"})

    with pytest.raises(SourceUnavailableError), place.fetch([table]):
        pass


def test_a_place_that_is_not_there_is_an_error(make: Make) -> None:
    with pytest.raises(SourceUnavailableError):
        make({"gpu-2/other.csv": "x\n"}).files()


def test_the_spool_is_bounded_and_left_empty(aws: Aws, tmp_path: Path) -> None:
    seed = ObjectSeed(bucket="bill", key="gpu/a.csv", modified_at=NOW, text="a\n1\n")
    aws.serve(objects=[seed])
    small = S3ExportFiles(aws.clients(), "s3://bill/gpu/", spool=tmp_path, bytes_max=3)
    (file,) = small.files()

    with pytest.raises(SourceUnavailableError, match="spool may hold 3"):
        small.fetch([file]).__enter__()
    place = S3ExportFiles(aws.clients(), "s3://bill/gpu/", spool=tmp_path)
    with place.fetch([file]) as paths:
        assert len(paths) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_object_that_ends_early_is_refused(aws: Aws, tmp_path: Path) -> None:
    seed = ObjectSeed(bucket="bill", key="gpu/a.csv", modified_at=NOW, text="a\n1\n")
    aws.serve(objects=[seed])
    place = S3ExportFiles(aws.clients(), "s3://bill/gpu/", spool=tmp_path)
    longer = replace(place.files()[0], size_bytes=99)

    with (
        pytest.raises(SourceUnavailableError, match="ended after 4 of 99"),
        place.fetch([longer]),
    ):
        pass


def test_an_export_in_a_bucket_reaches_the_ledger(aws: Aws, tmp_path: Path) -> None:
    from billing.exports import import_exports

    table = write_csv(tmp_path / "a.csv", [focus_row("2026-03-01", BilledCost="7.00")])
    manifest = '{"dataFiles": ["s3://bill/gpu/data/BILLING_PERIOD=2026-03/a.csv"]}'
    texts: dict[str, Any] = {
        "gpu/data/BILLING_PERIOD=2026-03/a.csv": table.read_text("utf-8"),
        "gpu/metadata/BILLING_PERIOD=2026-03/gpu-Manifest.json": manifest,
    }
    aws.serve(
        objects=[
            ObjectSeed(bucket="bill", key=name, modified_at=NOW, text=text)
            for name, text in texts.items()
        ]
    )
    store = InMemoryLedgerStore()
    place = S3ExportFiles(aws.clients(), "s3://bill/gpu", spool=tmp_path)

    found = import_exports([place], store, KEYS, now=LATER, limits=LIMITS)

    assert found.errors == ()
    assert [one.total.text() for one in found.imports] == ["7.00"]
    assert len(store.ledger.days) == 31
