"""Answers as text for a terminal: aligned tables, plain words; pure.

Control characters of names and tags never reach the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from billing.core.charges import Source
from billing.core.money import Money, Rate
from billing.core.periods import rfc3339
from billing.ports import ImportReport
from bot.views.answers import (
    Check,
    CostAnswer,
    CostGroup,
    IngestOutcome,
    JobLine,
)
from bot.views.approval_history import history_rows
from bot.views.documents import day_text
from policies.core.approvals import ApprovalRequest
from policies.core.finding import Evaluation, Finding

UNKNOWN = "unknown"
AT_LEAST = "at least "
NOTHING_READ = (
    "nothing was read yet: run `gpucost ingest`, or let `gpucost serve` do it"
)
_MARKS = {True: "ok", False: "FAIL", None: "?"}


def clean(text: str) -> str:
    r"""Return text with control characters made visible.

    >>> clean("job\x1b[31m")
    'job?[31m'
    """
    return "".join(char if char.isprintable() else "?" for char in text)


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Align columns two spaces apart; ``right`` names those aligned to the right.

    >>> print(table([("job", "total"), ("a", "$1.00")], right=frozenset({1})))
    job  total
    a    $1.00
    """
    shown = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]
    return "\n".join(lines)


def amount(value: Money | Rate | None) -> str:
    """Return an amount for people, or the word for unknown."""
    return UNKNOWN if value is None else str(value)


def when(at: datetime | None) -> str:
    """Return an instant to the minute, or the word for unknown."""
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def cost_text(answer: CostAnswer) -> str:
    """Return what `gpucost cost` prints."""
    parts = [_headline(answer), _totals(answer)]
    if answer.job:
        parts += _job_sections(answer)
    if answer.groups:
        parts.append(_groups(answer.by, answer.groups))
    parts += _warnings(answer)
    return "\n\n".join(part for part in parts if part)


def brief_text(answer: CostAnswer) -> str:
    """Return the total, what is billed of it, and what is not known, without details."""
    parts = [_headline(answer), _totals(answer), *_warnings(answer)]
    return "\n\n".join(part for part in parts if part)


def _headline(answer: CostAnswer) -> str:
    subject = answer.job or (f"team {answer.team}" if answer.team else "")
    subject = subject or (f"account {answer.account}" if answer.account else "all jobs")
    net = ", credits included" if answer.is_net else ", before credits"
    least = AT_LEAST if answer.provisional_unknown else ""
    return clean(
        f"{subject}: {least}{answer.total} {answer.metric.value} cost{net}, "
        f"{when(answer.since)} to {when(answer.until)}"
    )


def _totals(answer: CostAnswer) -> str:
    least = AT_LEAST if answer.provisional_unknown else ""
    rows = [
        ("billed", str(answer.billed), _through(answer)),
        (
            "provisional",
            f"{least}{answer.provisional}",
            "running time x price since then",
        ),
    ]
    if answer.credits.nanos:
        rows.append(("credits", str(answer.credits), "credits and refunds, apart"))
    if answer.unattributed is not None and answer.unattributed.nanos:
        rows.append(("untagged", str(answer.unattributed), "part of the total"))
    return table(rows, right=frozenset({1}))


def _through(answer: CostAnswer) -> str:
    if not answer.billed_through:
        return "no complete billing day yet"
    ends = sorted(answer.billed_through.values())
    if ends[0] == ends[-1]:
        return f"complete through {when(ends[0])}"
    return f"complete through {when(ends[0])} to {when(ends[-1])}, by account"


def _job_sections(answer: CostAnswer) -> list[str]:
    owner = f"team {answer.team or UNKNOWN}, owner {answer.owner or UNKNOWN}"
    facts = [
        ("burn now", amount(answer.burn)),
        ("next 24 h", f"{amount(answer.forecast_24h)} if nothing changes"),
        ("seen", f"{when(answer.first_seen_at)} to {when(answer.last_seen_at)}"),
    ]
    running = [
        (
            f"{line.count} x {line.instance_type}",
            line.lifecycle,
            line.region,
            f"{line.gpus if line.gpus is not None else UNKNOWN} GPUs",
            amount(line.rate),
        )
        for line in answer.running
    ]
    days = [
        (day_text(day), str(cost), "provisional" if is_open else "")
        for day, cost, is_open in answer.by_day
    ]
    return [
        clean(owner),
        table(facts),
        table(running) if running else "nothing is running now",
        _groups("category", answer.by_category) if answer.by_category else "",
        table(days, right=frozenset({1})) if days else "",
    ]


def _groups(by: str, groups: Sequence[CostGroup]) -> str:
    head = (by, "total", "billed", "provisional")
    rows = [
        (
            group.key or UNKNOWN,
            f"{AT_LEAST if group.provisional is None else ''}{group.total}",
            str(group.billed),
            amount(group.provisional),
        )
        for group in groups
    ]
    return table([head, *rows], right=frozenset({1, 2, 3}))


def _warnings(answer: CostAnswer) -> list[str]:
    if not answer.freshness:
        return [NOTHING_READ]
    lines = [f"not priced: {reason}" for reason in answer.provisional_unknown]
    lines += [f"priced so: {basis}" for basis in answer.provisional_basis]
    lines += [
        f"stale: {one.source.value} {one.account} as of {when(one.as_of)}: {one.reason}"
        for one in answer.stale
    ]
    return ["\n".join(clean(line) for line in lines)] if lines else []


