"""Intervals and tags as rows, and back. Knows nothing of how either is learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import select

from billing.core.attribution import normalise_job
from billing.core.fleet import Lifecycle
from billing.core.usage import EndBasis, ResourceKind, TagSpan, UsageInterval
from billing.ledger.columns import table_of
from billing.ledger.tables import ResourceTagRow, UsageIntervalRow
from billing.ledger.usage_reads import INTERVAL_COLUMNS, fold_key

_INTERVAL = table_of(UsageIntervalRow)
_TAG = table_of(ResourceTagRow)
_KINDS = {one.value: one for one in ResourceKind}
_LIFECYCLES = {one.value: one for one in Lifecycle}
_END_BASES = {one.value: one for one in EndBasis}
#: Ids asked for at once; SQLite allows 32,766 variables in a statement.
_IDS_MAX = 5_000


def chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield ids in parts that fit into a statement."""
    for start in range(0, len(ids), _IDS_MAX):
        yield ids[start : start + _IDS_MAX]


@cache
def intervals_query() -> Any:  # noqa: ANN401 - a select of INTERVAL_COLUMNS
    """Return the question for intervals, built once."""
    return select(*(_INTERVAL.c[name] for name in INTERVAL_COLUMNS))


def interval_of(row: Any) -> UsageInterval:  # noqa: ANN401 - a row of intervals_query
    """Return a row as an interval."""
    values: dict[str, Any] = dict(zip(INTERVAL_COLUMNS, row, strict=True))
    values["kind"] = _KINDS[values["kind"]]
    values["lifecycle"] = _LIFECYCLES[values["lifecycle"]]
    values["end_basis"] = _END_BASES[values["end_basis"]]
    return UsageInterval(**values)


def interval_values(item: UsageInterval) -> dict[str, Any]:
    """Return an interval as the values of its row."""
    return {name: getattr(item, name) for name in INTERVAL_COLUMNS} | {
        "kind": item.kind.value,
        "lifecycle": item.lifecycle.value,
        "end_basis": item.end_basis.value,
    }


@cache
def tags_query() -> Any:  # noqa: ANN401 - a select of five columns
    """Return the question for tags, built once."""
    columns = _TAG.c
    return select(
        columns.resource_id,
        columns.key,
        columns.value,
        columns.valid_from,
        columns.valid_to,
    )


def span_of(row: Any) -> TagSpan:  # noqa: ANN401 - a row of tags_query
    """Return a row as a tag over time."""
    resource_id, key, value, valid_from, valid_to = row
    return TagSpan(
        resource_id=resource_id,
        key=key,
        value=value,
        valid_from=valid_from,
        valid_to=valid_to,
    )


def tag_values(span: TagSpan) -> dict[str, Any]:
    """Return a tag over time as the values of its row."""
    return {
        "resource_id": span.resource_id,
        "key": span.key,
        "value": span.value,
        "folded_key": fold_key(span.key),
        "folded": normalise_job(span.value),
        "valid_from": span.valid_from,
        "valid_to": span.valid_to,
    }
