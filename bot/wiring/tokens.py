"""Bearer tokens from the command line: whose they are, and until when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.core.errors import GpucostError
from bot.clock import system_now
from bot.ports import ApiToken
from bot.use_cases.tokens import create_token, revoke_token, scopes_of
from bot.wiring.application import Application
from bot.wiring.people import known_person
from policies.core.quantities import parse_duration

_DAY_CHARS = len("2026-11-01")


class BadExpiryError(GpucostError, ValueError):
    """An end that is neither a duration nor an instant."""

    code = "bad_usage"
    exit_code = 2

    def __init__(self, text: str) -> None:
        super().__init__(
            f"--expires must be a duration such as 90d, or an instant, got {text!r}"
        )


@dataclass(frozen=True)
class TokenDesk:
    """Tokens over one application; the system's clock says when they end."""

    application: Application

    def create(
        self, email: str, scopes: Sequence[str], expires: str
    ) -> tuple[ApiToken, str]:
        """Make a token for somebody; the second part is shown once."""
        wanted = scopes_of(scopes)
        now = system_now()
        person = known_person(self.application.desk.directory, email)
        return create_token(
            self.application.store,
            person_id=person.person_id,
            scopes=wanted,
            expires_at=_end(expires, now),
            by=self.application.desk.caller_name(),
            now=now,
        )

    def all(self) -> Sequence[ApiToken]:
        """Return every token, oldest first."""
        with self.application.store.read() as unit:
            return unit.tokens.all()

    def revoke(self, token_id: str) -> ApiToken:
        """End a token at once."""
        by = self.application.desk.caller_name()
        return revoke_token(self.application.store, token_id, by=by, now=system_now())

    def names(self, tokens: Sequence[ApiToken]) -> Mapping[str, str]:
        """Return the e-mail of everybody named by tokens, where it is known."""
        ids = {one for token in tokens for one in (token.person_id, token.created_by)}
        with self.application.store.read() as unit:
            found = {one: unit.people.lookup(one) or {} for one in sorted(ids)}
        return {
            one: known.get("email") or known.get("name") or one
            for one, known in found.items()
        }


def _end(text: str, now: datetime) -> datetime | None:
    """Read when a token ends; "" means never."""
    if not text:
        return None
    try:
        if "-" not in text:
            return now + parse_duration(text)
        instant = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise BadExpiryError(text) from error
    return instant if instant.tzinfo else instant.replace(tzinfo=now.tzinfo)
