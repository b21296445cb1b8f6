"""`gpucost exports check --athena`: golden statements on somebody's own workgroup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from billing.aws.athena import AthenaTable
from billing.exports.golden import expected
from billing.ports import SourceUnavailableError
from bot.views.answers import Check
from bot.wiring.athena import athena_checks


class Workgroup:
    """Athena that answers rightly, wrongly or not at all."""

    def __init__(self, *, cutoff: int | None = 10**10, wrong: str = "") -> None:
        self._cutoff = cutoff
        self._wrong = wrong

    def cutoff(self) -> int | None:
        return self._cutoff

    def run(self, sql: str) -> Iterator[Sequence[Sequence[str | None]]]:
        if self._wrong == "refused":
            raise SourceUnavailableError("exports", "access denied")
        rows = expected(sql)
        yield rows[1:] if self._wrong == "rows" else rows


def checks(**how: Any) -> list[Check]:
    table = cast("AthenaTable", Workgroup(**how))
    return [*athena_checks(table, "s3://bills")]


def test_a_workgroup_that_answers_as_expected_passes() -> None:
    found = checks()

    assert [one.ok for one in found] == [True] * 5
    assert "10000000000 bytes" in found[0].message


def test_a_workgroup_without_a_limit_is_told_and_not_failed() -> None:
    assert checks(cutoff=None)[0].ok is None


def test_rows_that_are_not_the_expected_ones_fail() -> None:
    found = [one for one in checks(wrong="rows") if one.ok is False]

    assert len(found) == 4
    assert "not the" in found[0].message


def test_a_statement_that_is_refused_fails_with_the_reason() -> None:
    found = [one for one in checks(wrong="refused") if one.ok is False]

    assert len(found) == 4
    assert "access denied" in found[0].message
