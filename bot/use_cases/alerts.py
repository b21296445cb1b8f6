"""One message for each finding: posted once, rewritten as it changes and when it ends.

Everything is queued in the transaction that records the findings. Reasons and reminders
go to the message's thread; many findings of one policy stand in one thread together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.money import Money
from bot.ports import OutboxMessage, UnitOfWork
from bot.use_cases.cards import post
from bot.use_cases.shown import shown_names
from bot.views.alert import (
    finding_again,
    finding_alert,
    finding_details,
    finding_resolved,
    findings_group,
)
from bot.views.alert_buttons import AlertState
from bot.views.answers import Message
from bot.views.slack_values import Alert
from policies.core.decide import Notice, Why
from policies.core.finding import Finding
from policies.core.waivers import Waiver, WaiverState
from policies.ports import StoredFinding

#: More findings of one policy at once than this stand in one thread.
GROUP_OVER = 5
#: Amounts that merely grow are rewritten no oftener.
REFRESH_AFTER = timedelta(hours=1)
_DIGITS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where notices go.

    Attributes:
        alerts: Channel for everything without a better place; "" posts nothing.
        teams: Channel of a team.
        owners: Slack id of an owner tag's value; one that is missing is shown as text.
        quiet: Slack ids of people whom alerts do not mention now.
        can_stop: Whether there is a role to stop machines with.
    """

    alerts: str
    teams: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    can_stop: bool = False

    def channel(self, finding: Finding) -> str:
        """Return where a finding is told."""
        return self.teams.get(finding.team, "") or self.alerts

    @property
    def mentioned(self) -> Mapping[str, str]:
        """Return the owners that are mentioned now; the others are shown as text."""
        return {tag: one for tag, one in self.owners.items() if one not in self.quiet}


def tell(
    unit: UnitOfWork, notices: Sequence[Notice], routing: Routing, now: datetime
) -> None:
    """Post what is new, and remind of what lasts or got worse."""
    new: dict[tuple[str, str], list[Finding]] = {}
    for notice in notices:
        finding = notice.finding
        alert = unit.alerts.find(finding.fingerprint)
        if alert is not None and alert.resolved_at is None:
            _remind(unit, notice, alert, routing, now)
        elif routing.channel(finding):
            place = (finding.policy, routing.channel(finding))
            new.setdefault(place, []).append(finding)
    for (policy, channel), findings in new.items():
        group = ""
        if len(findings) > GROUP_OVER:
            group = f"findings:{policy}:{channel}:{now.isoformat()}"
            message = findings_group(findings, open_left=len(findings), now=now)
            unit.outbox.put(post(group, channel, message), now)
        for finding in findings:
            _open(unit, finding, channel, group, routing, now=now)


def _open(
    unit: UnitOfWork,
    finding: Finding,
    channel: str,
    group: str,
    routing: Routing,
    *,
    now: datetime,
) -> None:
    stored = unit.journal.open_finding(finding.fingerprint)
    opened = stored.opened_at if stored else now
    key = f"finding:{finding.fingerprint}:{opened.isoformat()}"
    alert = Alert(
        key=key,
        fingerprint=finding.fingerprint,
        opened_at=opened,
        channel=channel,
        group=group,
        changed_at=now,
    )
    state = alert_state(unit, finding, alert, routing, now)
    message = finding_alert(finding, people=routing.mentioned, now=now, state=state)
    unit.outbox.put(replace(post(key, channel, message), thread_of=group), now)
    if not group:
        _reply(unit, alert, "details", finding_details(finding, now=now), now)
    unit.alerts.put(replace(alert, face=_face(finding, state)))
    unit.journal.mark_notified(finding.fingerprint, now)


def _remind(
    unit: UnitOfWork, notice: Notice, alert: Alert, routing: Routing, now: datetime
) -> None:
    """Say in the thread that a finding lasts or got worse, unless it is snoozed."""
    if alert.snoozed_until is not None and now < alert.snoozed_until:
        return
    message = finding_again(
        notice.finding, people=routing.mentioned, is_worse=notice.why is Why.WORSE
    )
    _reply(unit, alert, f"again:{now.isoformat()}", message, now)
    unit.journal.mark_notified(notice.finding.fingerprint, now)


def _reply(
    unit: UnitOfWork, alert: Alert, name: str, message: Message, now: datetime
) -> None:
    reply = post(f"{alert.key}:{name}", alert.channel, message)
    unit.outbox.put(replace(reply, thread_of=alert.group or alert.key), now)


def reply(
    unit: UnitOfWork, alert: Alert, name: str, message: Message, now: datetime
) -> None:
    """Queue a message for an alert's thread; the same name is posted once."""
    _reply(unit, alert, name, message, now)


def refresh(
    unit: UnitOfWork, findings: Iterable[Finding], routing: Routing, now: datetime
) -> None:
    """Rewrite the messages of open findings that say something else by now."""
    live = {one.fingerprint: one for one in unit.alerts.live()}
    if not live:
        return
    waivers = {one.waiver_id: one for one in unit.journal.waivers(since=now)}
    for finding in findings:
        alert = live.get(finding.fingerprint)
        if alert is not None:
            redraw(
                unit, finding, alert, routing, now, waiver=waivers.get(finding.waiver)
            )


def redraw(
    unit: UnitOfWork,
    finding: Finding,
    alert: Alert,
    routing: Routing,
    now: datetime,
    *,
    waiver: Waiver | None = None,
) -> None:
    """Rewrite one message when it says something else by now."""
    state = alert_state(unit, finding, alert, routing, now, waiver=waiver)
    face = _face(finding, state)
    if face == alert.face:
        return
    loud, _, _ = face.partition(":")
    only_amount = loud == alert.face.partition(":")[0]
    if only_amount and now - alert.changed_at < REFRESH_AFTER:
        return
    message = finding_alert(finding, people=routing.mentioned, now=now, state=state)
    _rewrite(unit, alert, message, now)
    unit.alerts.put(replace(alert, face=face, changed_at=now, resolved_at=None))


