"""What people read around actions and waivers, to the letter."""

# ruff: noqa: E501  # messages as they are

from __future__ import annotations

from dataclasses import replace

from inline_snapshot import snapshot

from bot.views.acting import action_ended, action_warning, confirm_wanted
from bot.views.plain import message_text
from bot.views.waivers import waiver_asked, waiver_decided, waiver_ending
from policies.core.actions import ActionState
from policies.core.waivers import WaiverState
from tests.builders_policies import NOW
from tests.unit.policies.test_actions import found, planned
from tests.unit.policies.test_waivers import make_waiver

PEOPLE = {"ada": "U0ADA", "p-mia": "U0MIA", "p-bob": "U0BOB"}


def test_a_warning_says_what_will_be_touched_when_and_how_to_keep_it() -> None:
    _, _, finding = found()
    (action,) = planned()

    message = action_warning(finding, action, people=PEOPLE, now=NOW)

    assert message_text(message) == snapshot("""\
Stop soon: job-123
:warning: <@U0ADA>: gpucost will stop 1 instance 15 minutes after this message.
2 GPUs of 1 instance stayed within every limit for 30m: highest gpu_utilization 0% (limit < 5%), highest network 2000 B/s (limit < 1 MB/s). It costs $98.32/h, $2,359.68 a day.
What will be touched
i-1 in us-east-1, 012345678901
It saves at most $2,359.68 a day: less where commitments pay for it.
To keep it
Use it, tag it gpucost-keep=true, or let an admin /gpucost pause. It is looked at again right before.
Policy stop-idle, idle: gpu_utilization < 5%, network < 1 MB/s for 30m.\
""")


def test_what_became_of_an_action_is_said_in_one_line() -> None:
    (action,) = planned()

    told = [
        message_text(action_ended(action, state, reason=reason, now=NOW))
        for state, reason in (
            (ActionState.DONE, ""),
            (ActionState.CANCELLED, "i-1: it carries the tag gpucost-keep"),
            (ActionState.FAILED, "i-1: UnauthorizedOperation"),
        )
    ]

    assert told == snapshot(
        [
            ":white_check_mark: Stopped: 1 instance of job-123, at 30 Nov 2026 09:00 UTC.",
            "Nothing was done to job-123: i-1: it carries the tag gpucost-keep.",
            ":x: Could not stop all of job-123: i-1: UnauthorizedOperation. Look at it in AWS.",
        ]
    )


def test_a_policy_that_wants_to_act_says_who_must_confirm_it() -> None:
    message = confirm_wanted("stop-idle", "abc123", confirmed=1, kind="idle")

    assert message_text(message) == snapshot("""\
Policy stop-idle wants to act
Policy stop-idle (idle) is in enforce mode, as abc123. Until 1 more admin confirmed exactly this wording, it only tells.
Confirm with gpucost policy confirm stop-idle.\
""")


def test_a_waiver_is_told_when_asked_decided_and_ending() -> None:
    granted = replace(make_waiver(), decided_by="p-bob")
    asked = replace(granted, state=WaiverState.ASKED)

    told = [
        message_text(waiver_asked(asked, PEOPLE)),
        message_text(waiver_decided(granted, PEOPLE)),
        message_text(waiver_ending(granted, PEOPLE, now=NOW)),
    ]

    assert told == snapshot(
        [
            """\
Waiver asked for: job-123
<@U0MIA> asks that policy stop-idle leaves job-123 alone until 1 Dec 2026 09:00 UTC.
>a long debugging session
An admin decides: gpucost waiver grant wvr-1 or gpucost waiver refuse wvr-1.\
""",
            ":white_check_mark: <@U0BOB> granted the waiver of <@U0MIA>: stop-idle on job-123, until 1 Dec 2026 09:00 UTC.",
            ":hourglass_flowing_sand: <@U0MIA>: your waiver of stop-idle on job-123 ends in 1 day, at 1 Dec 2026 09:00 UTC. Then the policy counts again.",
        ]
    )


def test_hostile_names_and_reasons_are_shown_and_never_parsed() -> None:
    waiver = replace(
        make_waiver(), subject="<!channel>", reason="<@U0EVE> & <http://x|y>"
    )

    texts = [
        part["text"]["text"]
        for part in waiver_asked(waiver, PEOPLE).blocks
        if part["type"] == "section"
    ]

    assert texts
    assert all("<" not in text.replace("<@U0MIA>", "") for text in texts)
