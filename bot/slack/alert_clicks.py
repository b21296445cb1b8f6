"""A press under an alert, as Slack sends it; None when it is no button of ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.slack.handlers import Asker
from bot.slack.origin import Body
from bot.views.alert_buttons import (
    ALERT_ACTIONS,
    SNOOZE,
    AlertPress,
    parse_alert_value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertClick:
    """Who pressed which button under which alert."""

    asker: Asker
    action: str
    press: AlertPress
    now: datetime


def read_alert_click(action: Body, asker: Asker, now: datetime) -> AlertClick | None:
    """Read a press of a button, or a choice of the Snooze menu."""
    name = str(action.get("action_id") or "")
    chosen = action.get("selected_option")
    carried = chosen.get("value") if isinstance(chosen, Mapping) else None
    press = parse_alert_value(str(carried or action.get("value") or ""))
    if name not in ALERT_ACTIONS or press is None:
        return None
    if (name == SNOOZE) != (press.snooze is not None):
        return None
    return AlertClick(asker=asker, action=name, press=press, now=now)
