"""Every way in which a job's resources are known: tags, parents, rules, and placements.

Knows no rule of its own; who held what when is for the caller to split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlmodel import Session

from billing.core.attribution import normalise_job
from billing.core.claims import AttributionRules
from billing.core.parents import tags_behind
from billing.core.periods import Period
from billing.core.usage import UsageInterval
from billing.ledger.usage_reads import intervals_in, intervals_of_job


def intervals_for_job(
    session: Session, rules: AttributionRules, period: Period, job: str
) -> Sequence[UsageInterval]:
    """Return what may have run for a job in a period, by resource and start.

    A key that a mapping rule gives may stand behind anything, so everything is
    returned for it.
    """
    key = normalise_job(job)
    if any(rule.to_key == key for rule in rules.mapping):
        return intervals_within(session, period)
    names, value = tags_behind(key, rules.parents)
    keys = rules.keys
    if value != key:
        keys = replace(keys, job=names) if value else keys
        return intervals_of_job(session, keys, period, value or key)
    return intervals_of_job(
        session, replace(keys, job=(*keys.job, *names)), period, key
    )


def intervals_within(session: Session, period: Period) -> Sequence[UsageInterval]:
    """Return everything that ran in a period, by resource and start."""
    return intervals_in(session, period)
