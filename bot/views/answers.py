"""The answers use cases hand to views: everything shown, nothing rendered.

Times are aware UTC, amounts exact; None means unknown and is shown as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from billing.core.charges import Metric
from billing.core.estimate import Estimate
from billing.core.fleet import ScopeFailure
from billing.core.money import Money, Rate
from billing.ports import Freshness, ImportReport, TagKeyStatus
from bot.views.digest_values import DigestExtras, Mover
from bot.views.outlook_answers import Outlook
from policies.core.approvals import ApprovalRequest, ApprovalRule
from policies.core.finding import Finding

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostGroup:
    """One line of a breakdown.

    Attributes:
        provisional: None when a part of it has no known price.
        list_total: None when the metric was not asked for or is unknown.
    """

    key: str
    total: Money
    billed: Money
    provisional: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningLine:
    """One kind of instance a job runs right now; rate None when its price is unknown."""

    instance_type: str
    lifecycle: str
    region: str
    count: int
    gpus: int | None
    rate: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAnswer:
    """The answer to `gpucost cost` and `/gpucost job-123`.

    Attributes:
        job / team / account: The filter asked for; "" when not filtered.
        since / until: The window, half-open.
        total: ``billed + provisional`` before credits (with ``is_net``, credits included).
        provisional: Accrued after billed-through; the known part when
            ``provisional_unknown`` names what could not be priced.
        provisional_basis: How hours were priced where that is not the public price.
        credits: Credits and refunds of the window, negative or zero.
        unattributed: Untagged part of the total (questions without a job only).
        groups: The breakdown asked for, by total descending, then key.
        by_category / by_day: For a job: always filled.
        burn: Price per hour of what runs now; None when any part is unknown.
        forecast_24h: What the next 24 hours cost if nothing changes; None when unknown.
        rounding: Net rounding of the rows in the answer is below one nano-unit each.
    """

    currency: str
    metric: Metric
    since: datetime
    until: datetime
    as_of: datetime
    total: Money
    billed: Money
    provisional: Money
    credits: Money
    billed_through: Mapping[str, datetime]
    groups: tuple[CostGroup, ...] = ()
    by: str = ""
    unattributed: Money | None = None
    stale: tuple[Freshness, ...] = ()
    freshness: tuple[Freshness, ...] = ()
    provisional_unknown: tuple[str, ...] = ()
    provisional_basis: tuple[str, ...] = ()
    job: str = ""
    team: str = ""
    account: str = ""
    owner: str = ""
    is_net: bool = False
    by_category: tuple[CostGroup, ...] = ()
    by_day: tuple[tuple[date, Money, bool], ...] = ()
    running: tuple[RunningLine, ...] = ()
    burn: Rate | None = None
    forecast_24h: Money | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopLine:
    """One job or team of a digest with the change against the period before.

    Attributes:
        previous: None when there is no earlier figure (new), not zero.
    """

    key: str
    total: Money
    previous: Money | None
    owner: str = ""
    team: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestAnswer:
    """A digest, ready to be rendered.

    Attributes:
        label: Such as ``2026-W48``, ``2026-11`` or ``2026-11-30`` (UTC billing days).
        every: ``day``, ``week`` or ``month``.
        since / until: Its billing days, half-open.
        previous: Total of the span before; None when the ledger does not hold it.
        estimated_days: Its days that are still estimated or provisional.
        approvals: Requests asked or decided in it.
        movers: What moved the total most, up or down; empty without a span before.
    """

    label: str
    since: date
    until: date
    currency: str
    team: str
    total: Money
    billed: Money
    provisional: Money
    credits: Money
    previous: Money | None
    by_day: tuple[tuple[date, Money, bool], ...]
    by_category: tuple[CostGroup, ...]
    top_jobs: tuple[TopLine, ...]
    top_teams: tuple[TopLine, ...]
    untagged: Money | None
    findings: tuple[Finding, ...]
    approvals: tuple[ApprovalRequest, ...]
    burn: Rate | None
    estimated_days: tuple[date, ...]
    stale: tuple[Freshness, ...]
    notes: tuple[str, ...] = field(default_factory=tuple)
    every: str = "week"
    outlook: Outlook | None = None
    movers: tuple[Mover, ...] = ()
    extras: DigestExtras | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskError:
    """Something asked that cannot be answered, said for a person.

    Attributes:
        message: One or two plain sentences.
        suggestions: Nearest names, best first.
        hint: What to do; "" when the message says it.
    """

    message: str
    suggestions: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """One job of `gpucost jobs`.

    Attributes:
        state: ``running`` or ``ended``.
        total: Total of the window before credits; None when a part is unknown.
        burn: Price per hour of what runs now; None when any part is unknown.
        gpus: GPUs held now; None when a type is unknown.
    """

    job: str
    team: str
    owner: str
    state: str
    total: Money | None
    burn: Rate | None
    instances: int
    gpus: int | None
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateAnswer:
    """An estimate and whether a policy asks for approval of it.

    Attributes:
        policy / over: The policy that asks and its limit; "" and None when none does.
    """

    estimate: Estimate
    required: bool
    policy: str = ""
    over: Money | None = None
    rule: ApprovalRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOutcome:
    """What one `gpucost ingest` did.

    Attributes:
        notes: Warnings for a person, such as an inactive tag key.
    """

    imports: tuple[ImportReport, ...] = ()
    errors: tuple[ScopeFailure, ...] = ()
    tag_keys: tuple[TagKeyStatus, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Tell whether anything was rejected or could not be read."""
        states = {report.state for report in self.imports}
        return bool(self.errors) or bool(states & {"rejected", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of `gpucost doctor`.

    Attributes:
        ok: None when it could not be checked.
        fix: What to do; "" when nothing.
    """

    name: str
    ok: bool | None
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A rendered Slack message: fallback text always, blocks within Slack's limits."""

    text: str
    blocks: tuple[Json, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """One bearer token; its secret is known to its holder alone.

    Attributes:
        digest: SHA-256 of the secret, hexadecimal.
        person_id: Pseudonym of whom it speaks for.
        created_by: Pseudonym of who made it.
        used_at: When it was last used, to the hour.
    """

    token_id: str
    digest: str
    person_id: str
    scopes: frozenset[str]
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None
