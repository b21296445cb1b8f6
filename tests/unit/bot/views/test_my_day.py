"""The private menu and the home tab; a diff is the review."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, time, timedelta

from inline_snapshot import snapshot

from billing.core.money import Rate
from bot.views.answers import JobLine, Message
from bot.views.my_day import MyDay, home_view, menu_message, quiet_key
from bot.views.slack_values import Wishes
from deploy.sandbox.slack.blocks import view_problems
from policies.core.facts import TeamMonth
from tests.builders import usd
from tests.builders_bot import NOW, drawn, make_finding, make_request

HOSTILE = "<!channel> *x*"


def make_line(job: str = "job-123", **changes: object) -> JobLine:
    line = JobLine(
        job=job, team="research", owner="mia", state="running", total=usd("14089.02"),
        burn=Rate.of("393.28"), instances=4, gpus=32, since=NOW - timedelta(days=2),
    )  # fmt: skip
    return replace(line, **changes)  # type: ignore[arg-type]


def make_day(**changes: object) -> MyDay:
    day = MyDay(
        now=NOW,
        running=(make_line(), make_line("job-7", burn=None, total=None, gpus=None)),
        ends={"job-123": NOW + timedelta(hours=1, minutes=40)},
        teams=(
            TeamMonth(
                team="research", since=date(2026, 11, 1), spent=usd("90000"),
                forecast=usd("110000"), budget=usd("100000"),
            ),
        ),
        approvals=(make_request(),),
        findings=(make_finding(),),
    )  # fmt: skip
    return replace(day, **changes)  # type: ignore[arg-type]


def _drawn(day: MyDay) -> str:
    blocks = home_view(day, "/gpucost")["blocks"]
    texts = tuple(one for one in blocks if one["type"] != "actions")
    return drawn(Message(text="", blocks=texts))


def test_menu_shows_what_is_somebodys_own() -> None:
    assert drawn(menu_message(make_day(), "/gpucost")) == snapshot("""\
2 jobs of yours running, 2 things waiting for you. `/gpucost help` shows what can be
   asked.
------
*My jobs*: 2 running, at least $393.28/h
• `job-123`: $393.28/h, 32 GPUs, $14,089.02 this month, ends in 1 hour 40 minutes
• `job-7`: burn rate unknown, cost unknown
*My team* this month (UTC)
• `research`: $90,000.00 of $100,000.00 (90 %), $110,000.00 expected
*Needs me*
• Approve? `job-123`, 32 x p5.48xlarge, up to $40,000.00 (apr-7k2m9q)
• Idle GPUs: `job-123`, $1,320.96 at stake
(Ask `/gpucost job-123` what a job costs, `/gpucost top` what costs most, `/gpucost
   estimate p5.48xlarge x4 24h` what a run would cost. `/gpucost help` shows
   everything.)\
""")


def test_menu_of_somebody_without_anything() -> None:
    assert drawn(menu_message(MyDay(now=NOW), "/gpucost")) == snapshot("""\
0 jobs of yours running, nothing waiting for you. `/gpucost help` shows what can be
   asked.
------
*My jobs*: none of yours runs.
*My team*: no team is known of your jobs.
*Needs me*: nothing.
(Ask `/gpucost job-123` what a job costs, `/gpucost top` what costs most, `/gpucost
   estimate p5.48xlarge x4 24h` what a run would cost. `/gpucost help` shows
   everything.)\
""")


def test_home_tab() -> None:
    assert _drawn(make_day()) == snapshot("""\

------
# Your GPU jobs
*My jobs*: 2 running, at least $393.28/h
• `job-123`: $393.28/h, 32 GPUs, $14,089.02 this month, ends in 1 hour 40 minutes
• `job-7`: burn rate unknown, cost unknown
*My team* this month (UTC)
• `research`: $90,000.00 of $100,000.00 (90 %), $110,000.00 expected
*Needs me*
• Approve? `job-123`, 32 x p5.48xlarge, up to $40,000.00 (apr-7k2m9q)
• Idle GPUs: `job-123`, $1,320.96 at stake
<divider>
Alerts about your jobs mention you. In quiet hours, by your time zone, they never
   do. Warnings before something is stopped always do.
(As of 30 Nov 2026 16:00 UTC; opened again, it is read again. `/gpucost help` shows
   what can be asked.)\
""")


def test_home_tab_is_one_that_slack_takes() -> None:
    many = tuple(make_line(f"job-{index}" * 20) for index in range(200))
    wishes = Wishes(mentions=False, quiet_from=time(22), quiet_until=time(7))

    for day in (MyDay(now=NOW), make_day(), make_day(running=many, wishes=wishes)):
        assert view_problems(home_view(day, "/gpucost")) == []
    assert quiet_key(wishes) == "22-07"


def test_names_are_shown_as_they_are() -> None:
    text = _drawn(make_day(running=(make_line(HOSTILE),)))

    assert "<!channel>" not in text
    assert "&lt;!channel&gt;" in text
