"""A planned run as words: instance type, count, hours and so on, in any order; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from bot.slack.questions import BadQuestion, Moment, Question, Run
from bot.slack.run_options import FLAGS, VALUES, WORDS, extras_of
from bot.slack.words import Words, unknown_options

PURCHASES = (
    *("on-demand", "spot", "savings-plan", "reserved", "capacity-block", "odcr"),
    "training-plan",
)

COUNT_MAX = 10_000
HOURS_MAX = 24 * 366
#: Options that stand alone.
RUN_FLAGS = frozenset({"time-limit", *FLAGS})
_OPTIONS = {
    *("instance-type", "count", "hours", "purchase", "region", "job", "name"),
    *("time-limit", "reason"),
    *FLAGS,
    *VALUES,
}
_INSTANCE = re.compile(r"(?:ml\.)?[a-z][a-z0-9-]{0,24}\.[a-z0-9-]{2,20}")
_COUNT = re.compile(r"[xX\u00d7](\d{1,6})|(\d{1,6})[xX\u00d7]?")
_HOURS = re.compile(r"(\d{1,6}(?:\.\d{1,4})?)\s?(h|d|w|m|min|hours?|days?|weeks?)?")
_UNITS = {
    "": Fraction(1),
    "h": Fraction(1),
    "d": Fraction(24),
    "w": Fraction(168),
    "m": Fraction(1, 60),
}
_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")


def run_reader(verb: str) -> Callable[..., Question | BadQuestion]:
    """Return what reads the words after a verb about a planned run."""

    def read(rest: Sequence[str], words: Words, _now: Moment) -> Question | BadQuestion:
        found: dict[str, str] = {}
        problems = list(unknown_options(words, _OPTIONS))
        for word in rest:
            kind = _kind(word)
            if kind is None:
                problems.append(f"do not know what {word!r} means here")
            elif kind in found:
                problems.append(f"{kind} was given twice: {found[kind]!r} and {word!r}")
            else:
                found[kind] = word
        found |= {key: words.options[key] for key in words.options}
        run = _read_run(found, problems)
        needs = verb == "request" and run is not None
        if needs and run is not None and not (run.job and run.reason):
            problems.append("a request needs --job NAME and --reason TEXT")
        if problems or run is None:
            return BadQuestion(problems=tuple(problems))
        return Question(verb=verb, target=run.job, run=run)

    return read


def _kind(word: str) -> str | None:
    """Tell what a bare word of a run is, by its form."""
    lower = word.lower()
    if lower in WORDS:
        return WORDS[lower]
    forms = (
        ("purchase", lower in PURCHASES or lower == "ondemand"),
        ("instance-type", _INSTANCE.fullmatch(lower) is not None),
        ("count", _COUNT.fullmatch(lower) is not None),
        ("region", _REGION.fullmatch(lower) is not None),
        ("hours", _HOURS.fullmatch(lower) is not None and not lower.isdigit()),
    )
    return next((kind for kind, fits in forms if fits), None)


def _read_run(found: dict[str, str], problems: list[str]) -> Run | None:
    shape = found.get("instance-type", "").lower()
    if not _INSTANCE.fullmatch(shape):
        problems.append(f"say an instance type such as p5.48xlarge, got {shape!r}")
    count = _read_count(found.get("count", "1"))
    if count is None:
        problems.append(
            f"count must be 1 to {COUNT_MAX:,} such as x4, got {found['count']!r}"
        )
    hours = _read_hours(found.get("hours", ""))
    if hours is None:
        got = found.get("hours", "")
        problems.append(f"say how long, such as 24h or 3d, got {got!r}")
    purchase = (
        found.get("purchase", "on-demand").lower().replace("ondemand", "on-demand")
    )
    if purchase not in PURCHASES:
        names = ", ".join(PURCHASES)
        problems.append(f"purchase must be one of {names}, got {purchase!r}")
    if problems or count is None or hours is None:
        return None
    return Run(
        instance_type=shape,
        count=count,
        hours=hours,
        purchase=purchase,
        region=found.get("region", "").lower(),
        job=(found.get("job") or found.get("name") or "").strip(),
        reason=found.get("reason", "").strip(),
        is_time_limit="time-limit" in found,
        extras=extras_of(found),
    )


def _read_count(text: str) -> int | None:
    match = _COUNT.fullmatch(text)
    digits = (match[1] or match[2]) if match else text
    if not digits.isascii() or not digits.isdigit():
        return None
    return int(digits) if 0 < int(digits) <= COUNT_MAX else None


def _read_hours(text: str) -> Fraction | None:
    match = _HOURS.fullmatch(text.lower())
    if match is None:
        return None
    value = Fraction(match[1]) * _UNITS[(match[2] or "")[:1]]
    return value if 0 < value <= HOURS_MAX else None