def _rewrite(unit: UnitOfWork, alert: Alert, message: Message, now: datetime) -> None:
    # What it said before is part of the key: each change is made once, in order.
    key = f"{alert.key}:{alert.changed_at.isoformat()}:{now.isoformat()}"
    unit.outbox.put(
        OutboxMessage(
            key=key,
            kind="update",
            channel=alert.channel,
            payload={"text": message.text, "blocks": [*message.blocks]},
            ref=alert.key,
        ),
        now,
    )


def alert_state(
    unit: UnitOfWork,
    finding: Finding,
    alert: Alert,
    routing: Routing,
    now: datetime,
    *,
    waiver: Waiver | None = None,
) -> AlertState:
    """Gather what people did about a finding."""
    if waiver is None and finding.waiver:
        waiver = unit.journal.waiver(finding.waiver)
    said = [
        one.by
        for one in unit.alerts.feedback(alert.opened_at, now + timedelta(days=1))
        if (one.fingerprint, one.opened_at) == (alert.fingerprint, alert.opened_at)
    ]
    names = shown_names(unit, [*said[:1], *([waiver.owner] if waiver else [])])
    is_kept = waiver is not None and waiver.state is WaiverState.GRANTED
    return AlertState(
        opened_at=alert.opened_at,
        kept_until=waiver.until if waiver and is_kept else None,
        kept_by=names.get(waiver.owner, "") if waiver and is_kept else "",
        snoozed_until=alert.snoozed_until,
        not_idle_by=names.get(said[0], "somebody") if said else "",
        can_stop=routing.can_stop,
    )


def _face(finding: Finding, state: AlertState) -> str:
    """Return what matters of a message: what people act on, then its amount."""
    parts = (
        finding.severity.value, finding.mode, finding.owner,
        ",".join(f"{one.do}@{one.at.isoformat()}" for one in finding.actions),
        str(len(finding.targets)), state.kept_until, state.kept_by,
        state.snoozed_until, state.not_idle_by, state.can_stop,
    )  # fmt: skip
    text = "\x1f".join(map(str, parts))
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}:{_rounded(finding)}"


def _rounded(finding: Finding) -> str:
    """Return an amount to two digits: a cent more is no news."""
    stake = finding.cost_at_stake
    if stake is None:
        return "unknown"
    digits = max(0, len(str(abs(stake.nanos))) - _DIGITS)
    return Money(round(Fraction(stake.nanos, 10**digits)) * 10**digits).text()


def resolve(
    unit: UnitOfWork, ended: Sequence[StoredFinding], routing: Routing, now: datetime
) -> None:
    """Rewrite the messages of findings that are over, and of the threads they are in."""
    groups: dict[str, Alert] = {}
    for stored in ended:
        finding = stored.finding
        message = finding_resolved(finding, people={}, now=now)
        alert = unit.alerts.find(finding.fingerprint)
        if alert is None or alert.resolved_at is not None:
            _tell_end(unit, stored, message, routing, now)
            continue
        _rewrite(unit, alert, message, now)
        unit.alerts.put(replace(alert, face="", changed_at=now, resolved_at=now))
        if alert.group:
            groups[alert.group] = alert
    for group, alert in sorted(groups.items()):
        _redraw_group(unit, group, alert, ended, now)


def _tell_end(
    unit: UnitOfWork,
    stored: StoredFinding,
    message: Message,
    routing: Routing,
    now: datetime,
) -> None:
    """Post the end of a finding whose only message was the warning of an action."""
    channel = routing.channel(stored.finding)
    if channel and stored.notified_at is not None:
        opened = stored.opened_at.isoformat()
        key = f"finding:{stored.finding.fingerprint}:{opened}:resolved"
        unit.outbox.put(post(key, channel, message), now)


def _redraw_group(
    unit: UnitOfWork,
    group: str,
    alert: Alert,
    ended: Sequence[StoredFinding],
    now: datetime,
) -> None:
    """Say how many findings of a thread are open; costs are those last known."""
    known = {one.finding.fingerprint: one.finding for one in ended}
    members = unit.alerts.members(group)
    findings = []
    for one in members:
        stored = unit.journal.open_finding(one.fingerprint)
        found = stored.finding if stored else known.get(one.fingerprint)
        if found is not None:
            findings.append(found)
    left = sum(one.resolved_at is None for one in members)
    if not findings:
        return
    message = findings_group(findings, open_left=left, now=now, count=len(members))
    unit.outbox.put(
        OutboxMessage(
            key=f"{group}:{left}:{now.isoformat()}",
            kind="update",
            channel=alert.channel,
            payload={"text": message.text, "blocks": [*message.blocks]},
            ref=group,
        ),
        now,
    )


def reopened(
    unit: UnitOfWork,
    found: Iterable[Finding],
    ended: Mapping[str, StoredFinding],
) -> None:
    """Take up the old message of findings that came back after a short while."""
    for finding in found:
        before = ended.get(finding.fingerprint)
        alert = unit.alerts.find(finding.fingerprint)
        stored = unit.journal.open_finding(finding.fingerprint)
        if before is None or stored is None or stored.notified_at is not None:
            continue
        if before.notified_at is None:
            continue
        unit.journal.mark_notified(finding.fingerprint, before.notified_at)
        if alert is not None and alert.resolved_at is not None:
            unit.alerts.put(
                replace(alert, opened_at=stored.opened_at, resolved_at=None, face="")
            )
