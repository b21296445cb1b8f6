"""Read several accounts and regions at once; one that fails is named, not dropped.

Must not know what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from billing.aws.failures import AWS_ERRORS, scope_failure
from billing.core.fleet import ScopeFailure
from billing.ports import SourceUnavailableError

#: Scopes read at the same time.
WORKERS_MAX = 8

Scope = tuple[str, str]
Found = TypeVar("Found")


def read_scopes(
    source: str, scopes: Iterable[Scope], read: Callable[[str, str], Found]
) -> tuple[Sequence[tuple[Scope, Found]], Sequence[ScopeFailure]]:
    """Call ``read(account, region)`` for each scope; return results and failures.

    Both are sorted by scope, whichever answered first.
    """
    ordered = sorted(set(scopes))
    if not ordered:
        return (), ()

    def attempt(scope: Scope) -> Found | ScopeFailure:
        try:
            return read(*scope)
        except (*AWS_ERRORS, SourceUnavailableError) as error:
            return scope_failure(source, *scope, error)

    workers = min(WORKERS_MAX, len(ordered))
    with ThreadPoolExecutor(workers, thread_name_prefix=source) as pool:
        outcomes = list(zip(ordered, pool.map(attempt, ordered), strict=True))
    found = [(s, o) for s, o in outcomes if not isinstance(o, ScopeFailure)]
    return found, [o for _, o in outcomes if isinstance(o, ScopeFailure)]
