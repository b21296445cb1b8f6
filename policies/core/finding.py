"""Findings: one subject that breaks one policy, with the values that decided.

A finding is identified by its fingerprint, which depends on policy, subject and
clause only, so the same trouble seen again updates it. Pure.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from billing.core.money import Money


class Severity(StrEnum):
    """How loud a finding is."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Subject:
    """What a finding is about.

    Attributes:
        type: ``job``, ``instance``, ``checkpoint-location``, ``commitment``, ``account``.
        id: The subject's own id, verbatim.
    """

    type: str
    id: str
    account: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One value that decided, beside the limit it was held against.

    Attributes:
        value: The value as text; None when unknown.
        unit: Unit of value and threshold; "" when they carry their own.
        threshold: The policy's own limit as text; "" when there is none.
        as_of: When the value was true; None when it has no instant.
    """

    name: str
    value: str | None
    unit: str = ""
    threshold: str = ""
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """What a policy would do about a finding, and when at the earliest.

    Attributes:
        after: Delay after the warning was delivered; None when ``at`` alone counts.
    """

    do: str
    at: datetime
    after: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """One resource that an action would touch.

    Attributes:
        started_at: Start of the run it was seen in; None when unknown.
        kind: ``instance``, or ``checkpoint``: every object under one S3 folder.
        version: Digest of exactly which versions a checkpoint consists of.
    """

    resource_id: str
    account: str
    region: str
    manager: str
    lifecycle: str
    started_at: datetime | None = None
    kind: str = "instance"
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One subject that breaks one policy.

    Attributes:
        clause: The clause that decided, in the policy's own words; part of the identity.
        since: Since when the condition holds.
        cost_at_stake: What acting would save or the run would cost; None when unknown.
        explanation: Sentences for people, plain text (not escaped, no markup).
        actions: Steps of the policy for this finding, in order.
        mode: ``observe``, ``notify`` or ``enforce``.
        targets: Resources that its actions would touch, sorted.
        waiver: Id of the waiver that covers it; "" when none does.
    """

    policy: str
    kind: str
    mode: str
    subject: Subject
    job: str
    severity: Severity
    clause: str
    since: datetime
    cost_at_stake: Money | None
    evidence: tuple[Evidence, ...]
    explanation: tuple[str, ...]
    actions: tuple[PlannedAction, ...] = ()
    owner: str = ""
    team: str = ""
    targets: tuple[Target, ...] = ()
    waiver: str = ""

    @property
    def fingerprint(self) -> str:
        """Return the stable identity of this trouble."""
        parts = (
            self.policy, self.kind, self.subject.type, self.subject.account,
            self.subject.region, self.subject.id, self.clause,
        )  # fmt: skip
        return hashlib.sha256(
            "\x1f".join(parts).encode("utf-8", "surrogatepass")
        ).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A subject that could not be judged because a fact is missing.

    Attributes:
        missing: What is missing, such as ``gpu_utilization of 3 of 4 GPUs``.
    """

    policy: str
    subject: Subject
    missing: str
    job: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An action that guard rails or capability refuse, and why."""

    policy: str
    action: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Everything one evaluation found, each part in a stated order (sorted).

    Attributes:
        judged: Names of the policies that were evaluated, sorted.
    """

    now: datetime
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    refused: tuple[Refusal, ...] = ()
    judged: tuple[str, ...] = ()
