"""The weekly digest as people read it."""

from __future__ import annotations

from inline_snapshot import snapshot

from bot.views.answers import TopLine
from bot.views.digest import digest
from tests.builders_bot import (
    NOW,
    PEOPLE,
    drawn,
    make_digest,
    make_finding,
    shown,
    usd,
)


def test_weekly_digest() -> None:
    assert drawn(*digest(make_digest(), people=PEOPLE, now=NOW)) == snapshot("""\
GPU costs 2026-W48: $14,089.02, up 10 % from $12,808.20 the week before
------
# GPU costs 2026-W48
*$14,089.02* from 23 to 29 Nov 2026 (UTC), before credits and refunds: up 10 % from
   $12,808.20 the week before
| *Billed by AWS* $11,900.00
| *Provisional* $2,189.02
| *Burn rate now* $220.16/h
| *Credits and refunds* -$120.50
| *Without a job tag* $700.00 (5 %)
| *Needs somebody* 1 finding, $1,320.96 at stake
<chart Cost by UTC day (USD): Mon 23 Nov 2000.0, Tue 24 Nov 2100.0, Wed 25 Nov
   1900.0, Thu 26 Nov 2400.0, Fri 27 Nov 2600.0, Sat 28 Nov 900.0, Sun 29 Nov +
   2189.02>
*Jobs*
```
job-123  $10,000.00  71 %       up 25 %
job-200     $430.00   3 %  new (was $0)
job-201      $20.00  &lt;1 %           new
```
*Teams*
```
research  $12,000.00  85 %  no change
```
*By category*
```
compute  $13,900.00  99 %
storage     $189.02   1 %
```
*Needs somebody*
• Idle GPUs: `job-123`, $1,320.96, <@U0MIA>
*Approvals*
• `job-123`: approved, up to $40,000.00
<divider>
(1 day may still move, marked + (estimated or provisional): Sun 29 Nov.)
(Effective cost: discounts and commitments included, amortised.)\
""")


def test_quiet_week_is_short() -> None:
    zero = usd("0")
    answer = make_digest(
        total=zero,
        billed=zero,
        provisional=zero,
        credits=zero,
        previous=zero,
        findings=(),
        approvals=(),
        untagged=None,
        estimated_days=(),
    )

    assert drawn(*digest(answer, people=PEOPLE, now=NOW)) == snapshot("""\
GPU costs 2026-W48: $0.00, no change
------
# GPU costs 2026-W48
A quiet week: *$0.00* from 23 to 29 Nov 2026 (UTC).
| *Burn rate now* $220.16/h
<divider>
(Effective cost: discounts and commitments included, amortised.)\
""")


# C018
def test_week_after_an_empty_one_is_new_and_not_a_percentage() -> None:
    answer = make_digest(total=usd("430"), previous=usd("0"))

    text = shown(*digest(answer, people=PEOPLE, now=NOW))

    assert "credits and refunds: new (was $0)" in text


def test_first_week_has_no_earlier_figure() -> None:
    text = shown(*digest(make_digest(previous=None), people=PEOPLE, now=NOW))

    assert "no earlier figure" in text


# C018
def test_seven_equal_days_are_drawn() -> None:
    days = tuple((day, usd("5"), False) for day, _, _ in make_digest().by_day)

    text = shown(*digest(make_digest(by_day=days), people=PEOPLE, now=NOW))

    assert "Sun 29 Nov 5.0" in text


# C105
def test_digest_of_a_large_company_goes_on_in_the_thread() -> None:
    teams = tuple(
        TopLine(key=f"team-{index}", total=usd("10"), previous=None)
        for index in range(60)
    )
    findings = tuple(
        make_finding(job=f"job-{index}", explanation=("x" * 500,))
        for index in range(90)
    )

    pages = digest(
        make_digest(top_teams=teams, findings=findings), people=PEOPLE, now=NOW
    )

    assert "$14,089.02" in shown(pages[0])
    assert "… and 50 more" in shown(*pages)
    assert "and 80 more" in shown(*pages)


def test_findings_at_stake_say_when_one_amount_is_unknown() -> None:
    findings = (make_finding(), make_finding(job="job-9", cost_at_stake=None))

    text = shown(*digest(make_digest(findings=findings), people=PEOPLE, now=NOW))

    assert "2 findings, at least $1,320.96 at stake" in text
