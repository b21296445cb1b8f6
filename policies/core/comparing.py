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


#: What policies say: by name, text by dotted key.
Written = Mapping[str, Mapping[str, str]]


def written(policies: Sequence[Policy]) -> dict[str, dict[str, str]]:
    """Return what policies say, as it can be kept and compared later."""
    return {one.name: dict(_flat(spelled(one))) for one in policies}


def key_changes(old: Sequence[Policy], new: Sequence[Policy]) -> list[KeyChange]:
    """Return every key that differs, by policy and key."""
    return written_changes(written(old), written(new))


def written_changes(before: Written, after: Written) -> list[KeyChange]:
    """Return every key that differs, by policy and key; a whole policy by its kind."""
    changes = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        keys = sorted(old.keys() | new.keys())
        if not old or not new:
            keys = ["kind"]
        changes += [
            KeyChange(
                policy=name,
                key=key if old and new else "",
                before=old.get(key, ""),
                after=new.get(key, ""),
            )
            for key in keys
            if old.get(key) != new.get(key)
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
