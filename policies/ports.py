"""What policies need from the outside, as protocols. Names roles only."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from billing.core.errors import GpucostError
from billing.core.money import Money
from policies.core.actions import Action, ActionState, Live
from policies.core.approvals import (
    ApprovalRequest,
    RequestEvent,
    RequestState,
    Vote,
)
from policies.core.delegations import Delegation
from policies.core.finding import Finding, Target
from policies.core.grants import StartedLaunch
from policies.core.waivers import Waiver, WaiverState


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFinding:
    """A finding as the journal holds it.

    Attributes:
        updates: How often its evidence was refreshed since it opened.
        notified_at: When its owner was last told; None when never.
    """

    finding: Finding
    opened_at: datetime
    updated_at: datetime
    resolved_at: datetime | None
    updates: int
    notified_at: datetime | None


class ApprovalConflictError(GpucostError):
    """Somebody else changed the request first; read it again."""

    code = "approval_conflict"

    def __init__(self, request_id: str) -> None:
        super().__init__(f"request {request_id!r} changed meanwhile")
        self.request_id = request_id


class Journal(Protocol):
    """Findings and approvals, within one unit of work."""

    def open_findings(self) -> Sequence[StoredFinding]:
        """Return findings that are not resolved, by fingerprint."""

    def resolved_findings(self, since: datetime) -> Sequence[StoredFinding]:
        """Return findings that were resolved since an instant, by fingerprint, newest first."""

    def record_findings(
        self, findings: Sequence[Finding], judged: Sequence[str], now: datetime
    ) -> None:
        """Open or update findings; resolve open ones of ``judged`` policies not seen now.

        A finding of a judged policy whose subject was reported unknown must be passed
        again by the caller, so it stays open.
        """

    def open_finding(self, fingerprint: str) -> StoredFinding | None:
        """Return one open finding."""

    def mark_notified(self, fingerprint: str, now: datetime) -> None:
        """Record that a finding's owner was told."""

    def add_request(
        self, request: ApprovalRequest, idempotency_key: str
    ) -> ApprovalRequest:
        """Store a request, or return the live one already stored under the key."""

    def request(self, request_id: str) -> ApprovalRequest | None:
        """Return a request with its votes of the current version."""

    def requests(
        self, *, state: RequestState | None = None, limit: int = 200
    ) -> Sequence[ApprovalRequest]:
        """Return requests, newest first."""

    def add_vote(self, request: ApprovalRequest, vote: Vote) -> bool:
        """Store a vote for this version; False when this person voted before."""

    def decide(
        self, request: ApprovalRequest, state: RequestState, *, by: str, now: datetime
    ) -> bool:
        """Move a request to the state of a decision by compare-and-set; False: it lost."""

    def move(
        self,
        request: ApprovalRequest,
        event: RequestEvent,
        state: RequestState,
        *,
        by: str,
        now: datetime,
        text: str = "",
    ) -> bool:
        """Let something happen to a request as it was read; False when it lost."""

    def edit(
        self,
        request: ApprovalRequest,
        changed: ApprovalRequest,
        *,
        idempotency_key: str,
        by: str,
        now: datetime,
        text: str,
    ) -> bool:
        """Put the next version in the place of a request; False when it lost."""

    def committed_cost(self, owner: str, job_family: str, since: datetime) -> Money:
        """Return ceilings of open and granted requests of an owner and job family since."""

    def pieces(
        self, owner: str, job_family: str, since: datetime
    ) -> Sequence[tuple[str, Money | None]]:
        """Return id and ceiling of those requests, oldest first."""

    def add_delegation(self, delegation: Delegation) -> None:
        """Store a delegation."""

    def delegations(self, now: datetime, person_id: str = "") -> Sequence[Delegation]:
        """Return those that hold at an instant or will, from or to somebody, by end."""

    def end_delegations(self, from_id: str, now: datetime) -> int:
        """End what somebody handed over; return how many ended."""

    def launches(self, request_id: str) -> Sequence[StartedLaunch]:
        """Return every launch under a request's grant, oldest first."""

    def add_launch(
        self,
        request_id: str,
        version: int,
        *,
        count: int,
        by: str,
        now: datetime,
        lease_until: datetime,
    ) -> int:
        """Store a launch that starts now; return its id.

        The request must have been read in this writing unit, which holds it.
        """

    def beat_launch(
        self, launch_id: int, *, now: datetime, lease_until: datetime
    ) -> bool:
        """Record that a launch still runs; False when it ended."""

    def end_launch(self, launch_id: int, *, now: datetime, exit_code: int) -> bool:
        """Record the end of a launch; False when it ended before."""

    def add_action(self, action: Action, now: datetime) -> bool:
        """Store an action; False when its id is already there (nothing changes)."""

    def live_actions(self) -> Sequence[Action]:
        """Return actions that wait or are under way, oldest first."""

    def actions_of(self, fingerprints: Collection[str]) -> Sequence[Action]:
        """Return every action of some findings, oldest first."""

    def recent_actions(self, since: datetime, limit: int = 200) -> Sequence[Action]:
        """Return actions planned since an instant, oldest first."""

    def begin_action(
        self, action_id: str, *, now: datetime, lease_until: datetime
    ) -> bool:
        """Move a waiting action to ``acting``; False when somebody else did."""

    def end_action(
        self, action_id: str, state: ActionState, *, reason: str, now: datetime
    ) -> bool:
        """Settle an action under way; False when it is not any more."""

    def cancel_action(self, action_id: str, *, reason: str, now: datetime) -> bool:
        """Call off a waiting action; False when it is not waiting any more."""

    def left_actions(self, before: datetime) -> Sequence[Action]:
        """Return actions whose process died while acting: their lease has ended."""

    def confirm_policy(
        self, policy: str, policy_hash: str, *, by: str, now: datetime
    ) -> bool:
        """Store one admin's confirmation; False when they gave it before."""

    def confirmed_by(self, policy: str, policy_hash: str) -> Sequence[str]:
        """Return who confirmed a policy exactly as it is written, oldest first."""

    def add_waiver(self, waiver: Waiver) -> None:
        """Store a waiver somebody asked for."""

    def waiver(self, waiver_id: str) -> Waiver | None:
        """Return one waiver."""

    def waivers(self, *, since: datetime | None = None) -> Sequence[Waiver]:
        """Return waivers that end after an instant (None: all), by end, then id."""

    def decide_waiver(
        self, waiver: Waiver, state: WaiverState, *, by: str, now: datetime
    ) -> bool:
        """Move a waiver on from the state it was read in; False when it lost."""


class Enforcer(Protocol):
    """The only thing that changes anything in AWS; it never decides that it should."""

    def look(self, target: Target) -> Live:
        """Return a resource as AWS tells it now; state "" when it is not there.

        Raises:
            SourceUnavailableError: Nothing is known of it.
        """

    def act(self, verb: str, target: Target) -> None:
        """Do one verb to one resource.

        Raises:
            SourceUnavailableError: It was refused, or nobody knows.
        """
