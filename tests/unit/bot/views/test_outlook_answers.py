"""Forecasts, odd days and waivers as answers in Slack; a diff is the review."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from inline_snapshot import snapshot

from billing.core.money import Rate
from bot.views.native import without_native
from bot.views.outlook_answers import ForecastAnswer, JobForecast
from bot.views.outlook_messages import (
    anomalies_message,
    forecast_message,
    waivers_message,
)
from policies.core.waivers import Waiver, WaiverState
from tests.builders import at, usd
from tests.builders_bot import NOW, PEOPLE, drawn
from tests.unit.bot.views.test_outlook_messages import (
    HOSTILE,
    make_anomaly,
    make_finding_of_aws,
    make_outlook,
)


def make_forecast() -> ForecastAnswer:
    scope = make_outlook().forecast
    return ForecastAnswer(
        currency="USD", month=date(2026, 11, 1), as_of=NOW, scope=scope,
        teams=(replace(scope, team="research"), replace(scope, team="nlp", budget=None)),
    )  # fmt: skip


def make_waiver(**changes: object) -> Waiver:
    waiver = Waiver(
        waiver_id="wvr-0a1b2c3d4e", policy="stop-idle-gpus", subject="job-123",
        owner="p-mia", reason="profiling until friday", until=at("2026-12-04"),
        cap=usd("2000"), state=WaiverState.GRANTED, asked_at=NOW,
    )  # fmt: skip
    return replace(waiver, **changes)  # type: ignore[arg-type]


def test_forecast_of_everything() -> None:
    assert drawn(forecast_message(make_forecast())) == snapshot("""\
Forecast of November 2026: $3,000.00 expected at its end, $3,000.00 to $3,000.00
------
# Forecast of November 2026
*$3,000.00 expected at its end, $3,000.00 to $3,000.00*
Budget $2,950.00: 98 % used, 102 % expected, used up on 2026-11-30
<data_table>
(So far $2,900.00, known up to 30 Nov 2026 00:00 UTC; the rest by the mean of the
   last 7 days. Tried on 55 past days, off by 0 % in the median; the interval held 47
   of 47 (100 %, 80 % is meant).)\
""")


def test_forecast_of_a_team_without_native_tables_is_text() -> None:
    message = forecast_message(make_forecast())

    plain = replace(message, blocks=tuple(without_native(message.blocks)))
    assert "nlp" in drawn(plain)
    assert {block["type"] for block in plain.blocks} == {"header", "section", "context"}


def test_forecast_of_a_job_with_an_unknown_price() -> None:
    job = JobForecast(
        job="job-123", so_far=usd("812.4"), burn=None, ends_at=at("2026-12-01"),
        is_planned=False, expected=None, low=usd("812.4"), high=None,
    )  # fmt: skip
    answer = replace(make_forecast(), scope=None, teams=(), job=job)

    assert drawn(forecast_message(answer)) == snapshot("""\
Forecast of job-123, November 2026: $812.40 so far
------
# Forecast of job-123, November 2026
*not known yet* expected, if it runs on until 1 Dec 2026 00:00 UTC.
$812.40 if it stopped now, unknown if it runs to the end of the month. What it costs
   now is unknown: a price is missing.\
""")


def test_job_that_does_not_run_stays_where_it_is() -> None:
    job = JobForecast(
        job="job-123", so_far=usd("812.4"), burn=Rate(0, "USD"), low=usd("812.4"),
        ends_at=at("2026-12-01"), is_planned=False, expected=usd("812.4"), high=None,
    )  # fmt: skip
    answer = replace(make_forecast(), scope=None, teams=(), job=job)

    assert "Nothing runs: it stays at *$812.40*" in drawn(forecast_message(answer))


def test_odd_days_with_those_of_aws() -> None:
    found = make_outlook(make_anomaly(), aws=(make_finding_of_aws(),)).anomalies
    found = replace(found, aws_read_at=NOW - timedelta(hours=2))

    assert drawn(anomalies_message(found)) == snapshot("""\
1 day stands out. 23 to 29 Nov 2026
------
# Out of the ordinary
1 day stands out. 23 to 29 Nov 2026 (UTC).
• Fri 27 Nov, team research: *$4,100.00* instead of $100.00 (llm-9 new, +$4,000.00)
*AWS's own findings*
• since Fri 27 Nov: $812.50 over what it expected, Amazon EC2
(AWS Cost Anomaly Detection, read 30 Nov 2026 14:00 UTC.)\
""")


def test_no_odd_day_names_the_limit_and_says_that_aws_was_not_read() -> None:
    assert drawn(anomalies_message(make_outlook().anomalies)) == snapshot("""\
Nothing out of the ordinary above $100.00. 23 to 29 Nov 2026
------
# Out of the ordinary
Nothing out of the ordinary above $100.00. 23 to 29 Nov 2026 (UTC).
(AWS Cost Anomaly Detection was not read yet.)\
""")


def test_too_little_history_is_not_called_ordinary() -> None:
    found = replace(make_outlook().anomalies, judged=0)

    assert "two weeks of history" in drawn(anomalies_message(found))


def test_names_of_series_are_shown_as_they_are() -> None:
    text = drawn(anomalies_message(make_outlook(make_anomaly(HOSTILE)).anomalies))

    assert "<!channel>" not in text
    assert "&lt;!channel&gt;" in text


def test_waivers_name_what_they_cover_and_until_when() -> None:
    asked = make_waiver(state=WaiverState.ASKED, cap=None, subject=HOSTILE)

    assert drawn(waivers_message([make_waiver(), asked], PEOPLE)) == snapshot("""\
2 waivers
------
# 2 waivers
• *granted*: `stop-idle-gpus` on `job-123` until 4 Dec 2026 00:00 UTC, up to
   $2,000.00 in all, by <@U0MIA>: profiling until friday (wvr-0a1b2c3d4e)
• *asked*: `stop-idle-gpus` on `&lt;!channel&gt; &lt;@U0MIA&gt; 'x' *b*` until 4 Dec
   2026 00:00 UTC, by <@U0MIA>: profiling until friday (wvr-0a1b2c3d4e)\
""")


def test_no_waivers() -> None:
    assert waivers_message([], {}).text == "No waivers: every policy counts everywhere."
