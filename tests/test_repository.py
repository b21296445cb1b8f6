"""What may stand in the repository, whoever wrote it."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import ROOT, files, name_of

if TYPE_CHECKING:
    from pathlib import Path

REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org|crates\.io"
    r"|index\.docker\.io"
)
MACHINE = re.compile(r"(?:^|[^\w.])/(?:work|farm)/", re.MULTILINE)
PERSONAL = re.compile(r"(?:^|[^\w.])/(?:tmp|root|home/\w+|Users/\w+)/", re.MULTILINE)
SECRETS = {
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)(?!\w*EXAMPLE)[A-Z0-9]{16}\b"),
    "a Slack token": re.compile(r"\bxox[a-z]-\d{9,}-\d{9,}-[\w-]{20,}"),
    "a Slack app token": re.compile(r"\bxapp-\d-[A-Z0-9]{9,}-\d{9,}-[0-9a-f]{32,}"),
    "a Slack webhook": re.compile(
        r"hooks\.slack\.com/services/T\w{8,}/B\w{8,}/\w{20,}"
    ),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[\w+/=]{40}"),
    "a GitHub token": re.compile(r"\bgh[opsu]_[A-Za-z0-9]{36}\b"),
}
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))
BYTES_MAX = 1_000_000


def test_no_registry_host_is_named() -> None:
    assert _places(REGISTRY, files()) == []


def test_no_path_of_one_machine_is_named() -> None:
    assert _places(MACHINE, files()) == []


def test_no_personal_or_temporary_path_is_named_outside_tests() -> None:
    product = [path for path in files() if not name_of(path).startswith("tests/")]

    assert _places(PERSONAL, product) == []


@pytest.mark.parametrize("kind", SECRETS)
def test_no_secret_is_committed(kind: str) -> None:
    assert _places(SECRETS[kind], files()) == []


def test_no_file_is_too_large_to_review() -> None:
    large = [name_of(path) for path in files() if path.stat().st_size > BYTES_MAX]

    assert large == []


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    loose = [
        line
        for line in _requirements(path)
        if "==" not in line or "--hash=sha256:" not in line
    ]

    assert loose == []


def test_the_lock_names_every_dependency_of_the_project() -> None:
    project = _pyproject()
    run = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["demo"],
        *project["dependency-groups"]["build"],
    ]
    dev = project["dependency-groups"]["dev"]

    assert _names(run) - _locked("requirements.txt") == set(), "run `make lock`"
    assert _names(dev) - _locked("requirements-dev.txt") == set(), "run `make lock`"


def test_two_locks_never_ask_for_two_versions() -> None:
    versions: dict[str, set[str]] = {}
    for path in REQUIREMENTS:
        if path.name == "requirements-slow.txt":
            continue  # They go into an environment of their own.
        for line in _requirements(path):
            name, _, rest = line.partition("==")
            versions.setdefault(name, set()).add(rest.split()[0])

    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_the_licence_is_apache_2() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert "Apache License" in licence
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert _pyproject()["project"]["license"] == "Apache-2.0"


def test_make_help_describes_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    described = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))

    assert targets is not None
    assert set(targets[1].split()) == described


def _places(
    pattern: re.Pattern[str], paths: tuple[Path, ...] | list[Path]
) -> list[str]:
    """Say where a pattern stands, without repeating what it found."""
    places = []
    for path in paths:
        text = path.read_bytes().decode("utf-8", errors="replace")
        places += [
            f"{name_of(path)}:{text.count(chr(10), 0, match.start()) + 1}"
            for match in pattern.finditer(text)
        ]
    return places


def _requirements(path: Path) -> list[str]:
    joined = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _names(requirements: list[str]) -> set[str]:
    return {_normal(re.split(r"[\[<>=~! ;]", text)[0]) for text in requirements}


def _locked(name: str) -> set[str]:
    return _names(_requirements(ROOT / name))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
