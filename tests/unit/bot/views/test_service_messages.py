from __future__ import annotations

from datetime import date

from inline_snapshot import snapshot

from billing.core.charges import Source
from billing.core.money import Money
from billing.ports import Freshness, ImportReport
from bot.views.plain import message_text
from bot.views.service import import_refused, source_stale
from tests.builders import at


def test_a_refused_bill_names_both_sums_and_says_that_nothing_changed() -> None:
    report = ImportReport(
        source=Source.COST_EXPLORER,
        account="123456789012",
        since=date(2026, 11, 1),
        until=date(2026, 12, 1),
        charges=12,
        total=Money.of("99.50"),
        control_total=Money.of("100.00"),
        difference=Money.of("-0.50"),
        requests=4,
        request_cost=Money.of("0.04"),
        state="rejected",
        message="the lines of 2026-11-03 do not reach the day's own total",
    )

    assert message_text(import_refused(report)) == snapshot("""\
:warning: The bill of 123456789012 for 1 to 30 Nov 2026 was not imported.
Its lines sum to $99.50, its own total says $100.00.
the lines of 2026-11-03 do not reach the day's own total
What was stored before still stands and is shown as stale.\
""")


def test_a_stale_source_says_since_when_and_why() -> None:
    stale = Freshness(
        source=Source.INVENTORY,
        account="123456789012",
        as_of=at("2026-11-29T06:00Z"),
        reason="AccessDenied <!channel>",
    )

    assert message_text(source_stale(stale)) == snapshot("""\
:warning: inventory of 123456789012 is stale: last read 29 Nov 2026 06:00 UTC.
AccessDenied <!channel>
gpucost doctor says what to do. Answers say it until then.\
""")
