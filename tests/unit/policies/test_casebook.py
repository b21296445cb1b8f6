"""Tests of policies: what a case says, what must be there, and every difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies.core.casebook import run_case
from policies.load import load_casebooks, load_policies
from tests.project import ROOT

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = ROOT / "policies" / "library"
POLICIES = """
policies:
  - name: idle
    kind: idle
  - name: spend
    kind: job-spend
    over: $100
"""


def differences(folder: Path, case: str) -> tuple[str, ...]:
    (folder / "policies.yaml").write_text(POLICIES, encoding="utf-8")
    (folder / "a.test.yaml").write_text(f"tests:\n{case}", encoding="utf-8")
    policies, errors = load_policies([folder])
    books, more = load_casebooks([folder])
    assert (errors, [str(one) for one in more]) == ((), [])
    return run_case(books[0][1].tests[0], policies).differences


def test_the_tests_of_the_library_pass() -> None:
    policies, _ = load_policies([LIBRARY])
    books, errors = load_casebooks([LIBRARY])

    assert errors == ()
    assert [
        (case.name, said)
        for _, book in books
        for case in book.tests
        if (said := run_case(case, policies).differences)
    ] == []


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (
            "  - {name: a, jobs: [{job: job-1, spent: $200}]}\n",
            ("spend on job-1: not expected: It has cost $200.00 so far.",),
        ),
        (
            (
                "  - name: a\n    jobs: [{job: job-1, spent: $50}]\n"
                "    findings: [{policy: spend, subject: job-1}]\n"
            ),
            ("spend on job-1: no finding",),
        ),
        (
            (
                "  - name: a\n    jobs: [{job: job-1}]\n"
                "    findings: [{policy: spend, subject: job-1}]\n"
            ),
            ("spend on job-1: unknown: cost so far in USD",),
        ),
        (
            (
                "  - name: a\n    jobs: [{job: job-1, spent: $120}]\n"
                "    findings: [{policy: spend, subject: job-1, severity: critical,"
                " actions: [stop], says: nothing}]\n"
            ),
            (
                "spend on job-1: severity warning, expected critical",
                "spend on job-1: actions [warn], expected [stop]",
                (
                    "spend on job-1: says 'It has cost $120.00 so far. What it costs per "
                    "hour now is unknown.', expected 'nothing' in it"
                ),
            ),
        ),
        (
            (
                "  - name: a\n    jobs: [{job: job-1, spent: $1}]\n"
                "    unknown: [{policy: spend, subject: job-1}]\n"
            ),
            ("spend on job-1: is known",),
        ),
        (
            "  - {name: a, policies: [spent]}\n",
            ("no policy 'spent' is loaded",),
        ),
    ],
)
def test_every_difference_is_named(
    tmp_path: Path, case: str, said: tuple[str, ...]
) -> None:
    assert differences(tmp_path, case) == said


def test_a_gpu_that_is_not_stated_is_unknown(tmp_path: Path) -> None:
    case = (
        "  - name: a\n    policies: [idle]\n    instances:\n"
        "      - {id: i-1, running_for: 3h, signals: {gpu_utilization: [0, 0],"
        " network: 0}}\n"
        "    unknown: [{policy: idle, subject: i-1}]\n"
    )

    assert differences(tmp_path, case) == ()


def test_a_wrong_file_of_tests_names_every_place(tmp_path: Path) -> None:
    (tmp_path / "a.test.yaml").write_text(
        "tests:\n  - name: a\n    now: yesterday\n    jbos: []\n", encoding="utf-8"
    )

    _, errors = load_casebooks([tmp_path])

    assert [(one.line, one.column, one.text) for one in errors] == [
        (3, 10, "now: expected an instant like 2026-11-30T09:00Z, got 'yesterday'"),
        (4, 5, "unknown key 'jbos'; did you mean 'jobs'?"),
    ]


def test_files_of_tests_are_no_policies(tmp_path: Path) -> None:
    (tmp_path / "policies.yaml").write_text(POLICIES, encoding="utf-8")
    (tmp_path / "a.test.yaml").write_text("tests: []\n", encoding="utf-8")

    policies, errors = load_policies([tmp_path])

    assert errors == ()
    assert [one.name for one in policies] == ["idle", "spend"]
