from __future__ import annotations

import pytest

from bot.views.evidence import evidence_line
from policies.core.finding import Evidence


@pytest.mark.parametrize(
    ("value", "unit", "threshold", "shown"),
    [
        ("0.4", "%", "< 5%", "load: 0.4 % (limit &lt; 5%)"),
        ("0.4", "%", "5", "load: 0.4 % (limit 5 %)"),
        ("10000", "B/s", "< 1 MB/s", "load: 10000 B/s (limit &lt; 1 MB/s)"),
        ("4200000000000", "B", "", "load: 3.8 TiB"),
        ("35658.252", "USD", "> 10000.00", "load: $35,658.25 (limit &gt; $10,000.00)"),
        ("plenty", "USD", "", "load: plenty USD"),
        (None, "B", "", "load: unknown"),
    ],
)
def test_a_figure_stands_in_its_unit_once(
    value: str | None, unit: str, threshold: str, shown: str
) -> None:
    one = Evidence(name="load", value=value, unit=unit, threshold=threshold)

    assert evidence_line(one) == shown
