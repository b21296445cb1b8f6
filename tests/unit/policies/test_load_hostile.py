"""Hostile and damaged files: refused early, with a place, never loaded in part."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from policies.load import load_policies, load_text
from tests.unit.policies.test_load import DESIGN, errors_of, one


@pytest.mark.parametrize("value", ["no", "on", "0x1F", "1:30", "010", ".nan", ".inf"])
def test_no_text_becomes_another_value(value: str) -> None:
    (error,) = errors_of(one(f"    default: {value}\n"))

    assert repr(value) in error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("policies: []", "at least one policy"),
        ("policies: {}", "must be a list"),
        ("- a", "expected the key 'policies'"),
        ("policys: []", "did you mean 'policies'?"),
        ("policies:\n  - 1\n", "expected a policy with name and kind"),
        ("policies:\n  - name: x\n", "missing key 'kind'"),
        ("policies:\n\t- a", "2:1: a tab cannot indent YAML"),
        ("policies: [", "not valid YAML"),
        ("policies: a: b", "1:12: a second ':' in one value"),
        ("policies: !!python/object:os.system x", "is not allowed"),
        ("policies: !custom [a]", "is not allowed"),
        ("policies: &a [*a]", "has no anchor before it"),
        ("policies: *a", "has no anchor before it"),
        ("--- {policies: 1}\n--- {policies: 2}", "2:1: a second document"),
        ("? [a]\n: 1", "a key must be a single word"),
        ("policies: \x07", "a control character"),
        ("a: 1\n\x00", "2:1: a control character"),
        ("@a: 1", "quote the value"),
    ],
)
def test_text_that_is_no_policy_file_is_refused(text: str, said: str) -> None:
    assert any(said in error for error in errors_of(text))


# H6
def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 10):
        inner = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{inner}]")

    assert "more than 50000 values" in errors_of("\n".join(lines))[-1]


# H6
def test_too_many_aliases_are_refused() -> None:
    text = "a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]"

    assert "more than 100 aliases" in errors_of(text)[0]


# H6
@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 50_000, "- " * 50_000, "a: " * 50_000, "? " * 50_000],
    ids=["flow", "maps", "dashes", "values", "keys"],
)
def test_deep_nesting_is_refused(text: str) -> None:
    (error,) = errors_of(text)

    assert "nested deeper than 50" in error or "a second ':'" in error


# H6
@pytest.mark.parametrize(
    "text",
    ["[" + "1," * 60_000 + "]", "\n".join(f"k{index}: 1" for index in range(60_000))],
    ids=["one-line", "many-lines"],
)
def test_too_many_values_are_refused(text: str) -> None:
    assert "more than 50000 values" in errors_of(text)[0]


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    file.write_bytes(b"#" * 10_000_000)

    _, (error,) = load_policies([file])

    assert "larger than 1024 KiB" in str(error)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"policies:\n  - name: \xff", "2:11: expected UTF-8, got byte 0xff"),
        ("policies: x".encode("utf-16"), "got UTF-16"),
    ],
)
def test_bytes_that_are_no_utf_8_are_refused(
    tmp_path: Path, raw: bytes, said: str
) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(raw)

    _, (error,) = load_policies([file])

    assert said in str(error)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + DESIGN.encode())

    loaded, errors = load_policies([file])

    assert (len(loaded), errors) == (5, ())


def test_an_escape_that_is_no_character_is_refused() -> None:
    assert "no character" in errors_of('policies: "\\U00110000"')[0]


def test_a_lone_surrogate_is_refused_wherever_it_stands() -> None:
    for key in ("where", "default", "description"):
        text = one(f"    {key}: \"job.id == '\\ud800'\"\n")
        loaded, _ = load_text(text)
        assert loaded == ()


# F12
def test_no_damage_to_a_file_loads_part_of_it_or_raises() -> None:
    chance = random.Random(20261130)
    names = {policy.name for policy in load_text(DESIGN)[0]}
    for _ in range(400):
        loaded, errors = load_text(_damaged(DESIGN, chance))

        assert bool(loaded) != bool(errors)
        assert not errors or all(error.line >= 1 for error in errors)
        assert errors or len(loaded) <= len(names) + 1


def _damaged(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    kind = chance.randrange(5)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + chance.choice("\t{}[]:,&*!|>%@`'\"\0\n-?#") + text[at:]
    if kind == 2:
        return text[:at] + text[at + chance.randrange(1, 20) :]
    if kind == 3:
        other = chance.randrange(len(text))
        return text[:at] + text[other : other + 40] + text[at:]
    return text[:at] + chr(chance.randrange(0x20, 0x2FFF)) + text[at + 1 :]
