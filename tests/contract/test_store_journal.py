"""What every journal must do with findings, requests, votes and decisions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from policies.core.approvals import ApprovalRequest, RequestState, Verdict
from policies.core.finding import Severity
from policies.ports import ApprovalConflictError
from tests.builders import NOW, at, usd
from tests.builders_bot import (
    make_action,
    make_envelope,
    make_finding,
    make_request,
    make_vote,
)

if TYPE_CHECKING:
    from bot.ports import UnitOfWork
    from bot.unit_of_work import SqlStore

LATER = NOW + timedelta(minutes=5)
POLICY = "stop-idle-gpus"


def bare(unit: UnitOfWork, request_id: str) -> ApprovalRequest | None:
    """Return a request without what happened to it."""
    found = unit.journal.request(request_id)
    return found and replace(found, history=())


def test_a_finding_is_stored_exactly_as_it_was_found(store: SqlStore) -> None:
    finding = make_finding(actions=(make_action(),))

    with store.write() as unit:
        unit.journal.record_findings([finding], [POLICY], NOW)

    with store.read() as unit:
        (stored,) = unit.journal.open_findings()
    assert stored.finding == finding
    assert (stored.opened_at, stored.updates, stored.resolved_at) == (NOW, 0, None)


def test_a_finding_seen_again_is_updated_not_doubled(store: SqlStore) -> None:
    worse = make_finding(severity=Severity.CRITICAL)
    with store.write() as unit:
        unit.journal.record_findings([make_finding()], [POLICY], NOW)

    with store.write() as unit:
        unit.journal.record_findings([worse], [POLICY], LATER)

    with store.read() as unit:
        (stored,) = unit.journal.open_findings()
    assert stored.finding.severity is Severity.CRITICAL
    assert (stored.opened_at, stored.updated_at, stored.updates) == (NOW, LATER, 1)


def test_a_finding_that_is_not_seen_any_more_is_resolved(store: SqlStore) -> None:
    other = make_finding(policy="cluster-ttl", kind="ttl")
    with store.write() as unit:
        unit.journal.record_findings(
            [make_finding(), other], [POLICY, "cluster-ttl"], NOW
        )

    with store.write() as unit:
        unit.journal.record_findings([], [POLICY], LATER)

    with store.read() as unit:
        still = [stored.finding.policy for stored in unit.journal.open_findings()]
    assert still == ["cluster-ttl"]


def test_trouble_that_comes_back_is_a_new_finding(store: SqlStore) -> None:
    for seen, now in (([make_finding()], NOW), ([], LATER), ([make_finding()], LATER)):
        with store.write() as unit:
            unit.journal.record_findings(seen, [POLICY], now)

    with store.read() as unit:
        (stored,) = unit.journal.open_findings()
    assert (stored.opened_at, stored.updates, stored.notified_at) == (LATER, 0, None)


def test_a_notice_is_remembered_with_its_finding(store: SqlStore) -> None:
    finding = make_finding()
    with store.write() as unit:
        unit.journal.record_findings([finding], [POLICY], NOW)
        unit.journal.mark_notified(finding.fingerprint, LATER)

    with store.read() as unit:
        (stored,) = unit.journal.open_findings()
    assert stored.notified_at == LATER


# ---------------------------------------------------------------------- approvals


def test_a_request_is_stored_exactly_as_it_was_made(store: SqlStore) -> None:
    request = make_request(envelope=make_envelope(cost_ceiling=None), low=None)

    with store.write() as unit:
        assert unit.journal.add_request(request, "key-1") == request

    with store.read() as unit:
        assert bare(unit, request.request_id) == request
        assert unit.journal.request("apr-unknown") is None


def test_an_expiry_given_in_another_zone_is_the_same_instant(store: SqlStore) -> None:
    local = at("2026-05-04T22:15:00-05:00")  # C127

    with store.write() as unit:
        unit.journal.add_request(make_request(expires_at=local), "")

    with store.read() as unit:
        found = unit.journal.request("apr-7k2m9q")
    assert found is not None
    assert found.expires_at == at("2026-05-05T03:15:00Z")
    assert found.expires_at is not None
    assert found.expires_at.utcoffset() == timedelta(0)


def test_the_same_key_returns_the_live_request(store: SqlStore) -> None:
    first, second = make_request(), make_request(request_id="apr-second")

    with store.write() as unit:
        unit.journal.add_request(first, "key-1")
    with store.write() as unit:
        stored = unit.journal.add_request(second, "key-1")
        assert stored.request_id == first.request_id

    with store.read() as unit:
        assert [bare(unit, one.request_id) for one in unit.journal.requests()] == [
            first
        ]


def test_a_key_is_free_again_when_its_request_was_denied(store: SqlStore) -> None:
    first, second = make_request(), make_request(request_id="apr-second")
    with store.write() as unit:
        unit.journal.add_request(first, "key-1")
        unit.journal.decide(first, RequestState.DENIED, by="p-ada", now=LATER)

    with store.write() as unit:
        assert unit.journal.add_request(second, "key-1") == second


def test_requests_without_a_key_never_stand_for_each_other(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_request(make_request(), "")
        unit.journal.add_request(make_request(request_id="apr-second"), "")

    with store.read() as unit:
        found = unit.journal.requests()
    assert [request.request_id for request in found] == ["apr-second", "apr-7k2m9q"]


def test_an_id_that_is_taken_is_refused(store: SqlStore) -> None:
    with store.write() as unit:
        unit.journal.add_request(make_request(), "key-1")

    with pytest.raises(ApprovalConflictError), store.write() as unit:
        unit.journal.add_request(make_request(), "key-2")


def test_requests_are_listed_by_state_newest_first_within_a_limit(
    store: SqlStore,
) -> None:
    for number in range(4):
        with store.write() as unit:
            unit.journal.add_request(make_request(request_id=f"apr-{number}"), "")
    with store.write() as unit:
        denied = unit.journal.request("apr-3")
        assert denied is not None
        unit.journal.decide(denied, RequestState.DENIED, by="p-ada", now=LATER)

    with store.read() as unit:
        pending = unit.journal.requests(state=RequestState.PENDING, limit=2)

    assert [request.request_id for request in pending] == ["apr-2", "apr-1"]


def test_a_person_speaks_once_on_a_version(store: SqlStore) -> None:
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")

    with store.write() as unit:
        assert unit.journal.add_vote(request, make_vote("p-ada"))
        assert not unit.journal.add_vote(
            request, make_vote("p-ada", verdict=Verdict.DENY)
        )
        assert unit.journal.add_vote(request, make_vote("p-bob", reason="fine"))

    with store.read() as unit:
        found = unit.journal.request(request.request_id)
    assert found is not None
    assert found.votes == (make_vote("p-ada"), make_vote("p-bob", reason="fine"))


def test_a_vote_on_another_version_is_refused(store: SqlStore) -> None:  # C094
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")

    with pytest.raises(ApprovalConflictError), store.write() as unit:
        unit.journal.add_vote(replace(request, version=2), make_vote())


def test_a_vote_after_the_decision_is_refused(store: SqlStore) -> None:
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")
        unit.journal.decide(request, RequestState.APPROVED, by="p-ada", now=NOW)

    with pytest.raises(ApprovalConflictError), store.write() as unit:
        unit.journal.add_vote(request, make_vote("p-bob"))


def test_a_decision_is_made_once_and_stays(store: SqlStore) -> None:
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")

    with store.write() as unit:
        assert unit.journal.decide(request, RequestState.DENIED, by="p-ada", now=LATER)
        assert not unit.journal.decide(
            request, RequestState.APPROVED, by="p-bob", now=LATER
        )

    with store.read() as unit:
        found = bare(unit, request.request_id)
    assert found == replace(
        request, state=RequestState.DENIED, decided_by="p-ada", decided_at=LATER
    )


def test_a_decision_on_another_version_changes_nothing(store: SqlStore) -> None:
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")
        other = replace(request, version=2)
        assert not unit.journal.decide(other, RequestState.APPROVED, by="x", now=NOW)
        assert bare(unit, request.request_id) == request


def test_a_vote_and_what_it_caused_are_undone_together(store: SqlStore) -> None:
    request = make_request()
    with store.write() as unit:
        unit.journal.add_request(request, "")

    with pytest.raises(RuntimeError), store.write() as unit:  # noqa: PT012
        unit.journal.add_vote(request, make_vote())
        unit.journal.decide(request, RequestState.APPROVED, by="p-ada", now=NOW)
        unit.audit.append("x", actor="p-ada", subject="s", data={}, now=NOW)
        raise RuntimeError

    with store.read() as unit:
        assert bare(unit, request.request_id) == request
        assert unit.audit.head()[0] == 0


def test_committed_cost_adds_open_and_approved_pieces_of_one_family(
    store: SqlStore,
) -> None:
    def piece(name: str, job: str, **values: object) -> object:
        envelope = make_envelope(job=job, cost_ceiling=usd("6000"))
        return make_request(request_id=name, envelope=envelope, **values)

    pieces = [
        piece("apr-1", "llama-1"),
        piece("apr-2", "llama-2", state=RequestState.APPROVED),
        piece("apr-3", "llama-3", state=RequestState.DENIED),
        piece("apr-4", "bert-1"),
        piece("apr-5", "llama-4", owner="p-bob"),
        piece("apr-6", "llama-5", created_at=NOW - timedelta(days=2)),
    ]
    with store.write() as unit:
        for request in pieces:
            unit.journal.add_request(request, "")  # type: ignore[arg-type]

    with store.read() as unit:
        since = NOW - timedelta(days=1)
        assert unit.journal.committed_cost("p-mia", "llama", since) == usd("12000")
        assert unit.journal.committed_cost("p-mia", "gpt", since) == usd("0")
