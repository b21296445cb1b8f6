"""The kind `ttl`: a default, a tag up to a maximum, or a live grant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from billing.core.fleet import Lifecycle
from policies.core.evaluate import evaluate
from policies.core.expiry import ExpiryError, parse_expiry
from policies.core.facts import Facts
from policies.core.finding import Evaluation, Severity
from tests.builders_policies import (
    NOW,
    gpu_series,
    idle_instance,
    make_facts,
    make_instance,
    make_job,
    policy,
    quiet_network,
)

START = datetime(2026, 10, 1, 8, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
TERMINATE = "steps: [{before: 2h, do: warn}, {do: terminate}]"


def judged(facts: Facts, *lines: str) -> Evaluation:
    text = "\n".join(("name: ttl", "kind: ttl", *lines))
    return evaluate([policy(text)], facts, NOW)


def end_of(result: Evaluation) -> str | None:
    return result.findings[0].evidence[0].value


@pytest.mark.parametrize(
    ("hours", "severity"),
    [
        (21.9, None),
        (22, Severity.WARNING),
        (23.9, Severity.WARNING),
        (24, Severity.CRITICAL),
    ],
)
def test_a_warning_comes_before_the_end(
    hours: float, severity: Severity | None
) -> None:
    result = judged(make_facts(make_instance(running_for=timedelta(hours=hours))))

    assert [finding.severity for finding in result.findings] == (
        [severity] if severity else []
    )


def test_the_steps_are_planned_around_the_end() -> None:
    instance = idle_instance(running_for=timedelta(hours=23))

    (finding,) = judged(make_facts(instance), TERMINATE).findings

    end = NOW + timedelta(hours=1)
    assert [(action.do, action.at) for action in finding.actions] == [
        ("warn", end - timedelta(hours=2)),
        ("terminate", end),
    ]
    assert finding.explanation[0] == (
        "Its time ends at 2026-11-30T10:00:00Z by the default of 24h."
    )


def test_what_still_works_is_asked_about() -> None:
    busy = [90.0] * 24
    instance = make_instance(
        running_for=timedelta(hours=25),
        series=[*gpu_series(busy, busy), quiet_network()],
    )

    (finding,) = judged(make_facts(instance), TERMINATE).findings

    assert [action.do for action in finding.actions] == ["warn", "ask"]
    assert "still uses its GPUs" in finding.explanation[-1]


def test_what_nobody_can_see_is_asked_about() -> None:
    instance = make_instance(running_for=timedelta(hours=25))

    (finding,) = judged(make_facts(instance), TERMINATE).findings

    assert [action.do for action in finding.actions] == ["warn", "ask"]


def test_activity_can_be_ignored() -> None:
    instance = make_instance(running_for=timedelta(hours=25))

    (finding,) = judged(
        make_facts(instance), TERMINATE, "ignore_activity: true"
    ).findings

    assert [action.do for action in finding.actions] == ["warn", "terminate"]


def test_a_tag_sets_the_time_up_to_the_maximum() -> None:
    tagged = make_instance(running_for=timedelta(days=8), tags={"gpucost-ttl": "30d"})
    short = make_instance(running_for=timedelta(hours=4), tags={"gpucost-ttl": "3h"})

    cut = judged(make_facts(tagged))
    assert cut.findings[0].evidence[0].threshold == (
        "tag gpucost-ttl=30d, cut to the max of 7d"
    )
    assert end_of(judged(make_facts(short))) == "2026-11-30T08:00:00Z"


def test_the_longest_of_several_tags_counts() -> None:
    facts = make_facts(
        make_instance(
            "i-1", running_for=timedelta(hours=4), tags={"gpucost-ttl": "3h"}
        ),
        make_instance(
            "i-2", running_for=timedelta(hours=4), tags={"gpucost-ttl": "2d"}
        ),
    )

    assert judged(facts).findings == ()


def test_a_tag_nobody_can_read_is_unknown() -> None:
    instance = make_instance(
        running_for=timedelta(days=9), tags={"gpucost-ttl": "next week"}
    )

    result = judged(make_facts(instance))

    assert result.findings == ()
    assert "'next week'" in result.unknown[0].missing


def test_a_grant_replaces_default_and_maximum() -> None:
    instance = make_instance(running_for=timedelta(days=9))
    grant = make_job(has_grant=True, grant_ends_at=NOW + timedelta(days=1))

    assert judged(make_facts(instance, jobs=[grant])).findings == ()
    assert judged(make_facts(instance)).findings != ()


def test_a_grant_without_an_end_is_unknown() -> None:
    instance = make_instance(running_for=timedelta(days=9))

    result = judged(make_facts(instance, jobs=[make_job(has_grant=True)]))

    assert result.findings == ()
    assert result.unknown[0].missing == "end of its grant"


def test_an_unknown_start_is_unknown() -> None:
    result = judged(make_facts(make_instance(running_for=None)))

    assert result.unknown[0].missing == "start of running"


def test_a_capacity_block_is_not_ended() -> None:
    block = idle_instance(
        running_for=timedelta(hours=25), lifecycle=Lifecycle.CAPACITY_BLOCK
    )

    (refused,) = judged(make_facts(block), TERMINATE).refused

    assert "paid up front" in refused.reason


# C141
def test_a_date_ends_at_the_end_of_its_day() -> None:
    end = parse_expiry("2026-10-14", START, BERLIN)

    assert datetime.fromisoformat("2026-10-14T15:00+02:00") < end
    assert end == datetime.fromisoformat("2026-10-15T00:00+02:00")


# C140
def test_each_value_is_read_in_its_own_zone_whatever_came_before() -> None:
    values = ["2026/03/12 18:00 UTC", "2026/03/10", "2026-03-12T18:00:00+05:30"]

    forwards = [parse_expiry(value, START, BERLIN) for value in values]
    backwards = [parse_expiry(value, START, BERLIN) for value in reversed(values)]

    assert forwards == backwards[::-1]
    assert forwards == [
        datetime(2026, 3, 12, 18, tzinfo=UTC),
        datetime(2026, 3, 10, 23, tzinfo=UTC),
        datetime(2026, 3, 12, 12, 30, tzinfo=UTC),
    ]


def test_a_time_without_a_zone_is_in_the_policys_zone() -> None:
    end = parse_expiry("2026-10-14 18:00", START, BERLIN)

    assert end == datetime(2026, 10, 14, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "tomorrow", "2026-02-30", "2026-13-01", "25:00", "2026-10-14T25:00Z", "0h"],
)
def test_what_says_no_end_is_refused(text: str) -> None:
    with pytest.raises(ExpiryError):
        parse_expiry(text, START, BERLIN)
