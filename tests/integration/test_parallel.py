"""Many at once: votes, decisions, claims, keys, audit and imports on both databases."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

import pytest

from billing.core.charges import Source
from billing.core.money import MixedCurrencyError
from billing.ledger.check import ledger_problems
from billing.ledger.imports import ImportSupersededError
from billing.ledger.meter import SqlRequestMeter
from billing.ports import RequestBudgetError
from policies.core.approvals import RequestState, Verdict
from policies.ports import ApprovalConflictError
from tests.builders import NOW, make_charge, usd
from tests.builders_bot import make_finding, make_request, make_rule, make_vote
from tests.builders_store import (
    CE,
    begin,
    controls_of,
    import_charges,
    make_effect,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.unit_of_work import SqlStore

Result = TypeVar("Result")
WINDOW = (NOW.date().replace(day=1), NOW.date())


def _at_once(*works: Callable[[], Result]) -> list[Result]:
    """Do works in threads that start together; a failure of one fails the test."""
    barrier = threading.Barrier(len(works))
    results: dict[int, Result] = {}
    failures: list[BaseException] = []

    def run(number: int, work: Callable[[], Result]) -> None:
        try:
            barrier.wait(10)
            results[number] = work()
        except BaseException as error:  # noqa: BLE001 - raised by the test
            failures.append(error)

    threads = [
        threading.Thread(target=run, args=(number, work))
        for number, work in enumerate(works)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(works))]


def _vote(store: SqlStore, request_id: str, person: str, verdict: Verdict) -> str:
    """Vote and decide as a use case does; return the state this vote decided, or ""."""
    with store.write() as unit:
        request = unit.journal.request(request_id)
        assert request is not None
        if request.state is not RequestState.PENDING:
            return ""
        try:
            if not unit.journal.add_vote(request, make_vote(person, verdict=verdict)):
                return ""
        except ApprovalConflictError:
            return ""
        approvals = [*request.votes, make_vote(person, verdict=verdict)]
        assert request.rule is not None
        if verdict is Verdict.DENY:
            state = RequestState.DENIED
        elif len(approvals) >= request.rule.tier.required:
            state = RequestState.APPROVED
        else:
            return ""
        if not unit.journal.decide(request, state, by=person, now=NOW):
            return ""
        unit.outbox.put(make_effect(f"{request_id}:{state.value}"), NOW)
        return state.value


@pytest.mark.parametrize("round_", range(12))
def test_an_approval_and_a_denial_at_once_have_one_outcome(
    store: SqlStore, round_: int
) -> None:  # C096
    request = make_request(request_id=f"apr-{round_}")
    with store.write() as unit:
        unit.journal.add_request(request, "")

    decided = _at_once(
        lambda: _vote(store, request.request_id, "p-ada", Verdict.APPROVE),
        lambda: _vote(store, request.request_id, "p-bob", Verdict.DENY),
        lambda: _vote(store, request.request_id, "p-cyd", Verdict.APPROVE),
    )

    with store.read() as unit:
        found = unit.journal.request(request.request_id)
        depth = unit.outbox.depth()
    assert found is not None
    assert [state for state in decided if state] == [found.state.value]
    assert depth == {"pending": 1}


@pytest.mark.parametrize("round_", range(6))
def test_two_needed_votes_at_once_decide(store: SqlStore, round_: int) -> None:
    """Neither may count only itself: then nobody would ever decide."""
    rule = make_rule("@gpu-approvers", required=2)
    request = make_request(request_id=f"apr-{round_}", rule=rule)
    with store.write() as unit:
        unit.journal.add_request(request, "")

    decided = _at_once(
        lambda: _vote(store, request.request_id, "p-ada", Verdict.APPROVE),
        lambda: _vote(store, request.request_id, "p-bob", Verdict.APPROVE),
    )

    assert sorted(decided) == ["", "approved"]


def test_a_double_click_is_one_vote(store: SqlStore) -> None:  # C089
    rule = make_rule("@gpu-approvers", required=2)
    request = make_request(rule=rule)
    with store.write() as unit:
        unit.journal.add_request(request, "")

    _at_once(
        *(
            lambda: _vote(store, request.request_id, "p-ada", Verdict.APPROVE)
            for _ in range(4)
        )
    )

    with store.read() as unit:
        found = unit.journal.request(request.request_id)
    assert found is not None
    assert (found.state, len(found.votes)) == (RequestState.PENDING, 1)


def test_the_same_request_filed_at_once_is_stored_once(store: SqlStore) -> None:
    def file(number: int) -> str:
        with store.write() as unit:
            request = make_request(request_id=f"apr-{number}")
            return unit.journal.add_request(request, "key-1").request_id

    ids = _at_once(*(lambda number=number: file(number) for number in range(4)))

    assert len(set(ids)) == 1


def test_a_finding_recorded_by_many_opens_once(store: SqlStore) -> None:
    def record() -> None:
        with store.write() as unit:
            unit.journal.record_findings([make_finding()], ["stop-idle-gpus"], NOW)

    _at_once(*(record for _ in range(4)))

    with store.read() as unit:
        (stored,) = unit.journal.open_findings()
    assert stored.updates == 3


def test_an_effect_put_and_claimed_by_many_is_stored_and_claimed_once(
    store: SqlStore,
) -> None:
    def put() -> bool:
        with store.write() as unit:
            return unit.outbox.put(make_effect(), NOW)

    def claim() -> int:
        with store.write() as unit:
            return len(unit.outbox.claim(NOW, worker="w", limit=5))

    assert sum(_at_once(*(put for _ in range(4)))) == 1
    assert sum(_at_once(*(claim for _ in range(4)))) == 1


def test_a_channel_served_by_many_workers_keeps_its_order(store: SqlStore) -> None:
    with store.write() as unit:
        for number in range(3):
            unit.outbox.put(make_effect(f"k{number}"), NOW)

    def claim() -> list[str]:
        with store.write() as unit:
            rows = unit.outbox.claim(NOW, worker="w", limit=5)
            return [row.message.key for row in rows]

    claimed = _at_once(*(claim for _ in range(4)))

    assert sorted(claimed) == [[], [], [], ["k0"]]


def test_a_slot_claimed_by_many_belongs_to_one(store: SqlStore) -> None:  # C119
    def claim(owner: str) -> bool:
        with store.write() as unit:
            return unit.slots.claim("digest", NOW, owner=owner, now=NOW, lease_s=60)

    claims = _at_once(*(lambda owner=owner: claim(owner) for owner in "abcd"))

    assert sum(claims) == 1


def test_a_lapsed_slot_claimed_by_many_belongs_to_one(store: SqlStore) -> None:
    def claim(owner: str, lease_s: int = 60) -> bool:
        with store.write() as unit:
            return unit.slots.claim("d", NOW, owner=owner, now=NOW, lease_s=lease_s)

    claim("dead", lease_s=0)

    claims = _at_once(*(lambda owner=owner: claim(owner) for owner in "abcd"))

    assert sum(claims) == 1


def test_a_delivery_seen_by_many_is_new_to_one(store: SqlStore) -> None:
    def seen() -> bool:
        with store.write() as unit:
            return unit.control.seen("event", "Ev1", NOW)

    assert sorted(_at_once(*(seen for _ in range(4)))) == [False, True, True, True]


def test_a_person_met_by_many_gets_one_pseudonym(store: SqlStore) -> None:
    def remember() -> str:
        with store.write() as unit:
            return unit.people.remember(slack_id="U1", email="mia@example.com")

    assert len(set(_at_once(*(remember for _ in range(4))))) == 1


def test_audit_events_of_many_make_one_chain_without_gaps(store: SqlStore) -> None:
    def append(number: int) -> None:
        for part in range(5):
            with store.write() as unit:
                unit.audit.append(
                    "x", actor=f"p-{number}", subject=str(part), data={}, now=NOW
                )

    _at_once(*(lambda number=number: append(number) for number in range(4)))

    with store.read() as unit:
        assert unit.audit.verify() == []
        assert unit.audit.head()[0] == 20


def test_requests_of_many_never_pass_the_days_budget(store: SqlStore) -> None:
    meter = SqlRequestMeter(store.database, usd("0.05"))

    def charge() -> int:
        made = 0
        for _ in range(4):
            try:
                meter.charge("ce:GetCostAndUsage", usd("0.01"), NOW)
            except RequestBudgetError:
                continue
            made += 1
        return made

    made = _at_once(*(charge for _ in range(4)))

    assert sum(made) == 5
    assert meter.spent(NOW.date()) == (5, usd("0.05"))


def test_two_imports_of_one_account_never_mix(store: SqlStore) -> None:
    def load(job: str, amount: str) -> str:
        charges = [
            make_charge(job=job, billed=amount, on=f"2026-11-{number:02d}")
            for number in range(1, 11)
        ]
        try:
            import_charges(store, charges)
        except ImportSupersededError:
            return ""
        return job

    winners = [
        job
        for job in _at_once(lambda: load("job-a", "1"), lambda: load("job-b", "7"))
        if job
    ]

    with store.read() as unit:
        cells = unit.ledger.cells("job", *WINDOW)
        assert ledger_problems(unit.session) == []
    assert winners
    assert len({cell.key for cell in cells}) == 1
    assert len(cells) == 10


def test_first_imports_of_two_currencies_leave_one_of_them(store: SqlStore) -> None:
    def load(account: str, currency: str) -> bool:
        charge = make_charge(account=account, currency=currency)
        try:
            import_charges(store, [charge], account=account)
        except MixedCurrencyError:
            return False
        return True

    loaded = _at_once(
        lambda: load("111111111111", "USD"), lambda: load("222222222222", "CNY")
    )

    with store.read() as unit:
        currencies = {cell.billed.currency for cell in unit.ledger.cells("", *WINDOW)}
    assert sorted(loaded) == [False, True]
    assert len(currencies) == 1


def test_two_sources_that_swap_the_same_day_at_once_never_both_count(
    store: SqlStore,
) -> None:
    import_charges(store, [make_charge(on="2026-11-02")])  # The currency is known.
    charges = [make_charge(billed="10")]
    controls = controls_of(charges)
    ids = [begin(store, controls, source=source) for source in (CE, Source.EXPORTS)]
    with store.write() as unit:
        for import_id in ids:
            unit.ledger.stage(import_id, charges)
    is_swapped, other_begins = threading.Event(), threading.Event()

    def first() -> None:
        with store.write() as unit:
            unit.ledger.swap(ids[0], controls, NOW)
            is_swapped.set()
            other_begins.wait(10)
            threading.Event().wait(0.3)  # The other one is inside, or waits to be.

    def second() -> None:
        is_swapped.wait(10)
        other_begins.set()
        with store.write() as unit:
            unit.ledger.swap(ids[1], controls, NOW)

    _at_once(first, second)

    with store.read() as unit:
        cell, _ = unit.ledger.cells("", *WINDOW)
        assert ledger_problems(unit.session) == []
        assert len(unit.ledger.stored_days(CE, *WINDOW)) == 1
    assert (cell.billed, cell.charges) == (usd("10"), 1)
