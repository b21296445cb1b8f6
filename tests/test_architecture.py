"""The shape of the code: who may import whom, how long things may be."""

from __future__ import annotations

import ast
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

import pytest
from importlinter.cli import lint_imports

from tests.project import PACKAGES, ROOT, name_of, python_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50

# "path" or "path::function": why it is better long.
EXCEPTIONS: dict[str, str] = {}

CLOCK = "bot/clock.py"
CLOCK_CALLS = {("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}


def test_import_contracts_hold(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)

    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_distribution_claims_our_package_name(package: str) -> None:
    owners = packages_distributions().get(package, [])

    assert set(owners) <= {"gpucost"}


def test_files_and_functions_are_short() -> None:
    too_long = _too_long()

    assert sorted(too_long.keys() - EXCEPTIONS.keys()) == [], too_long


def test_exceptions_to_the_length_rule_are_still_needed() -> None:
    assert sorted(EXCEPTIONS.keys() - _too_long().keys()) == []


def test_only_the_clock_reads_the_clock() -> None:
    readers = {
        name_of(path)
        for path in python_files(*(f"{package}/" for package in PACKAGES))
        if CLOCK_CALLS & set(_method_calls(path))
    }

    assert readers <= {CLOCK}


def test_every_folder_of_python_files_is_a_package() -> None:
    folders = {path.parent for path in python_files()} - {ROOT}

    assert (
        sorted(
            name_of(folder)
            for folder in folders
            if not (folder / "__init__.py").exists()
            and not name_of(folder).endswith("migrations/versions")
        )
        == []
    )


def _too_long() -> dict[str, int]:
    lengths = {}
    for path in python_files():
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > FILE_LINES_MAX:
            lengths[name_of(path)] = lines
        for function, length in _functions(ast.parse(text)):
            if length > FUNCTION_LINES_MAX:
                lengths[f"{name_of(path)}::{function}"] = length
    return lengths


def _functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def _method_calls(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            owner = node.value
            if isinstance(owner, ast.Attribute):  # datetime.datetime.now
                yield owner.attr, node.attr
            if isinstance(owner, ast.Name):
                yield owner.id, node.attr
