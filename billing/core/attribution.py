"""Which job a resource works for: tags read the way people write them.

Keys are configured with aliases in order of precedence and compared without regard to
case; values are trimmed; an empty value is no value. Knows no store and no source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

from billing.core.periods import Period
from billing.core.usage import TagSpan

_CLOSE_ENOUGH = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class TagKeys:
    """The tag keys that mean something, each list in order of precedence."""

    job: tuple[str, ...] = ("job-id", "JobId", "job_id")
    team: tuple[str, ...] = ("team",)
    owner: tuple[str, ...] = ("owner",)
    environment: tuple[str, ...] = ("env", "environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class TagChoice:
    """The value that counts, and what else stood there.

    Attributes:
        value: Trimmed; "" when no key of the list holds anything.
        key: The key it was read from, as AWS holds it; "" when none.
        conflicts: ``(key, value)`` of other keys of the list that say otherwise.
    """

    value: str
    key: str = ""
    conflicts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongings:
    """Whom one resource belongs to; "" is unknown, never a name."""

    job: str
    team: str
    owner: str
    environment: str
    conflicts: tuple[tuple[str, str], ...] = ()


def normalise_job(text: str) -> str:
    """Return a job id as it is compared and stored; "" when there is none.

    >>> normalise_job("  Job-123 ")
    'job-123'
    """
    return text.strip().lower()


def choose(tags: Mapping[str, str], keys: Sequence[str]) -> TagChoice:
    """Choose the value of the first key that holds one, naming what disagrees.

    Precedence: order of the list, then the exact spelling, then the key's own text.

    >>> found = choose({"Team": "nlp", "team": "cv "}, ["team"])
    >>> found.value, found.conflicts
    ('cv', (('Team', 'nlp'),))
    """
    held = _ranked(tags.items(), tuple(keys))
    if not held:
        return TagChoice(value="")
    key, value = held[0]
    others = tuple(
        (name, text) for name, text in held[1:] if text.lower() != value.lower()
    )
    return TagChoice(value=value, key=key, conflicts=others)


def belongings(tags: Mapping[str, str], keys: TagKeys) -> Belongings:
    """Read job, team, owner and environment from a resource's tags."""
    job, team, owner, environment = (
        choose(tags, names)
        for names in (keys.job, keys.team, keys.owner, keys.environment)
    )
    return Belongings(
        job=normalise_job(job.value),
        team=team.value.lower(),
        owner=owner.value,
        environment=environment.value.lower(),
        conflicts=(
            *job.conflicts,
            *team.conflicts,
            *owner.conflicts,
            *environment.conflicts,
        ),
    )


def job_of(tags: Mapping[str, str], keys: TagKeys) -> str:
    """Return the job of a resource's tags; "" when untagged."""
    return normalise_job(choose(tags, keys.job).value)


def is_job_key(key: str, keys: TagKeys) -> bool:
    """Tell whether a tag key is one of those that name the job.

    >>> is_job_key("user:JobId", TagKeys())
    True
    """
    return _rank(key, keys.job) is not None


def split_by_job(
    period: Period,
    spans: Sequence[TagSpan],
    keys: TagKeys,
    *,
    parent: Sequence[TagSpan] = (),
) -> list[tuple[str, Period]]:
    """Split a period of one resource at every change of its job.

    ``spans`` are the resource's own tags over time; where they name no job, those of
    its ``parent`` (a volume's instance) count. The parts are in time order and cover
    the period exactly; the job "" is untagged time.
    """
    own = job_spans(spans, keys.job)
    inherited = job_spans(parent, keys.job)
    cuts = {period.start, period.end}
    for span in (*own, *inherited):
        cuts.update(
            instant
            for instant in (span.valid_from, span.valid_to)
            if instant is not None and period.start < instant < period.end
        )
    if len(cuts) == 2:  # noqa: PLR2004 - nothing changed within it: the usual case
        job = _job_at(period.start, own, keys.job)
        return [(job or _job_at(period.start, inherited, keys.job), period)]
    instants = sorted(cuts)
    parts: list[tuple[str, Period]] = []
    for start, end in pairwise(instants):
        job = _job_at(start, own, keys.job) or _job_at(start, inherited, keys.job)
        if parts and parts[-1][0] == job:
            start = parts.pop()[1].start  # noqa: PLW2901 - the part grows
        parts.append((job, Period(start, end)))
    return parts


def nearest(name: str, names: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return the names that somebody may have meant, best first.

    >>> nearest("Job-12", ["job-123", "bert"])
    ('job-123',)
    """
    folded = {known.strip().lower(): known for known in sorted(names)}
    wanted = name.strip().lower()
    close = get_close_matches(wanted, folded, n=limit, cutoff=_CLOSE_ENOUGH)
    return tuple(folded[text] for text in close)


def _ranked(
    pairs: Iterable[tuple[str, str]], keys: tuple[str, ...]
) -> list[tuple[str, str]]:
    """Return the pairs that hold something under one of the keys, best first."""
    held = []
    for key, value in pairs:
        rank = _rank(key, keys)
        text = value.strip()
        if rank is not None and text:
            held.append((rank, key, text))
    return [(key, text) for _, key, text in sorted(held)]


@lru_cache(maxsize=4096)
def _rank(key: str, keys: tuple[str, ...]) -> tuple[int, bool] | None:
    """Place a key in a list of precedence; None when it is not in it.

    Cost reports write a tag's key behind ``user:`` or ``user_``.
    """
    folded = key.strip().lower()
    for place, wanted in enumerate(keys):
        plain = wanted.strip().lower()
        if folded in {plain, f"user:{plain}", f"user_{plain}"}:
            return place, key != wanted
    return None


def job_spans(spans: Iterable[TagSpan], keys: tuple[str, ...]) -> list[TagSpan]:
    """Return the tags that name a job while they hold."""
    return [
        span
        for span in spans
        if _rank(span.key, keys) is not None and span.value.strip()
    ]


def _job_at(instant: datetime, spans: list[TagSpan], keys: tuple[str, ...]) -> str:
    held: dict[str, TagSpan] = {}
    for span in spans:
        is_over = span.valid_to is not None and span.valid_to <= instant
        if span.valid_from <= instant and not is_over:
            before = held.get(span.key)
            if before is None or before.valid_from <= span.valid_from:
                held[span.key] = span
    pairs = _ranked(((key, span.value) for key, span in held.items()), keys)
    return normalise_job(pairs[0][1]) if pairs else ""