def jobs_text(jobs: Sequence[JobLine]) -> str:
    """Return what `gpucost jobs` prints."""
    if not jobs:
        return "no jobs in this period"
    head = ("job", "team", "owner", "state", "total", "burn", "instances", "GPUs")
    rows = [
        (
            job.job, job.team or "-", job.owner or "-", job.state, amount(job.total),
            amount(job.burn), str(job.instances),
            UNKNOWN if job.gpus is None else str(job.gpus),
        )
        for job in jobs
    ]  # fmt: skip
    return table([head, *rows], right=frozenset({4, 5, 6, 7}))


def ingest_text(outcome: IngestOutcome) -> str:
    """Return what `gpucost ingest` prints."""
    rows = [
        (
            report.source.value, report.account or "-", report.state,
            f"{report.since} to {report.until}", report.message,
        )
        for report in outcome.imports
    ]  # fmt: skip
    lines = table(rows).splitlines() if rows else []
    lines = [
        part
        for line, report in zip(lines, outcome.imports, strict=True)
        for part in (line, f"  {_import_figures(report)}")
    ]
    lines += [clean(note) for note in outcome.notes]
    lines += [
        clean(
            f"failed: {one.source} {one.account} {one.region} {one.code}: {one.message}"
        )
        for one in outcome.errors
    ]
    return "\n".join(lines) or "nothing to read"


def _import_figures(report: ImportReport) -> str:
    parts = [f"{report.charges} charges, {report.total}"]
    is_export = report.source is Source.EXPORTS
    if report.control_total is not None:
        own = "the files' own total" if is_export else "AWS's own total"
        parts.append(f"{own} {report.control_total}")
    if report.difference is not None and report.difference.nanos:
        # Each line was rounded once, so below a cent this is all that rounding did.
        parts.append(f"difference {report.difference.text()}")
    if not is_export:
        parts.append(f"{report.requests} requests, {report.request_cost}")
    return "; ".join(parts)


def plan_text(evaluation: Evaluation) -> str:
    """Return what `gpucost policy plan` prints."""
    parts = [_finding_text(finding) for finding in evaluation.findings]
    parts += [
        clean(f"unknown: {one.policy}: {one.subject.id}: {one.missing}")
        for one in evaluation.unknown
    ]
    parts += [
        clean(f"refused: {one.policy}: {one.action}: {one.reason}")
        for one in evaluation.refused
    ]
    return "\n".join(parts) or "no findings"


def _finding_text(finding: Finding) -> str:
    stake = f", {finding.cost_at_stake} at stake" if finding.cost_at_stake else ""
    head = (
        f"{finding.severity.value}: {finding.policy} ({finding.kind}, {finding.mode}): "
        f"{finding.subject.type} {finding.subject.id}"
        f"{f' of {finding.job}' if finding.job else ''}{stake}"
    )
    steps = [f"  would {step.do} at {rfc3339(step.at)}" for step in finding.actions]
    return "\n".join(
        clean(line)
        for line in (head, *(f"  {text}" for text in finding.explanation), *steps)
    )


def checks_text(checks: Sequence[Check]) -> str:
    """Return what `gpucost doctor` prints."""
    rows = [(_MARKS[check.ok], check.name, check.message) for check in checks]
    lines = table(rows).splitlines()
    for index, check in enumerate(checks):
        if check.fix and check.ok is not True:
            lines[index] += f"\n      fix: {clean(check.fix)}"
    return "\n".join(lines)


def approvals_text(
    requests: Sequence[ApprovalRequest], names: Mapping[str, str]
) -> str:
    """Return what `gpucost approval list` prints."""
    if not requests:
        return "no requests"
    rows = [
        (
            one.request_id, one.state.value, one.envelope.job, amount(one.high),
            names.get(one.requester, one.requester) or UNKNOWN, when(one.created_at),
        )
        for one in requests
    ]  # fmt: skip
    head = ("id", "state", "job", "high", "requester", "asked")
    return table([head, *rows], right=frozenset({3}))


def approval_text(one: ApprovalRequest, names: Mapping[str, str]) -> str:
    """Return what `gpucost approval show` prints."""
    ask = one.envelope
    shape = f"{ask.count} x {ask.instance_type}, {float(ask.hours):g} h"
    span = f"{amount(one.low)} to {amount(one.high)}, expected {amount(one.expected)}"
    rows = [
        ("request", f"{one.request_id} (version {one.version})"),
        ("state", one.state.value),
        ("run", f"{ask.job}: {shape}, {ask.purchase.value}, {ask.region}"),
        ("cost", span),
        ("requester", names.get(one.requester, one.requester) or UNKNOWN),
        ("reason", one.reason),
        ("policy", one.rule.policy if one.rule else "none asks for approval"),
        ("expires", when(one.expires_at) if one.expires_at else "never"),
    ]
    rows += [
        (
            vote.verdict.value,
            f"{names.get(vote.person_id, vote.person_id)} {when(vote.at)}"
            + (f" for {names.get(vote.seat, vote.seat)}" if vote.seat else "")
            + (f": {vote.reason}" if vote.reason else ""),
        )
        for vote in one.votes
    ]
    rows += history_rows(one, names, when)
    rows += [
        ("to weigh" if not index else "", line)
        for index, line in enumerate(one.context)
    ]
    if one.pieces:
        rows.append(("counted with", ", ".join(one.pieces)))
    return table(rows)


def duration_text(span: timedelta) -> str:
    """Return a duration in its two largest units: ``3 d 4 h``, ``12 min``.

    >>> duration_text(timedelta(hours=76)), duration_text(timedelta(minutes=12))
    ('3 d 4 h', '12 min')
    """
    minutes = int(span.total_seconds()) // 60
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    units = [(days, "d"), (hours, "h"), (minutes, "min")]
    shown = [f"{count} {unit}" for count, unit in units if count][:2]
    return " ".join(shown) or "0 min"
