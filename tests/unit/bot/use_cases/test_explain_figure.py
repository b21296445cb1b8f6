"""A figure in one word: read, refused with what was expected, and written back."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.charges import CostCategory
from bot.use_cases.explain_figure import (
    BadFigureError,
    Figure,
    Part,
    Subject,
    read_figure,
)

NOVEMBER = date(2026, 11, 1)


def read(text: str, *jobs: str) -> Figure:
    return read_figure(text, is_job=lambda name: name.lower() in jobs)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("job-123", Figure(subject=Subject.JOB, name="job-123")),
        (
            "Job-123:compute",
            Figure(subject=Subject.JOB, name="job-123", category=CostCategory.COMPUTE),
        ),
        (
            "job-123:provisional:managed-service",
            Figure(
                subject=Subject.JOB,
                name="job-123",
                category=CostCategory.MANAGED_SERVICE,
                part=Part.PROVISIONAL,
            ),
        ),
        (
            "job-123@2026-11-12",
            Figure(
                subject=Subject.JOB,
                name="job-123",
                since=date(2026, 11, 12),
                until=date(2026, 11, 13),
            ),
        ),
        ("bucket:idle", Figure(subject=Subject.BUCKET, name="idle")),
        ("team:nlp", Figure(subject=Subject.TEAM, name="nlp")),
        ("account:012345678901", Figure(subject=Subject.ACCOUNT, name="012345678901")),
        ("all", Figure()),
        (
            "all:billed@2026-11",
            Figure(part=Part.BILLED, since=NOVEMBER, until=date(2026, 12, 1)),
        ),
        ("job-1:burn", Figure(subject=Subject.JOB, name="job-1", part=Part.BURN)),
        (
            "job-1:forecast",
            Figure(subject=Subject.JOB, name="job-1", part=Part.NEXT_24H),
        ),
        ("purchase:dynamic", Figure(subject=Subject.PURCHASE, name="dynamic")),
        (
            "all@2026-W48",
            Figure(since=date(2026, 11, 23), until=date(2026, 11, 30)),
        ),
        ("all@2026-11-12..", Figure(since=date(2026, 11, 12))),
    ],
)
def test_figure_is_read(text: str, figure: Figure) -> None:
    assert read(text) == figure


def test_a_job_whose_whole_name_it_is_comes_first() -> None:
    assert read("team:nlp", "team:nlp").subject is Subject.JOB
    assert read("train:compute@2026-11", "train:compute").name == "train:compute"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bucket:foo", "bucket must be one of idle, shared"),
        ("job-123:computer", "did you mean job-123:compute?"),
        ("job-123@yesterday", "expected a day, a month, a week"),
        ("job-123@2026-13", "expected a day"),
        ("team:", "say which team"),
        ("team:nlp:burn", "burn is shown for a job only"),
        ("job-1:burn:compute", "burn is not told by category"),
        ("region:us-east-1:compute", "a region is not told by category"),
        (" ", "nothing is named"),
    ],
)
def test_what_names_no_figure_is_refused_with_what_was_expected(
    text: str, said: str
) -> None:
    with pytest.raises(BadFigureError) as refused:
        read(text)

    assert said in str(refused.value)


figures = st.builds(
    Figure,
    subject=st.sampled_from([Subject.JOB, Subject.TEAM, Subject.ACCOUNT]),
    name=st.sampled_from(["job-1", "a.b", "x_y"]),
    category=st.none() | st.sampled_from(CostCategory),
    part=st.sampled_from([Part.WHOLE, Part.BILLED, Part.PROVISIONAL, Part.CREDITS]),
    since=st.dates(date(2020, 1, 1), date(2030, 1, 1)),
    until=st.none() | st.dates(date(2030, 1, 2), date(2031, 1, 1)),
)


@given(figure=figures)
def test_a_figure_reads_back_from_its_own_text(figure: Figure) -> None:
    assert read(figure.text) == figure
