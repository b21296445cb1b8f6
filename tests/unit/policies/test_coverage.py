"""The kind `commitment-coverage`: a band, and no usage is no percentage."""

from __future__ import annotations

import pytest

from billing.ports import CommitmentFacts
from policies.core.evaluate import evaluate
from policies.core.finding import Evaluation
from tests.builders_policies import NOW, make_coverage, make_facts, policy


def judged(*commitments: CommitmentFacts, known: bool = True) -> Evaluation:
    rule = policy("name: p5\nkind: commitment-coverage\nfamily: p5\ntarget: 60%..70%")
    facts = make_facts(commitments=commitments, commitments_known=known)
    return evaluate([rule], facts, NOW)


@pytest.mark.parametrize(
    ("covered", "is_found"),
    [("599.99", True), ("600", False), ("700", False), ("700.01", True)],
    ids=["under", "lower-end", "upper-end", "over"],
)
def test_both_ends_of_the_band_are_inside(covered: str, *, is_found: bool) -> None:
    assert bool(judged(make_coverage(covered)).findings) is is_found


def test_awss_figure_is_named_as_such() -> None:
    (finding,) = judged(make_coverage("300")).findings

    assert finding.evidence[0].name == "AWS's coverage figure"
    assert finding.explanation[-1].startswith("The baseline is unknown")
    assert str(finding.cost_at_stake) == "$300.00"


def test_the_covered_share_of_the_baseline_decides_when_known() -> None:
    assert judged(make_coverage("300", baseline_pct=65.0)).findings == ()

    (finding,) = judged(make_coverage("650", baseline_pct=95.0)).findings
    assert finding.evidence[0].value == "95"
    assert finding.cost_at_stake is None


# C085
def test_no_usage_is_not_zero_coverage() -> None:
    for result in (judged(), judged(make_coverage("0", "0"))):
        assert result.findings == ()
        assert result.unknown[0].missing == ("n/a - no eligible usage in the last 30d")


# C085
@pytest.mark.parametrize("pct", [float("nan"), -1.0, float("inf")])
def test_a_percentage_that_cannot_be_is_a_data_error(pct: float) -> None:
    result = judged(make_coverage(baseline_pct=pct))

    assert result.findings == ()
    assert "plausible percentage" in result.unknown[0].missing


def test_more_covered_than_eligible_is_a_data_error() -> None:
    assert "plausible coverage" in judged(make_coverage("2000")).unknown[0].missing


# C086
def test_coverage_is_the_quotient_of_sums() -> None:
    assert judged(make_coverage("600", "960")).findings == ()  # 62.5 %


def test_unread_commitments_are_unknown() -> None:
    result = judged(make_coverage(), known=False)

    assert result.findings == ()
    assert result.unknown[0].missing == "coverage of commitments"
