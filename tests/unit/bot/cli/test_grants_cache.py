"""`gpucost grants cache`: what is in the file, and that it is there whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders_cli import Office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builders_use_cases import Company

RUN = ("--instance-type", "p5.48xlarge", "--count", "2", "--hours", "8")


@pytest.fixture(autouse=True)
def _in_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run" / "grants"


def _asks(office: Office, job: str, *more: str) -> str:
    who = ("--requester", "mia@example.com", "--reason", "a test")
    said = ("--job", job, *RUN, *who, *more)
    ran = office.run("approval", "request", *said, "--format", "json")
    assert ran.code in {0, 4}, ran
    found: str = ran.json["id"]
    return found


def test_live_grants_are_in_the_file_and_others_are_not(
    office: Office, company: Company, out: Path
) -> None:
    del company
    out.parent.mkdir()
    live = _asks(office, "llm-1")
    pending = _asks(office, "llm-2", "--count", "9", "--hours", "99")

    said = office.run("grants", "cache", "--out", str(out)).out

    head, grant, signature = out.read_text().splitlines()
    assert said.startswith("1 live grant in ")
    assert head.startswith("gpucost-grants\t1\t")
    assert grant.split("\t")[1:7] == [
        live,
        "llm-1",
        "p5.48xlarge",
        "2",
        "8",
        "on-demand",
    ]
    assert grant.endswith("\t16\t0")
    assert signature.startswith("hmac\t")
    assert pending not in out.read_text()
    assert out.with_name("grants.key").stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_written_is_one_sentence(
    office: Office, company: Company, tmp_path: Path
) -> None:
    del company
    (tmp_path / "file").write_text("")

    ran = office.run("grants", "cache", "--out", str(tmp_path / "file" / "grants"))

    assert ran.code == 1
    assert "cannot be written" in ran.err
