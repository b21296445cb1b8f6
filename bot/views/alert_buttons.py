"""The buttons under a finding. A value names the finding; it gives nobody a right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.views.answers import Json
from bot.views.blocks import actions, button, confirm, plain_text
from policies.core.finding import Finding

KEEP = "alert_keep"
SNOOZE = "alert_snooze"
NOT_IDLE = "alert_not_idle"
STOP = "alert_stop"
EXPLAIN = "alert_explain"
ALERT_ACTIONS = (KEEP, SNOOZE, NOT_IDLE, STOP, EXPLAIN)
SNOOZES = {"4h": timedelta(hours=4), "1d": timedelta(days=1)}
_SNOOZE_LABELS = {"4h": "Snooze for 4 hours", "1d": "Snooze for 1 day"}
#: Kinds about machines that somebody may keep, or stop.
_MACHINES = frozenset({"idle", "ttl", "utilization", "stalled", "job-spend"})
_USE = frozenset({"idle", "utilization", "stalled"})
_STOPPABLE = frozenset({"idle", "ttl"})
_VALUE = re.compile(r"([0-9a-f]{32}):(\d{1,16})(?::(4h|1d))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertState:
    """What people did about a finding, as its message says it.

    Attributes:
        opened_at: When it opened; its buttons carry it. None for no buttons.
        kept_until / kept_by: Until when its policy leaves it alone, and whose doing.
        snoozed_until: Until when nobody is reminded.
        not_idle_by: Who says that it is none; "" for nobody.
        can_stop: Whether there is a role to stop it with.
    """

    opened_at: datetime | None = None
    kept_until: datetime | None = None
    kept_by: str = ""
    snoozed_until: datetime | None = None
    not_idle_by: str = ""
    can_stop: bool = False


NOTHING_DONE = AlertState()


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPress:
    """What a button of an alert says.

    Attributes:
        snooze: For how long; None when it is no Snooze.
    """

    fingerprint: str
    opened_at: datetime
    snooze: timedelta | None = None


def alert_buttons(finding: Finding, state: AlertState) -> list[Json]:
    """Return the row of buttons that fits a finding; none without an opening."""
    if state.opened_at is None:
        return []
    value = alert_value(finding.fingerprint, state.opened_at)
    row: list[Json] = []
    if finding.kind in _MACHINES:
        row.append(button("Keep alive for 24 h", action_id=KEEP, value=value))
    row.append(_snooze(value))
    if finding.kind in _USE:
        row.append(button("Not idle", action_id=NOT_IDLE, value=value))
    if state.can_stop and finding.kind in _STOPPABLE and finding.targets:
        row.append(_stop(finding, value))
    row.append(button("Explain", action_id=EXPLAIN, value=value))
    return [actions("alert_buttons", row)]


def _snooze(value: str) -> Json:
    return {
        "type": "static_select",
        "action_id": SNOOZE,
        "placeholder": plain_text("Snooze", most=150),
        "options": [
            {"text": plain_text(label, most=75), "value": f"{value}:{key}"}
            for key, label in _SNOOZE_LABELS.items()
        ],
    }


def _stop(finding: Finding, value: str) -> Json:
    count = len(finding.targets)
    what = "1 instance" if count == 1 else f"{count:,} instances"
    asked = confirm(
        "Stop now?",
        f"{what} will be stopped now, without a further warning, if AWS still shows"
        " what this alert says.",
        yes="Stop",
        no="Leave it",
    )
    return button(
        "Stop now", action_id=STOP, value=value, style="danger", confirm=asked
    )


def alert_value(fingerprint: str, opened_at: datetime) -> str:
    """Return what a button carries."""
    return f"{fingerprint}:{round(opened_at.timestamp() * 1_000_000)}"


def parse_alert_value(value: str) -> AlertPress | None:
    """Read what a button carries; None when no button of ours says so."""
    found = _VALUE.fullmatch(value)
    if found is None:
        return None
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return AlertPress(
        fingerprint=found[1],
        opened_at=start + timedelta(microseconds=int(found[2])),
        snooze=SNOOZES[found[3]] if found[3] else None,
    )
