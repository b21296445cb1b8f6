"""What reconciliation looks like in Slack and in a terminal."""

from __future__ import annotations

from fractions import Fraction

from billing.core.reconciliation import JobDay, Reason, Score
from bot.use_cases.reconciliation import Reconciliation
from bot.views.reconciliation import (
    percent,
    reconciliation_answer,
    reconciliation_document,
    reconciliation_text,
)
from tests.builders import ACCOUNT, day, usd

NOTHING = Score(job_days=0, median=None, worst=None, overall=None)


def job_day(number: int, *, key: str = "job-1", billed: str = "250") -> JobDay:
    return JobDay(
        day=day(f"2026-11-{number:02d}"),
        key=key,
        account=ACCOUNT,
        billed=usd(billed),
        provisional=usd("240"),
        compute=(usd(billed), usd("240")),
        on_demand=(usd(billed), usd("240")),
        reasons=((Reason.UNSEEN, usd(billed) - usd("240")),),
        is_complete=True,
        is_watched=number > 1,
    )


def found(*days: JobDay, judged: Score = NOTHING) -> Reconciliation:
    return Reconciliation(
        currency="USD",
        since=day("2026-11-01"),
        until=day("2026-11-21"),
        job="",
        days=days,
        judged=judged,
        judged_on_demand=judged,
        recent=judged,
        left_out=(("bucket:overhead", usd("20")),),
    )


def test_the_table_says_what_is_judged_and_why_not() -> None:
    text = reconciliation_text(found(job_day(1), job_day(2)))

    rows = [line.split("  ") for line in text.splitlines() if line.startswith("2026")]
    assert [[cell.strip() for cell in row if cell] for row in rows] == [
        ["2026-11-01", "job-1", "$250.00", "$240.00", "-4 %", "no: not watched",
         "instance unseen +$10.00"],
        ["2026-11-02", "job-1", "$250.00", "$240.00", "-4 %", "yes",
         "instance unseen +$10.00"],
    ]  # fmt: skip
    assert "in the bill, never provisional: overhead $20.00" in text


def test_a_window_without_a_bill_says_so() -> None:
    assert "no day of this window is in the bill" in reconciliation_text(found())


def test_slack_shows_the_days_that_are_furthest_apart() -> None:
    many = [job_day(number, billed=str(240 + number)) for number in range(1, 21)]

    message = reconciliation_answer(found(*many))

    text = str(message.blocks)
    assert "20 Nov" in text
    assert "`job-1` on 20 Nov: instance unseen +$20.00" in text
    assert "8 other days differ less" in text


def test_a_hostile_job_name_is_shown_literally() -> None:
    message = reconciliation_answer(found(job_day(2, key="<!channel>")))

    assert "<!channel>" not in str(message.blocks)


def test_errors_are_plain_text_in_the_document_and_unknown_is_null() -> None:
    judged = Score(
        job_days=3,
        median=Fraction(1, 300),
        worst=Fraction(1, 8),
        overall=Fraction(-1, 9),
    )

    known = reconciliation_document(found(job_day(2), judged=judged))
    unknown = reconciliation_document(found())

    assert known["error"] == {
        "job_days": 3,
        "median_percent": "0.3333",
        "worst_percent": "12.5",
        "overall_percent": "-11.1111",
    }
    assert known["days"][0]["compute_error_percent"] == "4"
    assert unknown["error"]["worst_percent"] is None


def test_a_small_error_is_never_shown_as_none() -> None:
    assert [percent(one) for one in (Fraction(1, 10**7), Fraction(0), None)] == [
        "<0.01 %",
        "0 %",
        "not known",
    ]
