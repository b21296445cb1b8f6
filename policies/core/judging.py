"""What judging one policy gives, and the small sentences every kind needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policies.core.finding import Finding, Refusal, Unknown
from policies.core.view import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Everything one policy has to say about the facts.

    Attributes:
        in_scope: Subjects the policy looked at, for its limits.
    """

    findings: tuple[Finding, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    refused: tuple[Refusal, ...] = ()
    in_scope: int = 0


class Judging:
    """Collects a judgement while a policy is evaluated."""

    def __init__(self, policy: Any) -> None:  # noqa: ANN401 (any policy model)
        self.policy = policy
        self.findings: list[Finding] = []
        self.unknown: list[Unknown] = []
        self.refused: list[Refusal] = []
        self.in_scope = 0

    def miss(self, group: Group, missing: str) -> None:
        """Report a group that cannot be judged."""
        self.unknown.append(
            Unknown(
                policy=self.policy.name,
                subject=group.subject,
                missing=missing,
                job=group.job,
            )
        )

    def refuse(self, action: str, reason: str) -> None:
        """Report an action that cannot work."""
        self.refused.append(
            Refusal(policy=self.policy.name, action=action, reason=reason)
        )

    def result(self) -> Judgement:
        """Return what was collected."""
        return Judgement(
            findings=tuple(self.findings),
            unknown=tuple(self.unknown),
            refused=tuple(self.refused),
            in_scope=self.in_scope,
        )


def plural(number: int, word: str) -> str:
    """Return a count with its word, such as ``1 instance`` or ``3 GPUs``.

    >>> plural(1, "instance"), plural(3, "GPU")
    ('1 instance', '3 GPUs')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def number_text(value: float) -> str:
    """Return a measured value with as many decimals as help, at most two."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def message_of(finding: Finding, headline: str) -> str:
    """Return the plain text a person gets: a headline, then one sentence a line."""
    return "\n".join((headline, *finding.explanation))
