"""Answers about cost and estimates as people read them."""

from __future__ import annotations

from dataclasses import replace

from inline_snapshot import snapshot

from bot.views.answers import CostGroup
from bot.views.cost import cost_answer
from bot.views.estimate import estimate_answer
from tests.builders import at
from tests.builders_bot import (
    drawn,
    make_estimate_answer,
    make_freshness,
    make_job_answer,
    make_running,
    make_top_answer,
    shown,
    usd,
)


def test_answer_about_a_job() -> None:
    assert drawn(cost_answer(make_job_answer())) == snapshot("""\
job-123: $14,089.02 from 1 Nov to 30 Nov 2026 16:00 UTC
------
# job-123
*$14,089.02* from 1 Nov to 30 Nov 2026 16:00 UTC, before credits and refunds
| *Billed by AWS* $10,566.46 through 29 Nov
| *Provisional* $3,522.56 since then, from running time and prices
| *Burn rate now* $220.16/h
| *Next 24 hours* $5,283.84 if nothing changes
| *Credits and refunds* -$120.50
| *Owner* `mia@example.com`
| *Team* `research`
*Running now*
• 4 x `p5.48xlarge` on demand in us-east-1, 32 GPUs: $220.16/h
*By category*
```
compute  $13,900.00  99 %
storage     $189.02   1 %
```
<chart Cost by UTC day (USD): 28 Nov 5283.23, 29 Nov 5283.23, 30 Nov + 3522.56>
(Days marked + are estimated or provisional: they may still move.)
(Effective cost: discounts and commitments included, amortised. AWS days are UTC.)
(Seen from 28 Nov 2026 00:00 UTC to 30 Nov 2026 15:57 UTC.)
(Last read: bill 2 hours ago, fleet 3 minutes ago.)\
""")


def test_answer_about_a_job_with_unknown_prices_and_stale_sources() -> None:
    answer = make_job_answer(
        running=(make_running(rate=None, gpus=None, count=1),),
        burn=None,
        forecast_24h=None,
        provisional_unknown=("p6-b300.48xlarge in us-east-1",),
        by_category=(),
        by_day=(),
        stale=(make_freshness(as_of=None, reason="AccessDenied"),),
    )

    assert drawn(cost_answer(answer)) == snapshot("""\
job-123: at least $14,089.02 from 1 Nov to 30 Nov 2026 16:00 UTC
------
# job-123
*at least $14,089.02* from 1 Nov to 30 Nov 2026 16:00 UTC, before credits and
   refunds
| *Billed by AWS* $10,566.46 through 29 Nov
| *Provisional* at least $3,522.56 since then, from running time and prices
| *Burn rate now* unknown, a price is missing
| *Next 24 hours* unknown, a price is missing
| *Credits and refunds* -$120.50
| *Owner* `mia@example.com`
| *Team* `research`
:warning: The bill of account 012345678901 was never read: AccessDenied
:warning: No price known for `p6-b300.48xlarge in us-east-1`: their cost is not in
   the total
*Running now*
• 1 x `p5.48xlarge` on demand in us-east-1: price unknown
(Effective cost: discounts and commitments included, amortised. AWS days are UTC.)
(Seen from 28 Nov 2026 00:00 UTC to 30 Nov 2026 15:57 UTC.)
(Last read: bill 2 hours ago, fleet 3 minutes ago.)\
""")


def test_answer_about_a_job_that_ended_says_that_nothing_runs() -> None:
    answer = make_job_answer(running=(), burn=None, forecast_24h=None)

    text = shown(cost_answer(answer))

    assert "*Running now* nothing" in text
    assert "Burn" not in text


def test_answer_about_everything() -> None:
    assert drawn(cost_answer(make_top_answer())) == snapshot("""\
GPU spend by job: $14,089.02 from 1 Nov to 30 Nov 2026 16:00 UTC
------
# GPU spend by job
*$14,089.02* from 1 Nov to 30 Nov 2026 16:00 UTC, before credits and refunds
| *Billed by AWS* $10,566.46 through 29 Nov
| *Provisional* $3,522.56 since then, from running time and prices
| *Credits and refunds* -$120.50
| *Without a job tag* $4,000.00 (28 %)
*By job*
```
job-123     $10,000.00  71 %
(untagged)   $4,000.00  28 %
job-9        &gt;= $89.02  &lt;1 %
```
(Effective cost: discounts and commitments included, amortised. AWS days are UTC.)
(Last read: bill 2 hours ago, fleet 3 minutes ago.)\
""")


def test_long_breakdown_counts_and_sums_the_rest() -> None:
    group = make_top_answer().groups[0]
    groups = tuple(
        replace(group, key=f"job-{index}", total=usd("10")) for index in range(40)
    )

    text = shown(cost_answer(make_top_answer(groups=groups)))

    assert "… and 25 more, $250.00 together" in text


def test_estimate() -> None:
    assert drawn(estimate_answer(make_estimate_answer())) == snapshot("""\
Estimate: 32 instances of p5.48xlarge for 24 hours: $54,951.94 expected, from
   $42,270.72 to $63,406.08
------
# Estimate: 32 instances of p5.48xlarge for 24 hours
*$54,951.94* expected for 24 hours, from $42,270.72 to $63,406.08
| *Region* `us-east-1`
| *Purchase* on demand
| *All instances* $1,761.28/h
| *Compute at list price* $42,270.72 for 24 hours
| *List price, one instance* $55.04/h
| *Your price, one instance* $49.54/h
| *Job* `job-123`
*What it is made of*
```
compute                   $42,270.72
synchronisation and idle  $12,681.22
expected                  $54,951.94
```
• compute: 32 x $55.04/h x 24 h
• synchronisation and idle: 30 % of compute, the default
*Other ways to run it*
• spot in us-east-2: $18,000.00 (2.4 % a day reclaimed)
• capacity block: price unknown
*Needs an approval first*: over $10,000 (policy `approve-large-runs`).
(Price from price list, as of 29 Nov 2026 16:00 UTC.)\
""")


def test_estimate_that_needs_no_approval_says_so() -> None:
    answer = make_estimate_answer(required=False, policy="", over=None)

    assert "No policy asks for an approval" in shown(estimate_answer(answer))


def test_a_job_that_began_before_the_window_says_how_to_see_all_of_it() -> None:
    answer = replace(make_job_answer(), first_seen_at=at("2026-10-12T08:00Z"))

    text = drawn(cost_answer(answer))

    assert "all of it: `job-123` since 2026-10-12" in text


def test_jobs_of_no_known_team_are_said_to_be_so() -> None:
    group = CostGroup(key="", total=usd("5"), billed=usd("5"), provisional=usd("0"))
    answer = replace(make_top_answer(), by="team", groups=(group,))

    assert "(team unknown)" in drawn(cost_answer(answer))
