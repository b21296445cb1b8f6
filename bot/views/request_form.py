"""The form that asks for a run, with what it would cost while it is filled in. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.views.answers import EstimateAnswer, Json
from bot.views.blocks import context, plain_text, section
from bot.views.text import escape
from bot.views.words import amount

CALLBACK = "request_form"
TYPED = "request_typed"
#: Block of a field -> its option on the command line.
FIELDS: Mapping[str, str] = {
    "request_instance": "instance-type",
    "request_count": "count",
    "request_hours": "hours",
    "request_purchase": "purchase",
    "request_job": "job",
    "request_reason": "reason",
}
_PURCHASES = ("on-demand", "spot", "savings-plan", "reserved", "capacity-block")
_LABELS = {
    "request_instance": ("Instance type", "p5.48xlarge"),
    "request_count": ("How many", "4"),
    "request_hours": ("How long", "24h or 3d"),
    "request_job": ("Job", "job-123"),
    "request_reason": ("Why", "final run"),
}
#: Typing in these asks for the estimate again.
_LIVE = frozenset({"request_instance", "request_count", "request_hours"})
FIRST_FIELD = "request_instance"
WAITING = "What it would cost is shown here as soon as it can be told."
_CHARS_MAX = 300


def request_form(told: str = WAITING) -> Json:
    """Return the form; what is filled in stays where its blocks stay."""
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": plain_text("Request a run", most=24),
        "submit": plain_text("Request", most=24),
        "close": plain_text("Cancel", most=24),
        "blocks": [
            _text("request_instance"),
            _text("request_count"),
            _text("request_hours"),
            _purchase(),
            section(told),
            _text("request_job"),
            _text("request_reason", is_long=True),
            context("People of the policy decide; its card says what you ask for."),
        ],
    }


def _text(block: str, *, is_long: bool = False) -> Json:
    label, example = _LABELS[block]
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": TYPED,
        "placeholder": plain_text(example, most=150),
        "max_length": _CHARS_MAX,
    }
    if is_long:
        element["multiline"] = True
    field: dict[str, Any] = {
        "type": "input",
        "block_id": block,
        "label": plain_text(label, most=150),
        "element": element,
    }
    if block in _LIVE:
        field["dispatch_action"] = True
        when = {"trigger_actions_on": ["on_character_entered"]}
        element["dispatch_action_config"] = when
    return field


def _purchase() -> Json:
    options = [{"text": plain_text(one, most=75), "value": one} for one in _PURCHASES]
    return {
        "type": "input",
        "block_id": "request_purchase",
        "label": plain_text("How it is bought", most=150),
        "dispatch_action": True,
        "element": {
            "type": "static_select",
            "action_id": TYPED,
            "options": options,
            "initial_option": options[0],
        },
    }


def read_form(view: Mapping[str, Any]) -> dict[str, str]:
    """Return what is filled in, by option of the command line."""
    values = (view.get("state") or {}).get("values") or {}
    found = {}
    for block, option in FIELDS.items():
        element = (values.get(block) or {}).get(TYPED) or {}
        chosen = (element.get("selected_option") or {}).get("value")
        text = str(chosen or element.get("value") or "").strip()
        if text:
            found[option] = text
    return found


def estimate_told(answer: EstimateAnswer) -> str:
    """Say what a run would cost, and whether somebody must approve it."""
    found = answer.estimate
    cost = f"*{amount(found.expected)}* expected, {amount(found.low)} to {amount(found.high)}."
    if not answer.required:
        return f"{cost} No policy asks for approval."
    return f"{cost} Policy {escape(answer.policy, most=80)} asks for approval."


def problems_told(problems: Sequence[str]) -> dict[str, str]:
    """Return what is wrong beside the field it is about."""
    found: dict[str, str] = {}
    for problem in problems:
        block = _about(problem)
        found[block] = f"{found[block]}; {problem}" if block in found else problem
    return found


def _about(problem: str) -> str:
    words = {
        "instance type": "request_instance",
        "count": "request_count",
        "how long": "request_hours",
        "purchase": "request_purchase",
        "--job": "request_job",
    }
    return next(
        (block for word, block in words.items() if word in problem), FIRST_FIELD
    )
