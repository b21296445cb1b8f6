from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from bot.slack.grammar import VERBS, BadQuestion, Question, read_question
from bot.slack.windows import Window, read_window
from bot.slack.words import read_words, tokens, unescape
from bot.views.help import COMMANDS
from tests.builders_bot import NOW
from tests.hostile import hostile_strings


def ask(text: str, now: datetime = NOW) -> Question:
    question = read_question(text, now)
    assert isinstance(question, Question), question
    return question


def problems(text: str) -> str:
    question = read_question(text, NOW)
    assert isinstance(question, BadQuestion), question
    return "\n".join(question.problems)


def test_a_word_is_a_job() -> None:
    assert ask("job-123") == Question(verb="cost", target="job-123")
    assert ask("cost Idle-Test").target == "Idle-Test"


def test_mistyped_verb_is_asked_as_a_job_and_the_verb_is_remembered() -> None:
    question = ask("aprovals")

    assert question.verb == "cost"
    assert question.near == ("approvals",)


def test_nothing_is_the_menu() -> None:
    assert ask("   ").verb == "menu"


def test_every_example_of_the_help_is_read() -> None:
    for example, _ in COMMANDS:
        assert isinstance(read_question(example, NOW), Question), example


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "cost"])
def test_every_verb_is_in_the_help(verb: str) -> None:
    shown = " ".join(f"{example} {what}" for example, what in COMMANDS)

    assert verb == "help" or verb in shown


# C109
@pytest.mark.parametrize(
    "text",
    [
        'request p5.48xlarge --hours 24 --job "big run" --reason x',
        "request p5.48xlarge \u2014hours 24 \u2014job \u201cbig run\u201d \u2014reason x",
        "request p5.48xlarge \u2013hours=24 \u2014\u2014job=\u201cbig run\u201c \u2014reason x",
        "request p5.48xlarge 24h \u2212\u2212job 'big run' --reason \u2018x\u2019",
    ],
    ids=["typed", "em-dash", "en-dash", "minus"],
)
def test_smart_quotes_and_dashes_read_as_typed(text: str) -> None:
    run = ask(text).run

    assert run is not None
    assert (run.hours, run.job, run.reason) == (Fraction(24), "big run", "x")


# C109
def test_curly_quotes_inside_straight_ones_stay() -> None:
    words = tokens('--reason "the \u201cbig\u201d run" it\u2019s')

    assert words == ["--reason", "the \u201cbig\u201d run", "it\u2019s"]


def test_dashes_inside_words_and_times_are_no_options() -> None:
    assert read_words("a-b x\u2014y 2026-11 -5").plain == (
        "a-b",
        "x\u2014y",
        "2026-11",
        "-5",
    )


def test_slack_escapes_are_undone_once() -> None:
    assert unescape("a &amp;lt; b &lt;!here&gt;") == "a &lt; b <!here>"
    assert unescape("<http://job.example|job.example>") == "job.example"


def test_estimate_by_form_of_its_words() -> None:
    run = ask("estimate 3d spot P5.48xlarge \u00d74 us-east-2").run

    assert run is not None
    assert (run.instance_type, run.count, run.hours) == ("p5.48xlarge", 4, Fraction(72))
    assert (run.purchase, run.region) == ("spot", "us-east-2")


def test_estimate_says_everything_that_is_wrong() -> None:
    said = problems("estimate x0 banana --regoin us-east-1")

    assert "do not know what 'banana' means" in said
    assert "unknown option --regoin, did you mean --region?" in said
    assert "say an instance type" in said
    assert "count must be 1 to 10,000" in said
    assert "say how long" in said


@pytest.mark.parametrize(
    "text",
    [
        "estimate p5.48xlarge x99999 1h",
        "estimate p5.48xlarge 0h",
        "estimate p5.48xlarge 99999h",
    ],
)
def test_implausible_sizes_are_refused(text: str) -> None:
    assert problems(text)


def test_request_needs_job_and_reason() -> None:
    assert "--job NAME and --reason TEXT" in problems("request p5.48xlarge x4 24h")


def test_option_without_value_and_given_twice_are_said() -> None:
    assert "--since needs a value" in problems("job-1 --since")
    assert "given twice" in problems("job-1 --since 2026-11-01 --since 2026-11-02")


