"""What a command asks: text in, a ``Question`` or everything wrong with it out.

Pure: the instant of asking is a parameter. A single word that is no verb is a job.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches

from bot.slack.questions import BadQuestion, Moment, Question, Run
from bot.slack.run_words import RUN_FLAGS, run_reader
from bot.slack.sentences import command_of
from bot.slack.subscribing import read_subscribe, read_unsubscribe
from bot.slack.windows import Window, is_relative, read_window, suggested_window
from bot.slack.words import Words, read_words, unknown_options

__all__ = ["BadQuestion", "Question", "Run", "read_question"]

#: Verbs that take nothing but a window or nothing at all.
SIMPLE = (
    *("approvals", "idle", "coverage", "checkpoints", "me", "resume", "help"),
    *("anomalies", "reconciliation", "waivers", "subscriptions"),
)
VERBS = (
    *("cost", "top", "team", "account", "estimate", "request", "digest", "pause"),
    *("why", "untagged", "budget", "leaks", "compare", "forecast"),
    *("subscribe", "unsubscribe"),
    *SIMPLE,
)
#: What a person says about one item of ``untagged``; they are typed after it.
CONFIRM, UNDO = "untagged confirm", "untagged undo"
#: Verbs that change something: a repeated delivery of one is not done again.
CHANGING = frozenset(
    {"request", "pause", "resume", "subscribe", "unsubscribe", CONFIRM, UNDO}
)
TOP_BY = ("job", "team", "account", "category", "service", "region")

PAGE_MAX = 1000
_OPTIONS = {
    "cost": {"since", "until"},
    "lines": {"since", "until", "page"},
    "confirm": {"since", "until", "job"},
    "undo": set(),
}


def read_question(
    text: str, now: datetime, zone: tzinfo = UTC
) -> Question | BadQuestion:
    """Read the text after the command, or a sentence that asks the same.

    `zone` is the asker's: ``yesterday`` is the day before in their calendar.
    """
    asked = Moment(now=now, zone=zone)
    read = _read(text, asked)
    if isinstance(read, Question) and not (read.near and " " in text.strip()):
        return read
    has_options = bool(read_words(text, flags=RUN_FLAGS).options)
    command = "" if has_options else command_of(text)
    again = _read(command, asked) if command else None
    return again if isinstance(again, Question) else read


def _read(text: str, now: Moment) -> Question | BadQuestion:
    words = read_words(text, flags=RUN_FLAGS)
    if words.problems:
        return BadQuestion(problems=words.problems)
    if not words.plain and not words.options:
        return Question(verb="menu")
    verb = words.plain[0].lower() if words.plain else ""
    reader = _READERS.get(verb)
    if reader is not None:
        return reader(words.plain[1:], words, now)
    return _job(words.plain, words, now)


def _window(
    rest: Sequence[str], words: Words, now: Moment, *, options: str = "cost"
) -> tuple[Window | None, tuple[str, ...], str]:
    """Read a window from the words left over and from ``--since`` and ``--until``.

    The last part is the words as typed, where they depend on the asker's calendar.
    """
    problems = list(unknown_options(words, _OPTIONS[options]))
    window = read_window(rest, now.now, now.zone) if rest else None
    said = " ".join(rest) if window is not None and is_relative(rest) else ""
    if rest and window is None:
        meant = suggested_window(rest)
        advice = f"did you mean {meant}?" if meant else "try 7d or last week"
        problems.append(f"not a time I know: {' '.join(rest)!r}, {advice}")
    since, until = words.options.get("since"), words.options.get("until")
    if since is not None:
        window = read_window(["since", *since.split()], now.now, now.zone)
        if window is None:
            problems.append(f"--since must be a day such as 2026-11-01, got {since!r}")
    if until is not None:
        ends = read_window([until], now.now, now.zone)
        if ends is None or window is None:
            problems.append("--until must be a day such as 2026-11-30, after a --since")
        else:
            window = Window(since=window.since, until=ends.since)
    return window, tuple(problems), said


def _job(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    if not rest:
        return BadQuestion(problems=("say which job, such as job-123",))
    job, *times = rest
    verbs = get_close_matches(job.lower(), VERBS, n=2, cutoff=0.7)
    near = tuple(" ".join((verb, *times)) for verb in verbs)
    window, problems, said = _window(times, words, now)
    if problems:
        return BadQuestion(problems=problems, near=near)
    return Question(verb="cost", target=job, window=window, near=near, said=said)


def _cost(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    return _job(rest, words, now)


def _top(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    by = "job"
    if rest:
        singular = {"categories": "category"}.get(rest[0].lower())
        asked = singular or rest[0].lower().removesuffix("s")
        if asked in TOP_BY:
            by, rest = asked, rest[1:]
    window, problems, said = _window(rest, words, now)
    if problems:
        return BadQuestion(problems=problems)
    return Question(verb="top", by=by, window=window, said=said)


def _named(verb: str, example: str) -> Callable[..., Question | BadQuestion]:
    def read(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
        if not rest:
            return BadQuestion(problems=(f"say which {verb}, such as {example}",))
        window, problems, said = _window(rest[1:], words, now)
        if problems:
            return BadQuestion(problems=problems)
        return Question(verb=verb, target=rest[0], window=window, said=said)

    return read


def _simple(verb: str) -> Callable[..., Question | BadQuestion]:
    def read(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
        window, problems, said = _window(rest, words, now)
        if problems:
            return BadQuestion(problems=problems)
        return Question(verb=verb, window=window, said=said)

    return read


def _lines(
    verb: str, target: str, rest: Sequence[str], words: Words, now: Moment
) -> Question | BadQuestion:
    """Read a list that has pages."""
    window, problems, said = _window(rest, words, now, options="lines")
    page = words.options.get("page", "1")
    is_page = page.isascii() and page.isdigit() and 0 < int(page) <= PAGE_MAX
    if not is_page:
        problems = (*problems, f"--page must be a number from 1 on, got {page!r}")
    if problems:
        return BadQuestion(problems=problems)
    return Question(verb=verb, target=target, window=window, page=int(page), said=said)


def _why(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    if not rest:
        example = "such as job-123, job-123:compute or bucket:idle"
        return BadQuestion(problems=(f"say which figure, {example}",))
    return _lines("why", rest[0], rest[1:], words, now)


def _untagged(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    said = rest[0].lower() if rest else ""
    if said not in {"confirm", "undo"}:
        return _lines("untagged", "", rest, words, now)
    known = "confirm" if said == "confirm" else "undo"
    window, wrong, _ = _window((), words, now, options=known)
    problems = list(wrong)
    job = words.options.get("job", "").strip()
    if len(rest) != 2:  # noqa: PLR2004 - the word and the item
        problems.append(f"say which item of `untagged`: untagged {said} ITEM")
    if said == "confirm" and not job:
        problems.append("say whose it is: --job job-123")
    if problems:
        return BadQuestion(problems=tuple(problems))
    verb = CONFIRM if said == "confirm" else UNDO
    return Question(verb=verb, target=rest[1], job=job, window=window)


def _leaks(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    if not rest:
        return BadQuestion(problems=("say of which job, such as leaks job-123",))
    return _named("leaks", "job-123")(rest, words, now)


def _compare(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    if len(rest) < 2:  # noqa: PLR2004 - the two jobs
        example = "such as compare job-1 job-2"
        return BadQuestion(problems=(f"say which two jobs, {example}",))
    window, problems, said = _window(rest[2:], words, now)
    if problems:
        return BadQuestion(problems=problems)
    first, second = rest[:2]
    return Question(verb="compare", target=first, job=second, window=window, said=said)


def _budget(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    del now
    problems = list(unknown_options(words, set()))
    if len(rest) > 1:
        problems.append("a budget is that of a month: budget, or budget TEAM")
    if problems:
        return BadQuestion(problems=tuple(problems))
    return Question(verb="budget", target=rest[0] if rest else "")


def _forecast(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    """Read ``forecast``, ``forecast team nlp`` or ``forecast job-123``."""
    del now
    problems = list(unknown_options(words, set()))
    by = rest[0].lower() if rest else ""
    named = rest[1:] if by in {"team", "job"} else rest
    if len(named) > 1 or (named is not rest and not named):
        problems.append("a forecast is of the month: forecast, or forecast team NAME")
    if problems:
        return BadQuestion(problems=tuple(problems))
    target = named[0] if named else ""
    return Question(
        verb="forecast", target=target, by="team" if by == "team" else "job"
    )


def _request(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    """Read ``request``; alone it opens the form."""
    if not rest and not words.options:
        return Question(verb="form")
    return run_reader("request")(rest, words, now)


def _waiver(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    said = [word.lower() for word in rest]
    if said not in ([], ["list"]):
        problem = "waivers are asked for by `gpucost waiver request`; try waiver list"
        return BadQuestion(problems=(problem,))
    return _simple("waivers")((), words, now)


def _digest(rest: Sequence[str], words: Words, now: Moment) -> Question | BadQuestion:
    window, problems, said = _window(rest, words, now)
    if problems:
        return BadQuestion(problems=problems)
    target = rest[0] if rest else ""
    return Question(verb="digest", target=target, window=window, said=said)


def _pause(rest: Sequence[str], words: Words, _now: Moment) -> Question:
    reason = words.options.get("reason") or " ".join(rest)
    return Question(verb="pause", target=reason)


_READERS: dict[str, Callable[..., Question | BadQuestion]] = {
    "cost": _cost,
    "job": _cost,
    "top": _top,
    "team": _named("team", "research"),
    "account": _named("account", "012345678901"),
    "estimate": run_reader("estimate"),
    "request": _request,
    "digest": _digest,
    "why": _why,
    "untagged": _untagged,
    "budget": _budget,
    "leaks": _leaks,
    "compare": _compare,
    "forecast": _forecast,
    "subscribe": read_subscribe,
    "unsubscribe": read_unsubscribe,
    "waiver": _waiver,
    "pause": _pause,
    **{verb: _simple(verb) for verb in SIMPLE},
}
