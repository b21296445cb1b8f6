"""The weekly digest: what the week cost, what moved, and what needs somebody.

A quiet week is short. A long one goes on in the thread: the first message alone
says the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from billing.core.money import Money
from bot.views.alert import kind_name, subject_line
from bot.views.answers import DigestAnswer, Json, Message, TopLine
from bot.views.blocks import bullets, columns, context, divider, fields, header, section
from bot.views.cost import OPEN_DAY, group_label
from bot.views.digest_extras import extra_blocks, mover_line
from bot.views.freshness import stale_lines
from bot.views.limits import fit
from bot.views.native import bar_chart
from bot.views.outlook import outlook_blocks
from bot.views.people import People, who
from bot.views.text import escape, fallback, name, plain
from bot.views.words import (
    amount,
    change,
    day,
    days_of,
    listed,
    plural,
    share,
    short_day,
)
from policies.core.approvals import ApprovalRequest, RequestState, Verdict
from policies.core.finding import Finding

_TOP_MAX = 10
_FINDINGS_MAX = 10
_APPROVALS_MAX = 10
_NOTES_MAX = 5


def digest(
    answer: DigestAnswer, *, people: People, now: datetime
) -> tuple[Message, ...]:
    """Render a digest; messages after the first belong in its thread."""
    title = _title(answer)
    reasons = mover_line(answer.movers)
    lead = "\n".join(line for line in (_total_line(answer), reasons) if line)
    blocks = [header(title), section(lead), fields(_figures(answer))]
    blocks += _warnings(answer, now)
    if not _is_quiet(answer):
        blocks += _days(answer)
        blocks += _top("Jobs", answer.top_jobs, answer.total)
        blocks += _top("Teams", answer.top_teams, answer.total)
        blocks += _categories(answer)
    blocks += outlook_blocks(answer.outlook)
    blocks += _findings(answer.findings, people)
    blocks += _approvals(answer.approvals)
    blocks.append(divider())
    blocks.append(context(*_small_print(answer)))
    text = f"{fallback(title, most=140)}: {amount(answer.total)}, {_change(answer)}"
    main = fit(Message(text=text, blocks=tuple(blocks)))
    return (*main, *_details(answer, title))


def _details(answer: DigestAnswer, title: str) -> tuple[Message, ...]:
    """Render what stands in the thread alone."""
    blocks = extra_blocks(answer.extras)
    if not blocks:
        return ()
    text = f"Details of {fallback(title, most=140)}"
    return fit(Message(text=text, blocks=tuple(blocks)))


def _title(answer: DigestAnswer) -> str:
    team = f", team {plain(answer.team, most=60)}" if answer.team else ""
    return f"GPU costs {answer.label}{team}"


def _is_quiet(answer: DigestAnswer) -> bool:
    return answer.total.nanos == 0


def _total_line(answer: DigestAnswer) -> str:
    period = days_of(answer.since, answer.until)
    if _is_quiet(answer):
        return f"A quiet {answer.every}: *{amount(answer.total)}* from {period} (UTC)."
    total = f"*{amount(answer.total)}* from {period} (UTC), before credits and refunds"
    return f"{total}: {_change(answer)}"


def _change(answer: DigestAnswer) -> str:
    said = change(answer.total, answer.previous)
    return (
        said
        if said.startswith(("no ", "new "))
        else f"{said} the {answer.every} before"
    )


def _figures(answer: DigestAnswer) -> list[tuple[str, str]]:
    burn = "unknown, a price is missing" if answer.burn is None else str(answer.burn)
    pairs = [("Burn rate now", burn)]
    if not _is_quiet(answer):
        parts = (answer.billed, answer.provisional)
        pairs[:0] = zip(
            ("Billed by AWS", "Provisional"), map(amount, parts), strict=True
        )
    if answer.credits.nanos:
        pairs.append(("Credits and refunds", amount(answer.credits)))
    if answer.untagged is not None and answer.untagged.nanos:
        part = share(answer.untagged, answer.total)
        shown = f"{amount(answer.untagged)}{f' ({part})' if part else ''}"
        pairs.append(("Without a job tag", shown))
    stake = _at_stake(answer.findings)
    if stake is not None:
        count = plural(len(answer.findings), "finding")
        pairs.append(("Needs somebody", f"{count}, {stake}"))
    return pairs


def _at_stake(findings: Sequence[Finding]) -> str | None:
    """Sum what is known to be at stake, and say when part of it is not."""
    if not findings:
        return None
    known = [one.cost_at_stake for one in findings if one.cost_at_stake is not None]
    if not known:
        return "amount unknown"
    total = known[0]
    for one in known[1:]:
        total += one
    least = "at least " if len(known) < len(findings) else ""
    return f"{least}{amount(total)} at stake"


def _warnings(answer: DigestAnswer, now: datetime) -> list[Json]:
    lines = list(stale_lines(answer.stale, now))
    return [section(":warning: " + "\n:warning: ".join(lines))] if lines else []


def _days(answer: DigestAnswer) -> list[Json]:
    points = [
        (f"{when:%a} {short_day(when)}{OPEN_DAY if is_open else ''}", cost)
        for when, cost, is_open in answer.by_day
    ]
    if not points:
        return []
    title = f"Cost by UTC day ({answer.currency})"
    return [bar_chart(title, points, series="cost", unit=f"{answer.currency} per day")]


def _top(title: str, lines: Sequence[TopLine], total: Money) -> list[Json]:
    if not lines:
        return []
    rows = [
        (
            group_label(line.key),
            amount(line.total),
            share(line.total, total),
            _moved(line),
        )
        for line in lines[:_TOP_MAX]
    ]
    left = len(lines) - _TOP_MAX
    more = f"\n… and {left:,} more" if left > 0 else ""
    return [section(f"*{title}*"), section(columns(rows) + more)]


def _moved(line: TopLine) -> str:
    """Say the change in few characters; new and unchanged have no percentage."""
    if line.previous is None or (line.previous.nanos == 0 and line.total.nanos):
        return "new (was $0)" if line.previous is not None else "new"
    said = change(line.total, line.previous)
    return said.split(" from ", maxsplit=1)[0].removesuffix(f" as {line.previous}")


def _categories(answer: DigestAnswer) -> list[Json]:
    rows = [
        (group_label(group.key), amount(group.total), share(group.total, answer.total))
        for group in answer.by_category
        if group.total.nanos
    ]
    return [section("*By category*"), section(columns(rows))] if rows else []


def _findings(findings: Sequence[Finding], people: People) -> list[Json]:
    if not findings:
        return []
    worst = sorted(findings, key=_by_stake)[:_FINDINGS_MAX]
    lines = [_finding(one, people) for one in worst]
    left = len(findings) - len(worst)
    if left > 0:
        lines.append(f"and {left:,} more")
    return [section(f"*Needs somebody*\n{bullets(lines)}")]


def _by_stake(finding: Finding) -> tuple[int, str, str]:
    stake = finding.cost_at_stake
    return (-(stake.nanos if stake else 0), finding.policy, finding.subject.id)


def _finding(finding: Finding, people: People) -> str:
    about = name(finding.job) if finding.job else subject_line(finding.subject)
    stake = finding.cost_at_stake
    cost = "amount unknown" if stake is None else amount(stake)
    owner = f", {who(finding.owner, people)}" if finding.owner else ""
    return f"{escape(kind_name(finding.kind))}: {about}, {cost}{owner}"


def _approvals(requests: Sequence[ApprovalRequest]) -> list[Json]:
    if not requests:
        return []
    shown = requests[:_APPROVALS_MAX]
    lines = [
        f"{name(one.envelope.job)}: {_state(one)}"
        f"{'' if one.high is None else f', up to {amount(one.high)}'}"
        for one in shown
    ]
    left = len(requests) - len(shown)
    if left > 0:
        lines.append(f"and {left:,} more")
    return [section(f"*Approvals*\n{bullets(lines)}")]


def _state(request: ApprovalRequest) -> str:
    """Say where a request stands; a digest rings nobody for what is done."""
    if request.state is RequestState.NEEDS_INFO:
        return "waiting for an answer"
    state = "waiting" if request.state.is_open else request.state.value
    broken = any(vote.verdict is Verdict.BREAK_GLASS for vote in request.votes)
    return (
        f":rotating_light: {state}, glass broken, to be reviewed" if broken else state
    )


def _small_print(answer: DigestAnswer) -> list[str]:
    lines = [escape(note, most=300) for note in answer.notes[:_NOTES_MAX]]
    open_days = answer.estimated_days
    if open_days:
        days = listed(tuple(day(one) for one in open_days), most=7)
        count = plural(len(open_days), "day")
        lines.append(
            f"{count} may still move, marked + (estimated or provisional): {days}."
        )
    lines.append("Effective cost: discounts and commitments included, amortised.")
    return lines
