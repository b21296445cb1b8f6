"""Alerts, errors, help and status as people read them; a diff is the review."""

from __future__ import annotations

from datetime import timedelta

from inline_snapshot import snapshot

from bot.views.alert import finding_alert, finding_resolved
from bot.views.answers import AskError
from bot.views.errors import ask_error, bad_usage
from bot.views.help import help_message, menu
from bot.views.status import paused, resumed
from tests.builders_bot import (
    NOW,
    PEOPLE,
    drawn,
    make_action,
    make_finding,
    shown,
)


def test_alert_with_an_owner_who_is_known() -> None:
    message = finding_alert(make_finding(), people=PEOPLE, now=NOW)

    assert drawn(message) == snapshot("""\
Idle GPUs: job-123, $1,320.96 at stake
------
# Idle GPUs: job-123
:warning: <@U0MIA>: No GPU of i-0abc did anything for 42 minutes.
| *About* instance `i-0abc` in us-east-1, 012345678901
| *Job* `job-123`
| *At stake* $1,320.96
| *Since* 30 Nov 2026 15:18 UTC, 42 minutes ago
| *Team* `research`
*What happens next*
The policy only notifies: nothing in AWS is changed.
(Policy `stop-idle-gpus`. Explain shows the reasons.)\
""")


def test_alert_of_an_enforcing_policy_says_what_happens_when() -> None:
    finding = make_finding(mode="enforce", actions=(make_action(),))

    text = shown(finding_alert(finding, people=PEOPLE, now=NOW))

    assert "stop the instance in 15 minutes, at 30 Nov 2026 16:15 UTC" in text


def test_alert_whose_amount_is_unknown_says_so() -> None:
    finding = make_finding(cost_at_stake=None)

    text = shown(finding_alert(finding, people=PEOPLE, now=NOW))

    assert "*At stake* unknown" in text


def test_owner_whom_slack_does_not_know_is_named_not_mentioned() -> None:
    finding = make_finding(owner="<!channel>")

    text = shown(finding_alert(finding, people=PEOPLE, now=NOW))

    assert "&lt;!channel&gt;: No GPU" in text


def test_resolved_alert() -> None:
    message = finding_resolved(make_finding(), people=PEOPLE, now=NOW)

    assert drawn(message) == snapshot("""\
Resolved: Idle GPUs: job-123
------
# Idle GPUs: job-123
:white_check_mark: *Resolved* <@U0MIA> at 30 Nov 2026 16:00 UTC, after 42 minutes.
(Policy `stop-idle-gpus`, instance `i-0abc` in us-east-1, 012345678901.)\
""")


def test_unknown_job_shows_the_nearest() -> None:
    error = AskError(
        message="No job called jbo-123 is known.", suggestions=("job-123",)
    )

    assert drawn(ask_error(error, command="/gpucost")) == snapshot("""\
No job called jbo-123 is known.
------
No job called jbo-123 is known.
Did you mean `/gpucost job-123`?\
""")


def test_bad_usage_says_everything_at_once() -> None:
    message = bad_usage(("count must be 1", "say how long"), command="/gpucost")

    assert drawn(message) == snapshot("""\
count must be 1
------
• count must be 1
• say how long
`/gpucost help` shows what can be asked.\
""")


def test_help() -> None:
    assert drawn(help_message("/gpucost")) == snapshot("""\
What you can ask: /gpucost job-123, top, help
------
# What you can ask
`/gpucost job-123` what a job has cost, what it costs now, and since when
`/gpucost why job-123` how a figure came about (also: why job-123:compute, why
   team:nlp)
`/gpucost leaks job-123` what of a job's cost was avoidable, and how
`/gpucost compare job-1 job-2` two runs: cost per step and token, scaling
`/gpucost me` your own jobs this month
`/gpucost top last week` the most expensive jobs (also: top teams, top accounts)
`/gpucost team research 7d` what a team has cost
`/gpucost account 012345678901` what an AWS account has cost
`/gpucost idle` GPUs that are paid for and do nothing
`/gpucost checkpoints` old checkpoints and what they cost
`/gpucost coverage` how much is covered by commitments
`/gpucost untagged` cost that no job tag explains, and whose it probably is
`/gpucost budget research` how much of the month's budget a team has used
`/gpucost forecast` what the month will come to (also: forecast team nlp)
`/gpucost anomalies` days that cost more than usual
`/gpucost reconciliation` how far provisional cost was from the bill
`/gpucost waivers` what policies leave alone, and until when
`/gpucost estimate p5.48xlarge x4 24h` what a run would cost, with cheaper ways
`/gpucost request p5.48xlarge x4 24h --job job-123 --reason "..."` ask for approval
   of a run
`/gpucost approvals` requests that wait or were decided
`/gpucost digest` last week's digest, for you alone (also: digest 2026-W48)
`/gpucost subscribe #ml-infra weekly mon 9:00 team=nlp` send a digest to a channel
   (also: subscriptions, unsubscribe 3)
`/gpucost pause` stop every action of gpucost (resume: admins only)
(Times: 7d, last week, this month, last month, 2026-11, since mon,
   2026-11-03..2026-11-09. Days are AWS billing days (UTC); yesterday and last week are
   those of your calendar.)
(Share shows an answer to the whole channel, Refresh asks again, How computed lists
   what a figure is made of.)\
""")


def test_menu() -> None:
    assert drawn(menu("/gpucost")) == snapshot("""\
Ask `/gpucost job-123` what a job costs, `/gpucost top` what costs most, `/gpucost
   estimate p5.48xlarge x4 24h` what a run would cost. `/gpucost help` shows
   everything.
------
Ask `/gpucost job-123` what a job costs, `/gpucost top` what costs most, `/gpucost
   estimate p5.48xlarge x4 24h` what a run would cost. `/gpucost help` shows
   everything.\
""")


def test_pause_and_resume() -> None:
    message = paused("p-ada", since=NOW, reason="migration", people=PEOPLE)

    assert "Actions are paused by <@U0ADA>" in shown(message)
    assert "allowed again by <@U0ADA>" in shown(
        resumed("p-ada", at=NOW + timedelta(hours=1), people=PEOPLE)
    )
