"""Taking somebody's names out of what is stored; the pseudonym stays and means nobody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import or_, select, update

from billing.ledger.columns import table_of
from billing.ledger.database import execute
from bot.unit_of_work.store import SqlUnitOfWork
from bot.unit_of_work.tables import OutboxMessageRow, PersonRow

_PERSON = table_of(PersonRow)
_OUTBOX = table_of(OutboxMessageRow)
_LIVE = ("pending", "sending")
#: A shorter name is part of too many other words.
_NAME_CHARS_MIN = 5


def person_of(unit: SqlUnitOfWork, email: str) -> str | None:
    """Return the pseudonym behind an e-mail address; None when nobody carries it."""
    found: str | None = unit.session.execute(
        select(_PERSON.c.person_id).where(_PERSON.c.email == email.strip().lower())
    ).scalar_one_or_none()
    return found


def remove_person(
    unit: SqlUnitOfWork, person_id: str, now: datetime
) -> Mapping[str, int]:
    """Forget who a pseudonym is: names, texts of old messages, tokens; count them."""
    names = unit.people.lookup(person_id) or {}
    messages = _empty_messages(unit, _marks(names))
    ended = [
        unit.tokens.revoke(one.token_id, now)
        for one in unit.tokens.all()
        if one.person_id == person_id
    ]
    unit.people.forget(person_id)
    return {"messages_emptied": messages, "tokens_revoked": sum(ended)}


def _marks(names: Mapping[str, str]) -> list[str]:
    name = names.get("name", "")
    marks = [names.get("slack_id", ""), names.get("email", "")]
    marks.append(name if len(name) >= _NAME_CHARS_MIN else "")
    return [mark for mark in marks if mark]


def _empty_messages(unit: SqlUnitOfWork, marks: list[str]) -> int:
    """Empty finished messages that name somebody; their keys stay, so none goes twice."""
    if not marks:
        return 0
    # As the payload spells it: JSON in ASCII.
    spelled = [json.dumps(mark)[1:-1] for mark in marks]
    named = [
        *(_OUTBOX.c.payload.contains(mark, autoescape=True) for mark in spelled),
        *(_OUTBOX.c.user_id == mark for mark in marks),
        *(_OUTBOX.c.channel == mark for mark in marks),
    ]
    done = execute(
        unit.session,
        update(_OUTBOX)
        .where(_OUTBOX.c.state.not_in(_LIVE), or_(*named))
        .values(payload="{}", user_id="", channel="", error=""),
    )
    return done.rowcount
