"""The documentation is executed: its links, examples and command names are true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.project import ROOT, files, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INDEX = ROOT / "docs" / "README.md"
DECISIONS = ROOT / "docs" / "decisions"
DECISION_SECTIONS = ["Context", "Decision", "Alternatives", "Consequences"]

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def _pages() -> list[Path]:
    return [
        path
        for path in files()
        if path.suffix == ".md" and not name_of(path).startswith("tests/")
    ]


@pytest.mark.parametrize("page", _pages(), ids=name_of)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = [link for link in _links(page) if not _leads_somewhere(page, link)]

    assert broken == []


def test_every_page_can_be_reached_from_the_index() -> None:
    reached = {INDEX}
    new = [INDEX]
    while new:
        page = new.pop()
        linked = {_target(page, link) for link in _links(page)}
        found = {path for path in linked if path.suffix == ".md"} - reached
        reached |= found
        new += [path for path in found if path.exists()]

    pages = {page for page in _pages() if name_of(page).startswith("docs/")}
    assert sorted(name_of(page) for page in pages - reached) == []


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("0*.md")), ids=name_of)
def test_a_decision_has_its_four_sections(page: Path) -> None:
    sections = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert sections == DECISION_SECTIONS


def test_the_changelog_has_room_for_what_is_not_released() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, _, unreleased = changelog.partition("\n## [Unreleased]\n")

    assert unreleased.strip()


def test_every_command_is_documented() -> None:
    documented = "\n".join(page.read_text(encoding="utf-8") for page in _pages())

    missing = [
        command
        for command in _commands()
        if not re.search(rf"gpucost {re.escape(command)}(?![\w-])", documented)
    ]

    assert missing == []


def test_every_policy_in_the_documentation_loads(tmp_path: Path) -> None:
    from policies.load import load_policies

    problems = {}
    for place, text in _policy_blocks():
        example = tmp_path / "example.yaml"
        example.write_text(text, encoding="utf-8")
        _, errors = load_policies([example])
        if errors:
            problems[place] = [str(error) for error in errors]

    assert problems == {}


def _links(page: Path) -> list[str]:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    links = LINK.findall(prose)
    return [link for link in links if not link.startswith(("http://", "https://"))]


def _target(page: Path, link: str) -> Path:
    path, _, _ = link.partition("#")
    return (page.parent / path).resolve() if path else page


def _leads_somewhere(page: Path, link: str) -> bool:
    target, (_, _, anchor) = _target(page, link), link.partition("#")
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def _commands() -> list[str]:
    """Name every command as it is typed, groups included: `policy validate`."""
    from typer.main import get_command

    from bot.cli import app

    names = []
    groups = [("", get_command(app))]
    while groups:
        prefix, group = groups.pop()
        for name, command in getattr(group, "commands", {}).items():
            if not command.hidden:
                names.append(f"{prefix}{name}")
                groups.append((f"{prefix}{name} ", command))
    assert names, "bot.cli.app has no commands"
    return sorted(names)


def _policy_blocks() -> Iterator[tuple[str, str]]:
    """Find the YAML blocks that hold policies; other YAML is configuration."""
    for page in _pages():
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            if match[1] in {"yaml", "yml"} and re.search(
                r"^policies:", match[2], re.MULTILINE
            ):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name_of(page)}:{line}", match[2]
