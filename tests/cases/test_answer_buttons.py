"""Which answers of the application can be shared, and which must not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws.builders import cost, days
from tests.builders import at
from tests.contract.sources.bills import JOB, TAG

if TYPE_CHECKING:
    from tests.cases.place import Place

ROW = "[ Share ] [ Refresh ]"


@pytest.mark.parametrize("text", ["job-123", "top", "account 123456789012"])
def test_answer_about_cost_can_be_shared_and_asked_again(
    place: Place, text: str
) -> None:
    costs = [cost(day, "10", tags=JOB) for day in days("2026-04-01", "2026-04-05")]
    place.aws.serve(tags=TAG, costs=costs)
    place.at(at("2026-04-06T10:00"))
    place.ingest("cost-explorer")

    assert place.slack(text).splitlines()[-1].startswith(ROW)


@pytest.mark.parametrize("text", ["no-such-job", "approvals"])
def test_errors_and_other_answers_have_no_buttons(place: Place, text: str) -> None:
    assert ROW not in place.slack(text)
