"""What a press on an approval card does: a vote, a question, an answer, a change."""

from __future__ import annotations

from bot.ports import Directory, Message
from bot.slack.handlers import Click, ClickOutcome
from bot.use_cases.approvals_moving import UnknownRequestError, VoteRefusedError
from bot.use_cases.approvals_voting import Ballot
from bot.use_cases.cards import people_names
from bot.use_cases.estimate import BadPlanError
from bot.views.refusal import (
    already_decided,
    click_refused,
    unknown_request,
    vote_counted,
)
from bot.wiring.application import Application
from policies.core.approvals import (
    ApprovalRequest,
    Person,
    RequestEvent,
    RequestState,
    Verdict,
)

STALE = "the request changed since this card was posted; decide on its new card"


def pressed(
    application: Application, click: Click, person: Person, directory: Directory
) -> ClickOutcome:
    """Do what a button asks and say what the card does not."""
    try:
        if click.verdict is not None:
            return _voted(application, click, click.verdict, person, directory)
        return _changed(application, click, person, directory)
    except UnknownRequestError:
        return ClickOutcome(note=unknown_request(click.request_id))


def _changed(
    application: Application, click: Click, person: Person, directory: Directory
) -> ClickOutcome:
    changes, by = application.desk.changes, person.person_id
    if application.approval(click.request_id).version != click.version:
        return ClickOutcome(note=click_refused(click.request_id, STALE))
    try:
        if click.event is RequestEvent.ASK:
            changes.ask_back(
                click.request_id, click.reason, by=person, directory=directory
            )
        elif click.event is RequestEvent.ANSWER:
            changes.answer(click.request_id, click.reason, by=by)
        else:
            changes.switch(click.request_id, click.version, click.way, by=by)
    except (VoteRefusedError, BadPlanError) as error:
        return ClickOutcome(note=click_refused(click.request_id, str(error)))
    return ClickOutcome()


def _voted(
    application: Application,
    click: Click,
    verdict: Verdict,
    person: Person,
    directory: Directory,
) -> ClickOutcome:
    ballot = Ballot(
        request_id=click.request_id,
        version=click.version,
        voter=person,
        verdict=verdict,
        # What is in the box when somebody approves may be a question not asked.
        reason=click.reason if verdict is not Verdict.APPROVE else "",
    )
    outcome = application.desk.vote(ballot, directory)
    request = outcome.request
    if not outcome.refused:
        if request.state is RequestState.PENDING:
            return ClickOutcome(note=vote_counted(request, left=outcome.left))
        return ClickOutcome()
    if not request.state.is_open:
        return ClickOutcome(note=_decided(application, request))
    return ClickOutcome(note=click_refused(click.request_id, outcome.refused))


def _decided(application: Application, request: ApprovalRequest) -> Message:
    with application.store.read() as unit:
        names = people_names(unit, [request])
    return already_decided(request, people=names)
