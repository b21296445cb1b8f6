"""Placements, assignments and transfers, kept and computed on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from billing.core.charges import Bucket, ChargeCategory
from billing.core.claims import AttributionRules
from billing.core.periods import DAY
from billing.core.transfers import Rule
from billing.ingest.attribution import reattribute_due
from billing.ledger.check import ledger_problems
from bot.unit_of_work import SqlStore, StoreSettings
from tests.builders import (
    ACCOUNT,
    NOW,
    at,
    day,
    make_charge,
    make_instance,
    make_observation,
    period,
)
from tests.builders_attribution import make_assignment, make_placement, make_rule
from tests.builders_store import AUDIT_KEY, import_charges

if TYPE_CHECKING:
    from billing.core.charges import Charge
    from billing.core.fleet import Instance
    from billing.core.placements import Placement

ON = day("2026-11-28")


def node(resource_id: str = "i-1", *, private_ip: str = "", **tags: str) -> Instance:
    return make_instance(
        resource_id=resource_id,
        launched="2026-11-27T00:00Z",
        private_ip=private_ip,
        tags={name.replace("_", "-"): value for name, value in tags.items()},
    )


def box(job: str = "", amount: str = "240", hours: str = "24") -> Charge:
    return make_charge(job=job, on=ON.isoformat(), billed=amount, quantity=hours)


def observe(store: SqlStore, *instances: Instance) -> None:
    with store.write() as unit:
        unit.ledger.apply_observation(
            make_observation(*instances, observed="2026-11-28T00:05Z")
        )


def by_key(store: SqlStore, by: str = "job", job: str | None = None) -> dict[str, str]:
    with store.read() as unit:
        cells = unit.ledger.cells(by, ON, ON + DAY, job=job)
        assert ledger_problems(unit.session) == []
    return {cell.key: cell.effective.text() for cell in cells}


def place(store: SqlStore, *placements: Placement) -> int:
    with store.write() as unit:
        return unit.ledger.record_placements(placements, NOW)


def due(store: SqlStore) -> list[str]:
    with store.read() as unit:
        return [one.day.isoformat() for one in unit.ledger.due_days(limit=9)]


def compute(store: SqlStore) -> int:
    with store.write() as unit:
        days = [one.day for one in unit.ledger.due_days(limit=100)]
        return unit.ledger.reattribute(ACCOUNT, days, NOW)


HALF = make_placement(
    "job-a", start="2026-11-28T00:00", end="2026-11-28T12:00", gpus="8"
)


def test_a_day_is_attributed_in_the_transaction_that_stores_it(store: SqlStore) -> None:
    observe(store, node())
    place(store, HALF)

    import_charges(store, [box()])

    assert by_key(store) == {"bucket:idle": "120.00", "job-a": "120.00"}
    assert by_key(store, "team") == {"": "120.00", "bucket:idle": "120.00"}
    assert due(store) == []


def test_placements_that_come_later_make_the_day_due_and_move_it(
    store: SqlStore,
) -> None:
    observe(store, node())
    import_charges(store, [box()])
    before = by_key(store)

    new = place(store, HALF)
    waiting = due(store)
    moved = compute(store)

    assert (before, new, waiting) == ({"bucket:untagged": "240.00"}, 1, ["2026-11-28"])
    assert moved == 2
    assert by_key(store) == {"bucket:idle": "120.00", "job-a": "120.00"}
    assert due(store) == []


def test_the_same_placements_again_change_nothing(store: SqlStore) -> None:
    observe(store, node())
    import_charges(store, [box()])
    place(store, HALF)
    compute(store)

    assert place(store, HALF) == 0
    assert due(store) == []
    assert compute(store) == 0


def test_a_running_placement_that_ended_replaces_what_was_known(
    store: SqlStore,
) -> None:
    observe(store, node())
    import_charges(store, [box()])
    place(store, replace(HALF, ended_at=None))
    compute(store)
    before = by_key(store)

    place(store, HALF)
    compute(store)

    assert before == {"job-a": "240.00"}
    assert by_key(store) == {"bucket:idle": "120.00", "job-a": "120.00"}


def test_computing_twice_gives_the_same(store: SqlStore) -> None:
    observe(store, node())
    import_charges(store, [box(), box("job-t", "7", "1")])
    place(store, HALF)
    compute(store)
    with store.read() as unit:
        first = unit.ledger.transfers(ON, ON + DAY)

    with store.write() as unit:
        unit.ledger.reattribute(ACCOUNT, [ON], NOW)

    with store.read() as unit:
        assert unit.ledger.transfers(ON, ON + DAY) == first


def test_a_restated_day_is_attributed_anew(store: SqlStore) -> None:
    observe(store, node())
    place(store, HALF)
    import_charges(store, [box()])

    import_charges(store, [box(amount="480")], mark="restated")

    assert by_key(store) == {"bucket:idle": "240.00", "job-a": "240.00"}


def test_credits_fees_and_taxes_are_never_moved(store: SqlStore) -> None:
    credit = make_charge(
        job="", on=ON.isoformat(), billed="-100", bucket=Bucket.CREDITS,
        record_type="Credit", category=ChargeCategory.CREDIT,
    )  # fmt: skip
    observe(store, node())
    place(store, HALF)

    import_charges(store, [box(), credit])

    assert by_key(store)["bucket:credits"] == "-100.00"


def test_placements_of_a_resource_that_only_the_bill_knows(store: SqlStore) -> None:
    charge = replace(box(), resource_id="i-1")
    import_charges(store, [charge])

    place(store, HALF)
    compute(store)

    assert by_key(store) == {"bucket:idle": "120.00", "job-a": "120.00"}


def test_an_assignment_counts_back_and_can_be_taken_back(store: SqlStore) -> None:
    nat = make_charge(
        job="", on=ON.isoformat(), billed="10", usage_type="NatGateway-Bytes"
    )
    import_charges(store, [nat])
    with store.write() as unit:
        number = unit.ledger.assign(
            make_assignment("Job-X", usage_type="NatGateway-*", number=None), NOW
        )
    compute(store)
    assigned = by_key(store)

    with store.write() as unit:
        assert unit.ledger.end_assignment(number, by="p", now=NOW)
        assert not unit.ledger.end_assignment(number, by="p", now=NOW)
    compute(store)

    assert assigned == {"job-x": "10.00"}
    assert by_key(store) == {"bucket:untagged": "10.00"}
    with store.read() as unit:
        assert unit.ledger.assignments() == []


def test_other_rules_make_every_stored_day_due(store_url: str) -> None:
    rules = AttributionRules(mapping=(make_rule("team:nlp", region="us-east-1"),))
    settings = StoreSettings(audit_key=AUDIT_KEY)
    plain = SqlStore.open(store_url, settings)
    import_charges(plain, [box()])
    assert due(plain) == []
    plain.close()

    mapped = SqlStore.open(store_url, replace(settings, attribution=rules))
    waiting = due(mapped)
    compute(mapped)

    assert waiting == ["2026-11-28"]
    assert by_key(mapped) == {"team:nlp": "240.00"}
    assert by_key(mapped, "team") == {"nlp": "240.00"}
    mapped.close()


def test_transfers_are_found_by_both_sides(store: SqlStore) -> None:
    observe(store, node())
    place(store, HALF)
    import_charges(store, [box()])

    with store.read() as unit:
        to, from_, other, elsewhere = (
            unit.ledger.transfers(ON, ON + DAY, key=key, account=account)
            for key, account in (
                ("job-a", None),
                ("bucket:untagged", ACCOUNT),
                ("job-t", None),
                (None, "999999999999"),
            )
        )

    assert [(one.from_key, one.to_key) for one in to] == [("bucket:untagged", "job-a")]
    assert [one.to_key for one in from_] == ["bucket:idle", "job-a"]
    assert (other, elsewhere) == ([], [])


def test_a_job_by_placement_answers_by_region_too(store: SqlStore) -> None:
    observe(store, node())
    place(store, HALF)
    import_charges(store, [box()])

    assert by_key(store, "region", job="job-a") == {"us-east-1": "120.00"}
    assert by_key(store, "purchase", job="job-a") == {"standard": "120.00"}
    assert by_key(store, "region") == {"us-east-1": "240.00"}


def test_a_job_by_placement_is_known_and_its_time_is_found(store: SqlStore) -> None:
    observe(store, node())

    place(store, HALF)

    with store.read() as unit:
        whole = period("2026-11-01", "2026-11-30")
        assert unit.ledger.job_record("job-a") is not None
        assert [
            one.resource_id for one in unit.ledger.intervals(whole, job="job-a")
        ] == ["i-1"]
        found = unit.ledger.intervals(whole)
        claims = unit.ledger.claims(found, (), whole)
        assert claims is not None
        assert claims.concern(found[0])


def test_without_claims_the_tags_say_it_all(store: SqlStore) -> None:
    observe(store, node(job_id="job-t"))
    whole = period("2026-11-01", "2026-11-30")

    with store.read() as unit:
        found = unit.ledger.intervals(whole)
        tags = unit.ledger.tags(["i-1"], keys=["job-id"])
        assert unit.ledger.claims(found, tags, whole) is None


@pytest.mark.parametrize(
    "name", ["10.0.1.2", "ip-10-0-1-2", "ip-10-0-1-2.ec2.internal", "GPU-001", "i-0a1"]
)
def test_a_host_is_found_by_address_name_tag_and_id(store: SqlStore, name: str) -> None:
    observe(
        store,
        node("i-0a1", private_ip="10.0.1.2", Name="gpu-001"),
        node("i-0b2", private_ip="10.0.1.3"),
    )

    with store.read() as unit:
        found = unit.ledger.hosts([name, "nobody"])

    assert {key: [one.resource_id for one in runs] for key, runs in found.items()} == {
        name: ["i-0a1"]
    }


def test_tags_learned_of_past_days_make_them_due(store: SqlStore) -> None:
    """The inventory began after the bill: what it knows counts for days before."""
    import_charges(store, [box()])
    assert due(store) == []

    with store.write() as unit:
        unit.ledger.apply_observation(
            make_observation(node(job_id="job-t"), observed="2026-11-29T00:05Z")
        )
    waiting = due(store)
    compute(store)

    assert waiting == ["2026-11-28"]
    assert by_key(store) == {"job-t": "240.00"}
    with store.read() as unit:
        rules = {one.rule for one in unit.ledger.transfers(ON, ON + DAY)}
    assert rules == {Rule.TAG}


def test_nothing_is_computed_for_days_that_are_not_stored(store: SqlStore) -> None:
    place(store, HALF)

    with store.write() as unit:
        assert unit.ledger.reattribute(ACCOUNT, [ON], NOW) == 0
        assert unit.ledger.due_days(limit=5) == []
    assert at("2026-11-28") + timedelta(hours=12) == HALF.ended_at


class StopError(Exception):
    """The process ends here."""


def cut(store: SqlStore) -> None:
    with store.write() as unit:
        unit.ledger.reattribute(ACCOUNT, [ON], NOW)
        raise StopError


def test_a_computation_that_is_cut_leaves_the_day_as_it_was(store: SqlStore) -> None:
    observe(store, node())
    import_charges(store, [box()])
    place(store, HALF)

    with pytest.raises(StopError):
        cut(store)

    assert by_key(store) == {"bucket:untagged": "240.00"}
    assert due(store) == ["2026-11-28"]
    with store.read() as unit:
        assert unit.ledger.transfers(ON, ON + DAY) == []


def test_due_days_are_worked_off_in_pieces(store: SqlStore) -> None:
    observe(store, node())
    days = ["2026-11-25", "2026-11-26", "2026-11-27"]
    import_charges(
        store, [make_charge(job="", on=on, billed="24", quantity="24") for on in days]
    )
    with store.write() as unit:
        unit.ledger.record_placements(
            [replace(HALF, started_at=at("2026-11-25"), ended_at=at("2026-11-28"))], NOW
        )

    first = reattribute_due(store, NOW, limit=1)
    rest = reattribute_due(store, NOW)

    assert (first.days, first.is_done) == (3, False)  # One account's days go together.
    assert (rest.days, rest.is_done) == (0, True)
