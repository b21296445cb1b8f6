"""What a change of policies changes: in their keys, and in what they find; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.core.catalogue import Policy
from policies.core.finding import Evaluation, Finding
from policies.core.spelling import spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """One key of one policy that says something else now.

    Attributes:
        key: Dotted; "" for a whole policy that came or went.
        before / after: As text; "" where there is nothing.
    """

    policy: str
    key: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChange:
    """One finding that only one of two sets of policies has, or has otherwise.

    Attributes:
        before / after: None where that set does not find it.
    """

    policy: str
    subject: str
    before: Finding | None
    after: Finding | None


def key_changes(old: Sequence[Policy], new: Sequence[Policy]) -> list[KeyChange]:
    """Return every key that differs, by policy and key."""
    before = {one.name: dict(_flat(spelled(one))) for one in old}
    after = {one.name: dict(_flat(spelled(one))) for one in new}
    changes = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            kinds = {one.name: one.kind for one in (*old, *new)}
            changes.append(
                KeyChange(
                    policy=name,
                    key="",
                    before=kinds[name] if name in before else "",
                    after=kinds[name] if name in after else "",
                )
            )
            continue
        changes += [
            KeyChange(
                policy=name,
                key=key,
                before=before[name].get(key, ""),
                after=after[name].get(key, ""),
            )
            for key in sorted(before[name].keys() | after[name].keys())
            if before[name].get(key) != after[name].get(key)
        ]
    return changes


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - spelled keys
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{index}]")
    elif value is not None:
        yield path.rstrip("_"), str(value)


def finding_changes(old: Evaluation, new: Evaluation) -> list[FindingChange]:
    """Return what two sets of policies find differently on the same facts."""
    before = {_key(one): one for one in old.findings}
    after = {_key(one): one for one in new.findings}
    return [
        FindingChange(
            policy=key[0],
            subject=key[1],
            before=before.get(key),
            after=after.get(key),
        )
        for key in sorted(before.keys() | after.keys())
        if _shape(before.get(key)) != _shape(after.get(key))
    ]


def _key(finding: Finding) -> tuple[str, str]:
    return finding.policy, finding.subject.id


def _shape(finding: Finding | None) -> tuple[object, ...] | None:
    """Return what makes a finding another one for people."""
    if finding is None:
        return None
    steps = tuple(one.do for one in finding.actions)
    return finding.mode, finding.severity, finding.clause, steps