def test_top_takes_a_dimension_and_a_window() -> None:
    question = ask("top teams last week")

    assert (question.verb, question.by) == ("top", "team")
    assert question.window == Window(since=date(2026, 11, 23), until=date(2026, 11, 30))


def test_since_and_until_make_a_window() -> None:
    window = ask("job-1 --since 2026-11-01 --until 2026-11-15").window

    assert window == Window(since=date(2026, 11, 1), until=date(2026, 11, 15))


def test_pause_keeps_its_reason() -> None:
    assert ask("pause AWS incident").target == "AWS incident"


def test_unknown_time_is_said() -> None:
    assert "not a time I know: 'lst week'" in problems("team research lst week")


# C144
def test_seven_days_are_seven_closed_utc_days() -> None:
    now = datetime(2026, 6, 5, 10, tzinfo=UTC)

    assert read_window(["7d"], now) == Window(
        since=date(2026, 5, 29), until=date(2026, 6, 5)
    )


# C143
def test_month_is_the_utc_month_of_asking() -> None:
    tokyo_july_first = datetime.fromisoformat("2026-07-01T01:00:00+09:00")

    window = read_window(["month"], tokyo_july_first)

    assert window == Window(since=date(2026, 6, 1), until=None)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("today", "2026-11-30", None),
        ("yesterday", "2026-11-29", "2026-11-30"),
        ("this week", "2026-11-30", None),
        ("last month", "2026-10-01", "2026-11-01"),
        ("2026-10", "2026-10-01", "2026-11-01"),
        ("2026-11", "2026-11-01", None),
        ("2026-W48", "2026-11-23", "2026-11-30"),
        ("2026-11-03", "2026-11-03", "2026-11-04"),
        ("2026-11-03..2026-11-09", "2026-11-03", "2026-11-10"),
        ("since mon", "2026-11-30", None),
        ("since Tuesday", "2026-11-24", None),
        ("since 2026-11-05", "2026-11-05", None),
        ("last 30 days", "2026-10-31", "2026-11-30"),
        ("2w", "2026-11-16", "2026-11-30"),
    ],
)
def test_windows(text: str, since: str, until: str | None) -> None:
    window = read_window(text.split(), NOW)

    end = date.fromisoformat(until) if until else None
    assert window == Window(since=date.fromisoformat(since), until=end)


@pytest.mark.parametrize(
    "text",
    [
        "2026-13",
        "2026-W54",
        "0d",
        "999d",
        "2026-11-09..2026-11-03",
        "since 2027-01-01",
        "0000-01",
    ],
)
def test_impossible_windows_are_none(text: str) -> None:
    assert read_window(text.split(), NOW) is None


# C145
def test_leap_day_is_no_trouble() -> None:
    now = datetime(2028, 2, 29, 12, tzinfo=UTC)

    assert read_window(["last", "month"], now) == Window(
        since=date(2028, 1, 1), until=date(2028, 2, 1)
    )


def test_no_text_raises() -> None:
    for text in hostile_strings():
        for prefix in ("", "top ", "estimate ", "request --job ", "team "):
            assert read_question(prefix + text, NOW) is not None


def test_a_run_is_read_as_people_say_it() -> None:
    run = ask("estimate 32 p5.48xlarge 72h spot").run

    assert run is not None
    assert (run.count, run.instance_type, run.hours, run.purchase) == (
        *(32, "p5.48xlarge", Fraction(72)),
        "spot",
    )


def test_what_a_run_can_bear_is_read_as_words_and_as_options() -> None:
    words = ask("estimate p5.48xlarge 72h interruptible production").run
    options = ask("estimate p5.48xlarge 72h --interruptible --stage production").run

    assert words == options
    assert words is not None
    assert words.extras == (("interruptible", ""), ("stage", "production"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaks job-123", Question(verb="leaks", target="job-123")),
        ("compare job-1 job-2", Question(verb="compare", target="job-1", job="job-2")),
    ],
)
def test_runs_are_asked_about(text: str, expected: Question) -> None:
    assert read_question(text, NOW) == expected


@pytest.mark.parametrize("text", ["leaks", "compare", "compare job-1"])
def test_a_question_about_runs_names_them(text: str) -> None:
    assert isinstance(read_question(text, NOW), BadQuestion)
