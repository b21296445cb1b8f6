"""A question as the command that asks it again, with days in place of "last week".

Pure. What it returns reads back as the same question, or it is "": a button never
carries words that would ask something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from billing.core.periods import DAY
from bot.slack.grammar import CONFIRM, UNDO, Question, Run, read_question
from bot.slack.windows import Window
from bot.views.text import entities

#: Questions that only read figures; no other verb may be asked by a button.
SHAREABLE = frozenset(
    {
        *("cost", "top", "team", "account", "untagged", "estimate", "why", "me"),
        *("budget", "idle", "coverage", "checkpoints", "leaks", "compare"),
        *("forecast", "anomalies", "reconciliation"),
    }
)


#: What a button may carry besides; only its own buttons ask it.
CARRIED = SHAREABLE | {CONFIRM, UNDO}


def canonical_text(question: Question, now: datetime) -> str:
    """Return the command text that asks `question` again; "" when none does."""
    if question.verb not in CARRIED:
        return ""
    for words in _forms(question):
        text = " ".join(word for word in words if word)
        if not text.isprintable():  # no store keeps every control character
            continue
        again = read_question(text, now)
        if isinstance(again, Question) and _same(again, question):
            return text
    return ""


def why_text(question: Question, now: datetime) -> str:
    """Return the command that asks how the figure of `question` came about; or ""."""
    subjects = {
        "cost": question.target,
        "leaks": question.target,
        "team": f"team:{question.target}",
        "account": f"account:{question.target}",
        "untagged": "bucket:untagged",
        "top": "all",
    }
    if question.verb not in subjects:
        return ""
    asks = Question(verb="why", target=subjects[question.verb], window=question.window)
    return canonical_text(asks, now)


def leaks_text(question: Question, now: datetime) -> str:
    """Return the command that asks what of a job's cost was avoidable; or ""."""
    if question.verb != "cost":
        return ""
    asks = Question(verb="leaks", target=question.target, window=question.window)
    return canonical_text(asks, now)


def next_page(question: Question, now: datetime) -> str:
    """Return the command that asks for the next lines of a list."""
    return canonical_text(replace(question, page=question.page + 1), now)


def _same(one: Question, other: Question) -> bool:
    return replace(one, near=()) == replace(other, near=())


def _forms(question: Question) -> Iterator[list[str]]:
    """Yield ways to say it, the shortest first: a job may be called like a verb."""
    target, window = _quoted(question.target), _window(question.window)
    if question.verb == "estimate" and question.run is not None:
        yield ["estimate", *_run(question.run)]
    elif question.verb in {CONFIRM, UNDO}:
        job = f"--job={_quoted(question.job)}" if question.job else ""
        yield [question.verb, target, job, *_options(question.window)]
    elif question.verb == "cost":
        yield [target, window]
        yield ["cost", target, window]
    elif question.verb == "compare":
        yield ["compare", target, _quoted(question.job), window]
    elif question.verb == "forecast":
        yield ["forecast", question.by if target else "", target]
    elif question.verb == "top":
        yield ["top", question.by, window]
    else:
        page = f"--page={question.page}" if question.page > 1 else ""
        yield [question.verb, target, window, page]


def _window(window: Window | None) -> str:
    if window is None:
        return ""
    if window.until is None:
        return f"since {window.since}"
    return f"{window.since}..{window.until - DAY}"


def _options(window: Window | None) -> list[str]:
    if window is None:
        return []
    until = [f"--until={window.until}"] if window.until else []
    return [f"--since={window.since}", *until]


def _run(run: Run) -> list[str]:
    return [
        run.instance_type,
        f"x{run.count}",
        _hours(run.hours),
        run.purchase,
        run.region,
        f"--job={_quoted(run.job)}" if run.job else "",
        f"--reason={_quoted(run.reason)}" if run.reason else "",
        "--time-limit" if run.is_time_limit else "",
        *(
            f"--{key}={_quoted(value)}" if value else f"--{key}"
            for key, value in run.extras
        ),
    ]


def _hours(hours: Fraction) -> str:
    """Write hours as whole days, hours or minutes, else as a decimal."""
    for size, unit in ((Fraction(24), "d"), (Fraction(1), "h"), (Fraction(1, 60), "m")):
        if (hours / size).denominator == 1:
            return f"{hours / size}{unit}"
    return f"{float(hours)}h"


def _quoted(text: str) -> str:
    """Write somebody's word so that it is read as one, its `<` and `&` literally."""
    word = entities(text)
    return f'"{word}"' if any(char.isspace() for char in text) else word
