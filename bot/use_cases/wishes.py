"""How people want to be told: kept, and who is not mentioned right now."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, time, tzinfo
from functools import partial

from bot.ports import Store
from bot.views.slack_values import Wishes


def change_wishes(
    store: Store,
    person_id: str,
    *,
    mentions: bool | None,
    quiet: tuple[time | None, time | None] | None,
) -> Wishes:
    """Keep what somebody changed; None leaves a part as it was."""
    with store.write() as unit:
        wishes = unit.wishes.of(person_id)
        if mentions is not None:
            wishes = replace(wishes, mentions=mentions)
        if quiet is not None:
            wishes = replace(wishes, quiet_from=quiet[0], quiet_until=quiet[1])
        unit.wishes.put(person_id, wishes)
    return wishes


def quiet_now(
    store: Store,
    slack_ids: Iterable[str],
    zone: Callable[[str], tzinfo],
    now: datetime,
) -> frozenset[str]:
    """Return who is not to be mentioned at an instant."""
    quiet = set()
    with store.write() as unit:
        for slack_id in sorted(set(slack_ids)):
            wishes = unit.wishes.of(unit.people.remember(slack_id=slack_id))
            if is_quiet(wishes, partial(_local, slack_id, zone, now)):
                quiet.add(slack_id)
    return frozenset(quiet)


def _local(slack_id: str, zone: Callable[[str], tzinfo], now: datetime) -> time:
    return now.astimezone(zone(slack_id)).time()


def is_quiet(wishes: Wishes, local: Callable[[], time]) -> bool:
    """Tell whether somebody is not to be mentioned; the local time only if it matters.

    >>> night = Wishes(quiet_from=time(22), quiet_until=time(7))
    >>> is_quiet(night, lambda: time(23, 30)), is_quiet(night, lambda: time(7))
    (True, False)
    """
    if not wishes.mentions:
        return True
    start, end = wishes.quiet_from, wishes.quiet_until
    if start is None or end is None or start == end:
        return False
    at = local()
    if start < end:
        return start <= at < end
    return at >= start or at < end
