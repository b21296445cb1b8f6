"""Names that instances are reached by: addresses kept beside the fleet.

An address is given to another instance later, so a name may have several owners: who
asks looks at when each of them ran. Knows no scheduler.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from billing.core.fleet import Instance
from billing.ledger.columns import table_of
from billing.ledger.database import insert_or_nothing
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from billing.ledger.tables_attribution import ResourceHostRow
from billing.ledger.usage_rows import chunks
from billing.ports.attribution import HostMatch

_HOST = table_of(ResourceHostRow)
_TAG = table_of(ResourceTagRow)
_INTERVAL = table_of(UsageIntervalRow)
_IP_NAME = re.compile(r"ip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})(?:\..*)?")
_INSTANCE = re.compile(r"m?i-[0-9a-f]+")


def note_hosts(
    session: Session, instances: Iterable[Instance], observed_at: datetime
) -> None:
    """Remember the private addresses of instances; they keep them while they live."""
    seen = {(one.resource_id, one.private_ip) for one in instances if one.private_ip}
    if not seen:
        return
    ids = sorted({resource_id for resource_id, _ in seen})
    known: set[tuple[str, str]] = set()
    for some in chunks(ids):
        rows = session.connection().execute(
            select(_HOST.c.resource_id, _HOST.c.name).where(
                _HOST.c.resource_id.in_(some)
            )
        )
        known.update((resource_id, name) for resource_id, name in rows.all())
    new = sorted(seen - known)
    if new:
        session.connection().execute(
            insert_or_nothing(session, ResourceHostRow),
            [
                {"resource_id": resource_id, "name": name, "seen_at": observed_at}
                for resource_id, name in new
            ],
        )


def hosts_named(
    session: Session, names: Sequence[str]
) -> Mapping[str, Sequence[HostMatch]]:
    """Return the instances known by each name, oldest first."""
    wanted = {name: folded for name in names if (folded := plain_name(name))}
    owners: dict[str, set[str]] = {}
    for some in chunks(sorted(set(wanted.values()))):
        for name, resource_id in _owners(session, some):
            owners.setdefault(name, set()).add(resource_id)
    ids = sorted({one for found in owners.values() for one in found})
    runs = _runs(session, ids)
    return {
        name: sorted(
            (run for one in owners[folded] for run in runs.get(one, ())),
            key=lambda run: (run.started_at, run.resource_id),
        )
        for name, folded in wanted.items()
        if folded in owners and any(one in runs for one in owners[folded])
    }


def plain_name(name: str) -> str:
    """Return a host's name as it is looked up: an address for AWS's private names.

    >>> plain_name("ip-10-0-1-2.ec2.internal"), plain_name("GPU-001")
    ('10.0.1.2', 'gpu-001')
    """
    text = name.strip().lower()
    found = _IP_NAME.fullmatch(text)
    if found is not None:
        text = ".".join(found.groups())
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return text


def _owners(session: Session, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return ``(name, resource id)`` of addresses, ``Name`` tags and ids."""
    connection = session.connection()
    found = [
        (name, resource_id)
        for name, resource_id in connection.execute(
            select(_HOST.c.name, _HOST.c.resource_id).where(_HOST.c.name.in_(names))
        ).all()
    ]
    found += [
        (name, resource_id)
        for name, resource_id in connection.execute(
            select(_TAG.c.folded, _TAG.c.resource_id)
            .where(_TAG.c.folded.in_(names), _TAG.c.folded_key == "name")
            .distinct()
        ).all()
    ]
    return found + [(name, name) for name in names if _INSTANCE.fullmatch(name)]


def _runs(session: Session, ids: Sequence[str]) -> dict[str, list[HostMatch]]:
    """Return when each instance is known to have been there, stops included."""
    runs: dict[str, list[HostMatch]] = {}
    columns = _INTERVAL.c
    for some in chunks(ids):
        rows = session.connection().execute(
            select(
                columns.resource_id,
                func.min(columns.account),
                func.min(columns.started_at),
                func.max(columns.ended_at),
                func.count() - func.count(columns.ended_at),
            )
            .where(
                columns.resource_id.in_(some),
                columns.kind == "instance",
            )
            .group_by(columns.resource_id)
        )
        for resource_id, account, start, end, running in rows.all():
            runs[resource_id] = [
                HostMatch(
                    resource_id=resource_id,
                    account=account,
                    started_at=start,
                    ended_at=None if running else end,
                )
            ]
    return runs
