"""What somebody wants explained: a figure named in one word, read and written back.

``job-123``, ``job-123:compute``, ``job-123@2026-11-12``, ``bucket:idle``, ``team:nlp``,
``account:012345678901``, ``all:provisional@2026-11``. Pure; knows no store.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from enum import StrEnum

from billing.core.attribution import normalise_job
from billing.core.charges import (
    BUCKET_PREFIX,
    Bucket,
    CostCategory,
    Metric,
    PricingCategory,
)
from billing.core.errors import GpucostError
from billing.core.periods import DAY, next_month


class Subject(StrEnum):
    """What a figure is about."""

    ALL = "all"
    JOB = "job"
    BUCKET = "bucket"
    TEAM = "team"
    ACCOUNT = "account"
    REGION = "region"
    SERVICE = "service"
    PURCHASE = "purchase"


class Part(StrEnum):
    """Which part of a subject's cost; the whole is before credits and refunds."""

    WHOLE = ""
    BILLED = "billed"
    PROVISIONAL = "provisional"
    CREDITS = "credits"
    BURN = "burn"
    NEXT_24H = "next-24h"


_PARTS = {part.value: part for part in Part if part.value} | {"forecast": Part.NEXT_24H}
_CATEGORIES = {one.value.replace(" ", "-"): one for one in CostCategory}
_BUCKETS = tuple(one.value for one in Bucket if one is not Bucket.JOB)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_WEEK = re.compile(r"(\d{4})-[wW](\d{2})")
_EXAMPLES = "job-123, job-123:compute, job-123@2026-11-12, bucket:idle or team:nlp"


class BadFigureError(GpucostError, ValueError):
    """The text names no figure; nothing was looked up."""

    code = "bad_figure"
    exit_code = 2
    hint = f"name a figure like {_EXAMPLES}"

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(f"cannot explain {text!r}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of an answer.

    Attributes:
        name: Of the subject; "" for all.
        since / until: UTC billing days, half-open; None: the current month up to now.
    """

    subject: Subject = Subject.ALL
    name: str = ""
    category: CostCategory | None = None
    part: Part = Part.WHOLE
    since: date | None = None
    until: date | None = None
    metric: Metric = Metric.EFFECTIVE

    @property
    def text(self) -> str:
        """Return the figure as it is typed."""
        subject = {
            Subject.ALL: "all",
            Subject.JOB: self.name,
        }.get(self.subject, f"{self.subject}:{self.name}")
        category = self.category.value.replace(" ", "-") if self.category else ""
        facets = ":".join(one for one in (subject, category, self.part.value) if one)
        return f"{facets}@{days_text(self.since, self.until)}".removesuffix("@")


def days_text(since: date | None, until: date | None) -> str:
    """Return days as a figure names them, both ends included; "" for the open month.

    >>> days_text(date(2026, 11, 12), date(2026, 11, 13))
    '2026-11-12'
    >>> days_text(date(2026, 11, 1), date(2026, 11, 15))
    '2026-11-01..2026-11-14'
    """
    if since is None:
        return ""
    if until is None:
        return f"{since}.."
    return f"{since}" if until - DAY == since else f"{since}..{until - DAY}"


def read_figure(text: str, *, is_job: Callable[[str], bool]) -> Figure:
    """Read a figure; a job whose whole name it is comes first.

    Raises:
        BadFigureError: With what was expected.
    """
    words = text.strip()
    if not words:
        raise BadFigureError(text, "nothing is named")
    if is_job(words):
        return Figure(subject=Subject.JOB, name=normalise_job(words))
    subject, at, days = words.rpartition("@")
    if not at:
        subject, days = words, ""
    elif is_job(subject):
        return _dated(Figure(subject=Subject.JOB, name=normalise_job(subject)), days)
    figure, rest = _facets(subject)
    return _dated(_subject(text, rest, figure), days)


def _facets(words: str) -> tuple[Figure, str]:
    """Take category and part off the end, in either order."""
    figure, rest = Figure(), words
    while True:
        head, colon, last = rest.rpartition(":")
        word = last.strip().lower().replace(" ", "-")
        if colon and word in _CATEGORIES and figure.category is None:
            figure = replace(figure, category=_CATEGORIES[word])
        elif colon and word in _PARTS and figure.part is Part.WHOLE:
            figure = replace(figure, part=_PARTS[word])
        else:
            return figure, rest
        rest = head


def _subject(text: str, words: str, figure: Figure) -> Figure:
    if words.strip().lower() in {"", "all", "total"}:
        return figure
    kind, colon, name = words.partition(":")
    kinds = {one.value: one for one in Subject if one is not Subject.ALL}
    subject = kinds.get(kind.strip().lower()) if colon else Subject.JOB
    name = (name if colon else words).strip()
    if subject is None:
        meant = get_close_matches(words.rpartition(":")[2], (*_CATEGORIES, *_PARTS))
        near = f", did you mean {words.rpartition(':')[0]}:{meant[0]}?" if meant else ""
        kinds_text = ", ".join(f"{one}:" for one in kinds)
        problem = f"expected one of {kinds_text} or a job before the colon{near}"
        raise BadFigureError(text, problem)
    if not name:
        raise BadFigureError(text, f"say which {subject}")
    _check(text, subject, name, figure)
    if subject in {Subject.JOB, Subject.TEAM, Subject.BUCKET}:
        name = normalise_job(name)
    return replace(figure, subject=subject, name=name)


def _check(text: str, subject: Subject, name: str, figure: Figure) -> None:
    known = {
        Subject.BUCKET: _BUCKETS,
        Subject.PURCHASE: tuple(one.value for one in PricingCategory),
    }.get(subject)
    if known is not None and name.lower() not in known:
        listed = ", ".join(known)
        raise BadFigureError(text, f"{subject} must be one of {listed}, got {name!r}")
    of_charge = {Subject.REGION, Subject.SERVICE, Subject.PURCHASE}
    if subject in of_charge and figure.category is not None:
        raise BadFigureError(text, f"a {subject} is not told by category")
    if figure.part in {Part.BURN, Part.NEXT_24H} and subject is not Subject.JOB:
        raise BadFigureError(text, f"{figure.part} is shown for a job only")
    if figure.part in {Part.BURN, Part.NEXT_24H} and figure.category is not None:
        raise BadFigureError(text, f"{figure.part} is not told by category")


def _dated(figure: Figure, days: str) -> Figure:
    if not days:
        return figure
    span = _span(days.strip())
    if span is None:
        expected = (
            "expected a day, a month, a week or days such as 2026-11-01..2026-11-14"
        )
        raise BadFigureError(f"@{days}", expected)
    return replace(figure, since=span[0], until=span[1])


def _span(text: str) -> tuple[date, date | None] | None:
    first, dots, last = text.partition("..")
    try:
        if dots:
            until = date.fromisoformat(last) + DAY if last else None
            since = date.fromisoformat(first)
            return (since, until) if until is None or since < until else None
        if found := _MONTH.fullmatch(text):
            month = date(int(found[1]), int(found[2]), 1)
            return month, next_month(month)
        if found := _WEEK.fullmatch(text):
            monday = date.fromisocalendar(int(found[1]), int(found[2]), 1)
            return monday, monday + 7 * DAY
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
    return (day, day + DAY) if day else None


def key_of(figure: Figure) -> str:
    """Return the key of a figure among ``--by job`` groups; "" when it has none."""
    if figure.subject is Subject.JOB:
        return figure.name
    return f"{BUCKET_PREFIX}{figure.name}" if figure.subject is Subject.BUCKET else ""
