"""What time does to requests: expiry, escalation, reminders, and the end of grants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.ports import Directory, SlackFailedError, Store, UnitOfWork
from bot.use_cases.approvals_moving import happen, tell_in_thread
from bot.use_cases.cards import people_names
from bot.views.approval_events import escalated, reminded
from policies.core.approvals import (
    ApprovalRequest,
    RequestEvent,
    RequestState,
    approvers_of,
    asked_at,
    assigned_to,
    is_escalated,
)
from policies.core.grants import grant_of, usage_of, used_up
from policies.core.voting import outcome

#: Requests looked at in one round.
ROUND_MAX = 1000
#: People mentioned in a reminder.
MENTIONED_MAX = 8
_OPEN = (RequestState.PENDING, RequestState.NEEDS_INFO)


def _open(unit: UnitOfWork) -> list[ApprovalRequest]:
    return [
        one
        for state in _OPEN
        for one in unit.journal.requests(state=state, limit=ROUND_MAX)
    ]


def expire_due(
    store: Store, *, channel: str, now: datetime
) -> Sequence[ApprovalRequest]:
    """Deny by default what nobody decided in time."""
    with store.read() as unit:
        due = [one.request_id for one in _open(unit) if _is_over(one, now)]
    if not due:
        return []
    expired: list[ApprovalRequest] = []
    with store.write() as unit:
        for request_id in due:
            request = unit.journal.request(request_id)
            if request is None or not _is_over(request, now):
                continue
            done = happen(
                unit, request, RequestEvent.EXPIRE, by="", channel=channel, now=now
            )
            expired += [done] if done is not None else []
    return expired


def _is_over(request: ApprovalRequest, now: datetime) -> bool:
    is_open = request.state.is_open
    return is_open and outcome(request, request.votes, now) is RequestState.EXPIRED


def chase(
    store: Store, directory: Directory | None, *, channel: str, now: datetime
) -> Sequence[tuple[str, RequestEvent]]:
    """Escalate and remind where it is time; return what was done to which request."""
    with store.read() as unit:
        due = [
            (one, event) for one in _open(unit) if (event := _due(one, now)) is not None
        ]
    done = []
    for request, event in due:
        names = approvers_of(request, now)
        mentioned = _mentioned(directory, request, names)
        with store.write() as unit:
            current = unit.journal.request(request.request_id)
            if current is None or _due(current, now) is not event:
                continue
            _tell(unit, current, event, mentioned, channel=channel, now=now)
        done.append((request.request_id, event))
    return done


def escalate_now(
    store: Store, request_id: str, *, channel: str, now: datetime
) -> ApprovalRequest | None:
    """Let the next tier's approvers decide too, at once: nobody else can."""
    with store.write() as unit:
        request = unit.journal.request(request_id)
        if request is None or not request.state.is_open or _was_escalated(request):
            return None
        if request.rule is None or not request.rule.escalation:
            return None
        names = request.rule.escalation
        return _tell(
            unit, request, RequestEvent.ESCALATE, names, channel=channel, now=now
        )


def _tell(
    unit: UnitOfWork,
    request: ApprovalRequest,
    event: RequestEvent,
    mentioned: Sequence[str],
    *,
    channel: str,
    now: datetime,
) -> ApprovalRequest | None:
    moved = happen(unit, request, event, by="", channel=channel, now=now)
    if moved is not None:
        render = escalated if event is RequestEvent.ESCALATE else reminded
        people = people_names(unit, [moved])
        told = render(moved, mentioned, people=people, now=now)
        tell_in_thread(unit, moved, event.value, told, channel=channel, now=now)
    return moved


def _due(request: ApprovalRequest, now: datetime) -> RequestEvent | None:
    """Return what it is time for; expiry is not told twice."""
    if not request.state.is_open or _is_over(request, now) or request.rule is None:
        return None
    if is_escalated(request, now) and not _was_escalated(request):
        return RequestEvent.ESCALATE
    every = request.rule.remind_every_s
    if every is None:
        return None
    # Whatever moved it last was a word to people already.
    last = max([asked_at(request), *(one.at for one in request.history)])
    is_time = now - last >= timedelta(seconds=every)
    return RequestEvent.REMIND if is_time else None


def _was_escalated(request: ApprovalRequest) -> bool:
    return any(
        one.event is RequestEvent.ESCALATE and one.version == request.version
        for one in request.history
    )


def _mentioned(
    directory: Directory | None, request: ApprovalRequest, names: Sequence[str]
) -> Sequence[str]:
    """Return whom to call: who was named for it, else approvers who have not spoken."""
    if request.state is RequestState.NEEDS_INFO:
        return (request.requester,)
    assigned = assigned_to(request)
    if assigned or directory is None:
        return assigned or names
    try:
        ids, _ = directory.resolve(names)
    except SlackFailedError:
        return names
    return sorted(ids)[:MENTIONED_MAX] or names


def settle_grants(
    store: Store, *, channel: str, now: datetime, system_now: datetime
) -> Sequence[ApprovalRequest]:
    """Close grants that cover nothing more: used ones are consumed, others lapsed."""
    with store.read() as unit:
        approved = unit.journal.requests(state=RequestState.APPROVED, limit=ROUND_MAX)
        due = [
            (one.request_id, why)
            for one in approved
            if (why := _ended(unit, one, now=now, system_now=system_now)) is not None
        ]
    settled: list[ApprovalRequest] = []
    for request_id, event in due:
        with store.write() as unit:
            request = unit.journal.request(request_id)
            if request is None or request.state is not RequestState.APPROVED:
                continue
            if _ended(unit, request, now=now, system_now=system_now) is not event:
                continue
            done = happen(unit, request, event, by="", channel=channel, now=now)
            settled += [done] if done is not None else []
    return settled


def _ended(
    unit: UnitOfWork, request: ApprovalRequest, *, now: datetime, system_now: datetime
) -> RequestEvent | None:
    grant = grant_of(request)
    if grant is None:
        return None
    launches = unit.journal.launches(request.request_id)
    usage = usage_of(launches, now=now, system_now=system_now)
    is_over = now >= grant.expires_at
    if usage.running or not (is_over or used_up(grant, usage)):
        return None
    return RequestEvent.CONSUME if launches else RequestEvent.LAPSE
