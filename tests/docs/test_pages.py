"""What pages say of settings, Slack and HTTP is what the product knows."""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel
from typer.main import get_command

from billing.core.money import Money
from bot.api import ApiHandlers, build_api
from bot.cli import app
from bot.settings import Environment
from bot.settings.sections import Config, LocalTime
from bot.slack.app import BOT_SCOPES
from bot.slack.grammar import VERBS, BadQuestion, read_question
from bot.wiring.application import open_application
from bot.wiring.health import metrics_text
from policies.core.quantities import money_text
from policies.load import load_document
from tests.builders import NOW
from tests.project import ROOT, files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCS = ROOT / "docs"
FENCE = re.compile(r"^[ ]*```(\w+)\n(.*?)^[ ]*```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([^`|]+)` \| ([^|]+) \| ([^|]+) \|", re.MULTILINE)


def _page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _blocks(language: str) -> Iterator[str]:
    for path in files():
        if path.suffix == ".md" and ROOT / "deploy" not in path.parents:
            text = path.read_text(encoding="utf-8")
            yield from (
                block for kind, block in FENCE.findall(text) if kind == language
            )


# --------------------------------------------------------------------- configuration


def test_every_configuration_in_the_documentation_loads(tmp_path: Path) -> None:
    blocks = [
        block
        for block in _blocks("yaml")
        if not re.search(r"^\s*policies:", block, re.MULTILINE)
    ]
    problems = {}
    for block in blocks:
        path = tmp_path / "gpucost.yaml"
        path.write_text(block, encoding="utf-8")
        loaded, errors = load_document(path, Config)
        if loaded is None or errors:
            problems[block] = [str(error) for error in errors]

    assert blocks
    assert problems == {}


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name every key as the page does, with its default."""
    for name, field in model.model_fields.items():
        key, default = f"{prefix}{name}", field.default
        if field.default_factory is not None:
            default = {}
        found = re.findall(r"\w+(?:Section|Override)\b", str(field.annotation))
        inner = _model(found[0]) if found else None
        if inner is None:
            yield key, ... if field.is_required() else default
        elif isinstance(default, BaseModel):
            yield from _fields(inner, f"{key}.")
        elif default == {}:
            yield from _fields(inner, f"{key}.<name>.")
        else:
            yield key, default
            yield from _fields(inner, f"{key}[].")


def _model(name: str) -> type[BaseModel]:
    from bot.settings import attribution, progress, sections

    places = (sections, attribution, progress)
    found: type[BaseModel] = next(
        getattr(place, name) for place in places if hasattr(place, name)
    )
    return found


#: Both lists of prices share one model: what makes sense for one, and what is said once.
NOT_REPEATED = {
    *("prices.discounts[].instance_type", "prices.discounts[].region"),
    *("prices.discounts[].per_hour", "prices.overrides[].percent"),
}
#: What is said in words: a default that is worked out, or all parts in one row.
IN_WORDS = (
    *("aws.payer", "exports[].athena"),
    *("attribution.parents", "attribution.shared", "attribution.rules"),
)


def test_every_key_is_documented_with_its_default() -> None:
    rows = ROW.findall(_page("configuration.md"))
    documented = {key: default for key, _, default in rows}
    known = dict(_fields(Config))
    wrong = {
        key: (documented.get(key), _shown(default))
        for key, default in known.items()
        if key not in {*NOT_REPEATED, "data_dir"}
        and not key.startswith(IN_WORDS)
        and documented.get(key, "").strip("` ") != _shown(default)
    }

    assert wrong == {}
    assert "data_dir" in documented


def test_no_key_is_documented_that_does_not_exist() -> None:
    known = {key for key, _ in _fields(Config)} | {"teams", "aws.events"}
    documented = {key for key, _, _ in ROW.findall(_page("configuration.md"))}

    assert documented - known == set()


def _shown(default: object) -> str:
    """Return a default as the page writes it."""
    if default is ...:
        return "required"
    if default is None or default == "":
        return "none"
    if isinstance(default, tuple):
        return f"[{', '.join(default)}]"
    if isinstance(default, timedelta):
        hours, rest = divmod(default, timedelta(hours=1))
        if rest:
            return f"{default // timedelta(minutes=1)}m"
        return f"{hours // 24}d" if hours % 24 == 0 else f"{hours}h"
    if isinstance(default, Money):
        return money_text(default)
    if isinstance(default, LocalTime):
        return f"mon {default.at:%H:%M}"
    return str(default)


def test_every_environment_variable_is_documented() -> None:
    page = _page("configuration.md")
    names = [str(field.alias) for field in Environment.model_fields.values()]

    assert [name for name in names if f"`{name}`" not in page] == []


# --------------------------------------------------------------------------- commands


def _command_lines() -> list[str]:
    lines = []
    for language in ("sh", "console"):
        for block in _blocks(language):
            joined = block.replace("\\\n", " ")
            lines += re.findall(r"^\s*(?:\$ )?(gpucost .+)$", joined, re.MULTILINE)
    return lines


@pytest.mark.parametrize("line", sorted(set(_command_lines())))
def test_a_documented_command_line_is_understood(line: str) -> None:
    _, *words = shlex.split(line, comments=True)
    command: Any = get_command(app)
    while hasattr(command, "commands"):
        # Some groups, such as `jobs`, do something by themselves.
        if command.invoke_without_command and (
            not words or words[0] not in command.commands
        ):
            break
        name, *words = words
        command = command.commands[name]

    if ">" in words:  # a shell's redirection
        words = words[: words.index(">")]
    with command.make_context(command.name, [*words]):
        pass


# ------------------------------------------------------------------------------ Slack


def _slack_commands() -> list[str]:
    return re.findall(r"^/gpucost ?(.*)$", _page("slack.md"), re.MULTILINE)


@pytest.mark.parametrize("text", _slack_commands())
def test_a_documented_slack_command_is_understood(text: str) -> None:
    question = read_question(text, NOW)

    assert not isinstance(question, BadQuestion)


def test_every_slack_command_is_documented() -> None:
    asked = [read_question(text, NOW) for text in _slack_commands()]
    verbs = {getattr(question, "verb", "") for question in asked}

    assert set(VERBS) - verbs == set()


def test_every_documented_time_is_understood() -> None:
    page = _page("slack.md")
    times = re.findall(
        r"`([^`]+)`", page[page.index("- Times:") : page.index("They mean")]
    )

    wrong = [
        text
        for text in times
        if isinstance(read_question(f"job-123 {text}", NOW), BadQuestion)
    ]

    assert len(times) > 10
    assert wrong == []


def test_every_scope_is_explained() -> None:
    page = _page("slack.md")

    assert [scope for scope in BOT_SCOPES if f"`{scope}`" not in page] == []


# ------------------------------------------------------------------------- operations


def test_every_http_path_is_documented() -> None:
    api = build_api(ApiHandlers(ready=lambda: (True, {}), metrics=lambda: b""))
    paths = [route.path for route in api.routes if isinstance(route, APIRoute)]

    assert [path for path in paths if f"`{path}`" not in _page("operations.md")] == []


def test_every_metric_is_documented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_DATABASE_URL", f"sqlite:///{tmp_path / 'gpucost.db'}")
    config = tmp_path / "gpucost.yaml"
    config.write_text(f"data_dir: {tmp_path}\n", encoding="utf-8")
    with open_application(str(config)) as application:
        text = metrics_text(application).decode()
    names = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    documented = set(
        re.findall(r"^\| `(gpucost_\w+)", _page("operations.md"), re.MULTILINE)
    )

    assert names == documented
