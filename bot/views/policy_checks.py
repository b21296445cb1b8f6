"""What tests, comparisons and explanations of policies look like: JSON and terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.terminal import clean
from policies.core.casebook import Verdict
from policies.core.comparing import FindingChange, KeyChange
from policies.core.finding import Finding

Document = dict[str, object]
#: File of a test, and what became of it.
Tested = tuple[str, Verdict]


def tests_document(tested: Sequence[Tested]) -> Document:
    """Return the outcome of tests as JSON."""
    return {
        "tests": [
            {
                "file": file,
                "name": one.name,
                "passed": not one.differences,
                "differences": [*one.differences],
            }
            for file, one in tested
        ]
    }


def tests_text(tested: Sequence[Tested]) -> str:
    """Return the outcome of tests for the terminal: failures, then the count."""
    lines = []
    for file, one in tested:
        if one.differences:
            lines.append(f"FAILED {clean(file)}: {clean(one.name)}")
            lines += [f"  {clean(text)}" for text in one.differences]
    failed = sum(bool(one.differences) for _, one in tested)
    passed = len(tested) - failed
    lines.append(f"{passed} passed" + (f", {failed} failed" if failed else ""))
    return "\n".join(lines)


def diff_document(
    keys: Sequence[KeyChange], findings: Sequence[FindingChange]
) -> Document:
    """Return what a change of policies changes as JSON."""
    return {
        "keys": [
            {
                "policy": one.policy,
                "key": one.key or None,
                "before": one.before or None,
                "after": one.after or None,
            }
            for one in keys
        ],
        "findings": [
            {
                "policy": one.policy,
                "subject": one.subject,
                "before": _brief(one.before),
                "after": _brief(one.after),
            }
            for one in findings
        ],
    }


def _brief(finding: Finding | None) -> Document | None:
    if finding is None:
        return None
    return {
        "mode": finding.mode,
        "severity": finding.severity.value,
        "clause": finding.clause,
        "actions": [one.do for one in finding.actions],
    }


def diff_text(keys: Sequence[KeyChange], findings: Sequence[FindingChange]) -> str:
    """Return what a change of policies changes, for the terminal."""
    lines = ["What is written:"] if keys else []
    lines += [f"  {_key_line(one)}" for one in keys]
    if findings:
        lines.append("What is found now:")
        lines += [f"  {_finding_line(one)}" for one in findings]
    if not keys:
        return "nothing changes"
    if not findings:
        lines.append("The same is found now.")
    return "\n".join(clean(line) for line in lines)


def _key_line(one: KeyChange) -> str:
    if not one.key:
        sign, kind = ("+", one.after) if one.after else ("-", one.before)
        return f"{sign} {one.policy} ({kind})"
    before, after = one.before or "(default)", one.after or "(default)"
    return f"~ {one.policy}: {one.key}: {before} -> {after}"


def _finding_line(one: FindingChange) -> str:
    if one.before is None and one.after is not None:
        return f"+ {one.policy} on {one.subject}: {one.after.clause}{_steps(one.after)}"
    if one.after is None and one.before is not None:
        return f"- {one.policy} on {one.subject}: {one.before.clause}"
    assert one.before is not None
    assert one.after is not None
    return (
        f"~ {one.policy} on {one.subject}: {one.before.mode} "
        f"{one.before.severity.value}{_steps(one.before)} -> {one.after.mode} "
        f"{one.after.severity.value}{_steps(one.after)}"
    )


def _steps(finding: Finding) -> str:
    steps = ", ".join(one.do for one in finding.actions)
    return f" [{steps}]" if steps else ""
