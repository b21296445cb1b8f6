"""A file of live grants for launchers that must not ask anybody: Slurm's job_submit.

One line each, tabs between, signed whole by an HMAC whose key lies beside the file. Its
age is part of it, so that a sidecar that died is noticed. Pure but for the store.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from bot.ports import Store
from policies.core.approvals import RequestState
from policies.core.grants import Grant, grant_of, usage_of, used_up

#: Approved requests that are looked through.
APPROVED_MAX = 1000
_PLAIN = re.compile(r"[^\w.:=+@/ -]", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A live grant, with what is left of it.

    Attributes:
        left: Instance hours.
        running: Instances of launches on record.
    """

    grant: Grant
    left: Fraction
    running: int


def live_entries(
    store: Store, *, now: datetime, system_now: datetime
) -> tuple[Entry, ...]:
    """Return the grants of which something may be started now, oldest first."""
    found = []
    with store.read() as unit:
        for request in unit.journal.requests(
            state=RequestState.APPROVED, limit=APPROVED_MAX
        ):
            grant = grant_of(request)
            if grant is None or not grant.not_before <= now < grant.expires_at:
                continue
            launches = unit.journal.launches(request.request_id)
            usage = usage_of(launches, now=now, system_now=system_now)
            if used_up(grant, usage) is not None:
                continue
            approved = grant.envelope.count * grant.envelope.hours
            left = approved - usage.instance_hours
            found.append(Entry(grant=grant, left=left, running=usage.running))
    return tuple(sorted(found, key=lambda one: one.grant.request_id))


def cache_text(entries: Iterable[Entry], *, key: bytes, written_at: datetime) -> str:
    """Return the file: its age, the grants, and the signature over both."""
    lines = [f"gpucost-grants\t1\t{int(written_at.timestamp())}", *map(_line, entries)]
    body = "".join(f"{line}\n" for line in lines)
    signature = hmac.new(key.hex().encode(), body.encode(), hashlib.sha256)
    return f"{body}hmac\t{signature.hexdigest()}\n"


def _line(entry: Entry) -> str:
    grant, envelope = entry.grant, entry.grant.envelope
    parts = (
        "grant",
        grant.request_id,
        _escaped(envelope.job),
        envelope.instance_type,
        str(envelope.count),
        _number(envelope.hours),
        envelope.purchase.value,
        envelope.region,
        str(int(grant.not_before.timestamp())),
        str(int(grant.expires_at.timestamp())),
        _number(entry.left),
        str(entry.running),
    )
    return "\t".join(parts)


def _escaped(text: str) -> str:
    r"""Return a text without tabs and line ends, each byte of others as ``%0A``.

    >>> _escaped("llm-1"), _escaped("a\tb%"), _escaped("é")
    ('llm-1', 'a%09b%25', '%C3%A9')
    """
    return _PLAIN.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text
    )


def _number(value: Fraction) -> str:
    return f"{float(value):.6f}".rstrip("0").rstrip(".")
