"""Whether the tag keys that name jobs count in the bill.

Cost Explorer accepts any key: one that is misspelt or not activated answers with a
single untagged group and no error. So the activation is looked up. Must not know what
is grouped by the keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Any

from billing.aws.calls import pages, whole
from billing.aws.ce_calls import LIST_TAGS, REGION
from billing.aws.failures import DENIED
from billing.aws.session import AwsClients
from billing.ports import SourceUnavailableError, TagKeyStatus

PAGE_SIZE = 1_000
SUGGESTIONS_MAX = 3
#: States in which a key can be grouped by.
USABLE = frozenset({"active", "unchecked"})

Known = Mapping[str, tuple[bool, date | None]]


def read_tag_keys(clients: AwsClients, keys: Sequence[str]) -> list[TagKeyStatus]:
    """Look up each key; only the payer may: elsewhere the keys stay unchecked."""
    if not keys:
        return []
    try:
        known = _read_known(clients)
    except SourceUnavailableError as error:
        if error.cause not in DENIED:
            raise
        return [TagKeyStatus(key=key, state="unchecked") for key in keys]
    return [status_of(key, known) for key in keys]


def status_of(key: str, known: Known) -> TagKeyStatus:
    """Return what is known of one key, with active keys that look like it.

    >>> status_of("Team", {"team": (True, None)}).suggestions
    ('team',)
    """
    is_active, since = known.get(key, (False, None))
    if is_active:
        return TagKeyStatus(key=key, state="active", active_since=since)
    active = sorted(name for name, (counts, _) in known.items() if counts)
    state = "inactive" if key in known else "unknown"
    return TagKeyStatus(key=key, state=state, suggestions=_like(key, active))


def warning_of(status: TagKeyStatus) -> str:
    """Return what a person must know of a key; "" when it counts."""
    if status.state in USABLE:
        return ""
    if status.state == "inactive":
        text = f"tag key {status.key!r} is not activated for cost allocation"
    else:
        text = f"tag key {status.key!r} is unknown to the bill: wrong case or spelling?"
    if status.suggestions:
        text += f"; active keys like it: {', '.join(status.suggestions)}"
    return text


def activation_note(status: TagKeyStatus, first: date) -> str:
    """Return that days from ``first`` on were read which a key cannot name; "" if none."""
    since = status.active_since
    if since is None or since <= first:
        return ""
    return (
        f"tag key {status.key!r} was not active before {since}: earlier days are untagged "
        "unless AWS was asked to backfill them"
    )


def _like(key: str, active: Sequence[str]) -> tuple[str, ...]:
    folded = [name for name in active if name.lower() == key.lower()]
    close = get_close_matches(key, active, n=SUGGESTIONS_MAX)
    return tuple(dict.fromkeys([*folded, *close]))[:SUGGESTIONS_MAX]


def _read_known(clients: AwsClients) -> dict[str, tuple[bool, date | None]]:
    client = clients.client("ce", region=REGION)
    known = {}
    for answer in pages(client, LIST_TAGS, {"MaxResults": PAGE_SIZE}):
        with whole(LIST_TAGS):
            for tag in answer["CostAllocationTags"]:
                known[tag["TagKey"]] = (tag["Status"] == "Active", _updated(tag))
    return known


def _updated(tag: Mapping[str, Any]) -> date | None:
    text = tag.get("LastUpdatedDate")
    return date.fromisoformat(text[:10]) if text else None
