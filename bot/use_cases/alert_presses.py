"""What a press under an alert does: keep, snooze, say that it is in use. On record.

Who may press is checked before; a press twice does it once.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.ports import Store, UnitOfWork
from bot.use_cases.actions import cancel
from bot.use_cases.alerts import Routing, redraw
from bot.views.slack_values import Alert, Feedback
from policies.core.actions import ActionState
from policies.core.catalogue import Policy
from policies.core.kinds.ttl import TtlPolicy
from policies.core.waivers import Waiver, WaiverState
from policies.ports import StoredFinding

KEEP_FOR = timedelta(hours=24)
#: In all, from when a finding opened, where its policy has no maximum of its own.
KEEP_MAX = timedelta(hours=72)
#: Less than this is not worth granting.
KEEP_LEAST = timedelta(minutes=5)
REASON = "Keep alive, pressed in Slack"
IN_USE = "in use, said in Slack"
KEPT = "kept by a person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """What pressing came to.

    Attributes:
        until: Until when it holds; None when it was refused.
        again: It held before.
    """

    until: datetime | None
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Presses:
    """Presses under the alerts of one store.

    Attributes:
        routing: How alerts are drawn.
        policies: The policies in force.
    """

    store: Store
    routing: Routing
    policies: Sequence[Policy]

    def keep(
        self, stored: StoredFinding, alert: Alert, *, by: str, now: datetime
    ) -> Pressed:
        """Let the policy leave a subject alone for a day, as long as it allows."""
        with self.store.write() as unit:
            return self._keep(unit, stored, alert, by=by, why=REASON, now=now)

    def snooze(
        self,
        stored: StoredFinding,
        alert: Alert,
        until: datetime,
        *,
        by: str,
        now: datetime,
    ) -> Pressed:
        """Remind nobody until an instant; what is planned goes on, with its warnings."""
        with self.store.write() as unit:
            fresh = unit.alerts.find(alert.fingerprint) or alert
            snoozed = replace(fresh, snoozed_until=until)
            unit.alerts.put(snoozed)
            self._redraw(unit, stored, snoozed, now)
            data = {"policy": stored.finding.policy, "until": until.isoformat()}
            unit.audit.append(
                "alert snoozed", actor=by, subject=alert.fingerprint, data=data, now=now
            )
        return Pressed(until=until)

    def not_idle(
        self, stored: StoredFinding, alert: Alert, *, by: str, now: datetime
    ) -> Pressed:
        """Keep somebody's word that it is in use, and keep it alive."""
        finding = stored.finding
        with self.store.write() as unit:
            is_new = unit.alerts.add_feedback(
                Feedback(
                    fingerprint=finding.fingerprint,
                    opened_at=alert.opened_at,
                    policy=finding.policy,
                    job=finding.job,
                    subject=finding.subject.id,
                    by=by,
                    said_at=now,
                )
            )
            kept = self._keep(unit, stored, alert, by=by, why=IN_USE, now=now)
            if is_new:
                data = {"policy": finding.policy, "subject": finding.subject.id}
                unit.audit.append(
                    "finding denied",
                    actor=by,
                    subject=alert.fingerprint,
                    data=data,
                    now=now,
                )
        return Pressed(until=kept.until, again=not is_new)

    def _keep(
        self,
        unit: UnitOfWork,
        stored: StoredFinding,
        alert: Alert,
        *,
        by: str,
        why: str,
        now: datetime,
    ) -> Pressed:
        finding, subject = stored.finding, stored.finding.subject.id.lower()
        until = min(now + KEEP_FOR, self._latest(stored, now))
        held = [
            one
            for one in unit.journal.waivers(since=now)
            if (one.policy, one.subject) == (finding.policy, subject)
            and one.state is WaiverState.GRANTED
        ]
        longest = max((one.until for one in held), default=now)
        self._call_off(unit, stored, now)
        fresh = unit.alerts.find(alert.fingerprint) or alert
        if longest + timedelta(hours=1) >= until and held:
            self._redraw(unit, stored, fresh, now, held[-1])
            return Pressed(until=longest, again=True)
        if until < now + KEEP_LEAST:
            self._redraw(unit, stored, fresh, now)
            return Pressed(until=None)
        waiver = _grant(unit, stored, subject, by=by, why=why, until=until, now=now)
        self._redraw(unit, stored, fresh, now, waiver)
        return Pressed(until=until)

    def _latest(self, stored: StoredFinding, now: datetime) -> datetime:
        """Return how long its policy lets people keep something, without asking."""
        policy = next(
            (one for one in self.policies if one.name == stored.finding.policy), None
        )
        starts = [one.started_at for one in stored.finding.targets if one.started_at]
        if isinstance(policy, TtlPolicy):
            # Nobody knows since when it runs: the maximum cannot be kept.
            return min(starts) + policy.max if starts else now
        return stored.opened_at + KEEP_MAX

    def _call_off(self, unit: UnitOfWork, stored: StoredFinding, now: datetime) -> None:
        for action in unit.journal.actions_of([stored.finding.fingerprint]):
            if action.state is ActionState.WAITING:
                cancel(unit, action, KEPT, now)

    def _redraw(
        self,
        unit: UnitOfWork,
        stored: StoredFinding,
        alert: Alert,
        now: datetime,
        waiver: Waiver | None = None,
    ) -> None:
        finding = stored.finding
        if waiver is not None:
            finding = replace(finding, waiver=waiver.waiver_id, actions=())
        redraw(unit, finding, alert, self.routing, now, waiver=waiver)


def _grant(
    unit: UnitOfWork,
    stored: StoredFinding,
    subject: str,
    *,
    by: str,
    why: str,
    until: datetime,
    now: datetime,
) -> Waiver:
    """Store a waiver that its owner may grant: short, and within the policy's maximum."""
    waiver = Waiver(
        waiver_id=f"wvr-{secrets.token_hex(5)}",
        policy=stored.finding.policy,
        subject=subject,
        owner=by,
        reason=why,
        until=until,
        cap=None,
        state=WaiverState.ASKED,
        asked_at=now,
    )
    unit.journal.add_waiver(waiver)
    unit.journal.decide_waiver(waiver, WaiverState.GRANTED, by=by, now=now)
    unit.audit.append(
        "waiver granted",
        actor=by,
        subject=waiver.waiver_id,
        data={
            "policy": waiver.policy,
            "subject": subject,
            "until": until.isoformat(),
            "how": why,
        },
        now=now,
    )
    return replace(waiver, state=WaiverState.GRANTED, decided_by=by, decided_at=now)
