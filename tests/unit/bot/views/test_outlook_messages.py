"""The month's end and days that stand out, as the digest shows them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

from inline_snapshot import snapshot

from billing.core.anomalies import Anomaly, Cause
from billing.core.forecast_month import forecast_month
from billing.ports.anomalies import AwsAnomaly
from bot.use_cases.forecast import budget_state
from bot.views.digest import digest
from bot.views.outlook import outlook_blocks
from bot.views.outlook_answers import AnomalyAnswer, Outlook, TeamForecast
from tests.builders import at, usd
from tests.builders_bot import NOW, PEOPLE, drawn, make_digest

DAYS = {date(2026, 11, 30) - timedelta(days=n): usd("100") for n in range(1, 70)}
DAY = date(2026, 11, 27)
HOSTILE = "<!channel> <@U0MIA> `x` *b*"


def make_outlook(*anomalies: Anomaly, aws: tuple[AwsAnomaly, ...] = ()) -> Outlook:
    found = forecast_month(DAYS, at("2026-11-30"), currency="USD")
    return Outlook(
        forecast=TeamForecast(
            team="", forecast=found, budget=budget_state(found, usd("2950"))
        ),
        anomalies=AnomalyAnswer(
            currency="USD", since=date(2026, 11, 23), until=date(2026, 11, 30),
            floor=usd("100"), judged=7, anomalies=anomalies, explained=(), aws=aws,
        ),
    )  # fmt: skip


def make_anomaly(series: str = "team research", key: str = "llm-9") -> Anomaly:
    return Anomaly(
        series=series, day=DAY, cost=usd("4100"), usual=usd("100"),
        excess=usd("4000"), deviations=Fraction(9),
        causes=(Cause(key=key, cost=usd("4000"), usual=usd("0")),),
    )  # fmt: skip


def make_finding_of_aws() -> AwsAnomaly:
    return AwsAnomaly(
        anomaly_id="a", since=DAY, until=None, service="Amazon EC2", region="",
        account="", usage_type="", impact=usd("812.5"), expected=None, actual=None,
        monitor="all", feedback="",
    )  # fmt: skip


def test_the_digest_tells_the_months_end_and_what_stood_out() -> None:
    outlook = make_outlook(make_anomaly(), aws=(make_finding_of_aws(),))
    answer = replace(make_digest(), outlook=outlook)

    text = drawn(*digest(answer, people=PEOPLE, now=NOW))
    start = text.index("*November*")
    assert text[start : text.index("*Needs somebody*", start)] == snapshot("""\
*November*: $3,000.00 expected at its end, $3,000.00 to $3,000.00
Forecast by the mean of the last 7 days, tried on 55 past days, off by 0 % in the
   median; the interval held 47 of 47 (100 %, 80 % is meant).
Budget $2,950.00: 98 % used, 102 % expected, used up on 2026-11-30
*Out of the ordinary*
• Fri 27 Nov, team research: $4,100.00 instead of $100.00 (llm-9 new, +$4,000.00)
• AWS, since Fri 27 Nov: $812.50 over what it expected, Amazon EC2
""")


def test_nothing_is_said_where_nothing_can_be() -> None:
    empty = forecast_month({}, at("2026-11-30"), currency="USD")
    quiet = replace(make_outlook(), forecast=TeamForecast(team="", forecast=empty))

    assert outlook_blocks(quiet) == []
    assert outlook_blocks(None) == []


def test_names_of_teams_and_jobs_cannot_speak_to_slack() -> None:
    text = str(outlook_blocks(make_outlook(make_anomaly(HOSTILE, HOSTILE))))

    assert "<!channel>" not in text
    assert "<@U" not in text
