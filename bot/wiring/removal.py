"""Removing a person on request, and that it was done, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping

from billing.core.errors import GpucostError
from bot.unit_of_work.removal import person_of, remove_person
from bot.wiring.application import Application


class UnknownPersonError(GpucostError):
    """Nobody known carries an e-mail address."""

    code = "unknown_person"
    hint = "people are known from their first question, request or vote on"

    def __init__(self, email: str) -> None:
        super().__init__(f"nobody is known as {email!r}")


def remove_by_email(application: Application, email: str) -> Mapping[str, object]:
    """Remove the names of somebody.

    Raises:
        UnknownPersonError: Nobody carries this address.
    """
    by, now = application.desk.caller_name(), application.now()
    with application.store.write() as unit:
        person = person_of(unit, email)
        if person is None:
            raise UnknownPersonError(email)
        done = remove_person(unit, person, now)
        unit.audit.append(
            "person removed", actor=by, subject=person,
            data={name: str(count) for name, count in done.items()}, now=now,
        )  # fmt: skip
    return {"person": person, **done}
