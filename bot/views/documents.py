"""Answers as the JSON documents of the command line and HTTP; pure.

Money is a plain decimal string, times are RFC 3339 UTC, unknown is ``null``. Field
names are a contract: changing one needs a decision and a line in the CHANGELOG.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from billing.core.fleet import ScopeFailure
from billing.core.money import Money, Rate
from billing.core.periods import rfc3339
from billing.ports import Freshness, ImportReport, TagKeyStatus
from bot.views.answers import Check, CostAnswer, CostGroup, JobLine
from bot.views.approval_history import history_document
from policies.core.approvals import ApprovalRequest, Envelope
from policies.core.finding import Evaluation, Finding, Refusal, Unknown

Document = dict[str, Any]


def money(amount: Money | Rate | None) -> str | None:
    """Return an amount as its plain decimal string; None stays unknown."""
    return None if amount is None else amount.text()


def instant(at: datetime | None) -> str | None:
    """Return an instant as RFC 3339 UTC; None stays unknown."""
    return None if at is None else rfc3339(at)


def cost_document(answer: CostAnswer) -> Document:
    """Return the document of `gpucost cost`."""
    return {
        "currency": answer.currency,
        "metric": answer.metric.value,
        "since": instant(answer.since),
        "until": instant(answer.until),
        "job": answer.job or None,
        "team": answer.team or None,
        "account": answer.account or None,
        "net": answer.is_net,
        "total": money(answer.total),
        "billed": money(answer.billed),
        "provisional": money(answer.provisional),
        "provisional_unknown": [*answer.provisional_unknown],
        "provisional_basis": [*answer.provisional_basis],
        "credits": money(answer.credits),
        "billed_through": {
            account: instant(through)
            for account, through in sorted(answer.billed_through.items())
        },
        "by": answer.by or None,
        "groups": [_group(group) for group in answer.groups],
        "unattributed": money(answer.unattributed),
        "stale": [_freshness(one) for one in answer.stale],
        **_job_part(answer),
    }


def _group(group: CostGroup) -> Document:
    return {
        "key": group.key,
        "total": money(group.total),
        "billed": money(group.billed),
        "provisional": money(group.provisional),
    }


def _freshness(one: Freshness) -> Document:
    return {
        "source": one.source.value,
        "account": one.account,
        "as_of": instant(one.as_of),
        "reason": one.reason,
    }


def _job_part(answer: CostAnswer) -> Document:
    if not answer.job:
        return {}
    return {
        "owner": answer.owner or None,
        "categories": [_group(group) for group in answer.by_category],
        "days": [
            {"day": day.isoformat(), "total": money(amount), "provisional": open_}
            for day, amount, open_ in answer.by_day
        ],
        "burn_per_hour": money(answer.burn),
        "forecast_24h": money(answer.forecast_24h),
        "instances": [
            {
                "instance_type": line.instance_type,
                "lifecycle": line.lifecycle,
                "region": line.region,
                "count": line.count,
                "gpus": line.gpus,
                "per_hour": money(line.rate),
            }
            for line in answer.running
        ],
        "as_of": [_freshness(one) for one in answer.freshness],
    }


def jobs_document(jobs: Sequence[JobLine]) -> Document:
    """Return the document of `gpucost jobs`."""
    return {
        "jobs": [
            {
                "job": job.job,
                "team": job.team or None,
                "owner": job.owner or None,
                "state": job.state,
                "total": money(job.total),
                "burn_per_hour": money(job.burn),
                "instances": job.instances,
                "gpus": job.gpus,
                "since": instant(job.since),
            }
            for job in jobs
        ]
    }


def ingest_document(
    imports: Sequence[ImportReport], errors: Sequence[ScopeFailure]
) -> Document:
    """Return the document of `gpucost ingest`."""
    return {
        "imports": [
            {
                "source": report.source.value,
                "account": report.account,
                "state": report.state,
                "since": report.since.isoformat(),
                "until": report.until.isoformat(),
                "charges": report.charges,
                "currency": report.total.currency,
                "total": money(report.total),
                "control_total": money(report.control_total),
                "difference": money(report.difference),
                "requests": report.requests,
                "request_cost": money(report.request_cost),
                "message": report.message,
            }
            for report in imports
        ],
        "errors": [
            {
                "source": failure.source,
                "account": failure.account,
                "region": failure.region,
                "code": failure.code,
                "message": failure.message,
            }
            for failure in errors
        ],
    }


def tag_keys_document(keys: Sequence[TagKeyStatus]) -> list[Document]:
    """Return the state of each configured job tag key."""
    return [
        {
            "key": one.key,
            "state": one.state,
            "active_since": one.active_since.isoformat() if one.active_since else None,
            "suggestions": [*one.suggestions],
        }
        for one in keys
    ]


def envelope_document(envelope: Envelope) -> Document:
    """Return an envelope; hours as a plain number of at most six places."""
    return {
        "job": envelope.job,
        "instance_type": envelope.instance_type,
        "count": envelope.count,
        "hours": round(float(envelope.hours), 6),
        "purchase": envelope.purchase.value,
        "region": envelope.region,
        "cost_ceiling": money(envelope.cost_ceiling),
    }


def approval_document(
    request: ApprovalRequest,
    names: Mapping[str, str],
    currency: str,
    *,
    grant: str | None = None,
) -> Document:
    """Return one approval request; ``names`` maps pseudonyms to what to show."""
    return {
        "currency": currency,
        "id": request.request_id,
        "version": request.version,
        "state": request.state.value,
        "envelope": envelope_document(request.envelope),
        "requester": names.get(request.requester, request.requester) or None,
        "caller": names.get(request.caller, request.caller) or None,
        "owner": names.get(request.owner, request.owner) or None,
        "reason": request.reason,
        "policy": request.rule.policy if request.rule else None,
        "required": request.rule.tier.required if request.rule else 0,
        "votes": [
            {
                "by": names.get(vote.person_id, vote.person_id),
                "decision": vote.verdict.value,
                "at": instant(vote.at),
                "asserted": vote.asserted,
                "for": names.get(vote.seat, vote.seat) or None,
                "reason": vote.reason or None,
            }
            for vote in request.votes
        ],
        "history": history_document(request, names, instant),
        "expires_at": instant(request.expires_at),
        "decided_at": instant(request.decided_at),
        "grant": grant,
    }


def coverage_document(reason: str) -> Document:
    """Return what `gpucost approval verify` says; "" is no reason against it."""
    return {"covered": not reason, "reason": reason or None}


def plan_document(evaluation: Evaluation, currency: str) -> Document:
    """Return the document of `gpucost policy plan`."""
    return {
        "currency": currency,
        "now": instant(evaluation.now),
        "findings": [_finding(finding) for finding in evaluation.findings],
        "refused": [_refusal(one) for one in evaluation.refused],
        "unknown": [_unknown(one) for one in evaluation.unknown],
    }


def _subject(finding: Finding | Unknown) -> Document:
    subject = finding.subject
    return {
        "type": subject.type,
        "id": subject.id,
        "account": subject.account,
        "region": subject.region,
    }


def _finding(finding: Finding) -> Document:
    return {
        "policy": finding.policy,
        "kind": finding.kind,
        "mode": finding.mode,
        "subject": _subject(finding),
        "job": finding.job or None,
        "severity": finding.severity.value,
        "since": instant(finding.since),
        "cost_at_stake": money(finding.cost_at_stake),
        "evidence": [
            {
                "name": one.name,
                "value": one.value,
                "unit": one.unit,
                "threshold": one.threshold,
                "as_of": instant(one.as_of),
            }
            for one in finding.evidence
        ],
        "explanation": [*finding.explanation],
        "actions": [
            {"do": action.do, "at": instant(action.at)} for action in finding.actions
        ],
    }


def _refusal(one: Refusal) -> Document:
    return {"policy": one.policy, "action": one.action, "reason": one.reason}


def _unknown(one: Unknown) -> Document:
    return {"policy": one.policy, "subject": _subject(one), "missing": one.missing}


def checks_document(checks: Iterable[Check]) -> Document:
    """Return the document of `gpucost doctor`."""
    return {
        "checks": [
            {"name": c.name, "ok": c.ok, "message": c.message, "fix": c.fix}
            for c in checks
        ]
    }


def day_text(day: date) -> str:
    """Return a billing day for people: ``Mon 30 Nov``."""
    return f"{day:%a} {day.day} {day:%b}"
