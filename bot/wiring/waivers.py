"""Waivers for the command line: who asks, who decides, where it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from billing.core.money import Money
from bot.clock import Now
from bot.ports import Directory
from bot.settings import Settings
from bot.unit_of_work import SqlStore
from bot.use_cases.waivers import ask_waiver, decide_waiver
from bot.wiring.people import known_person, remember, speaker_email
from policies.core.quantities import QuantityError, parse_duration, parse_money
from policies.core.waivers import BadWaiverError, Waiver, WaiverState


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverDesk:
    """Waivers of one application."""

    settings: Settings
    store: SqlStore
    now: Now
    directory: Directory

    def ask(
        self,
        *,
        policy: str,
        subject: str,
        until: str,
        reason: str,
        cap: str,
        as_email: str,
    ) -> Waiver:
        """Ask for a waiver as the authenticated caller.

        Raises:
            BadWaiverError: Something of it cannot be read, or cannot be.
        """
        email, _ = speaker_email(self.settings, as_email)
        now = self.now()
        return ask_waiver(
            self.store,
            policy=policy,
            subject=subject,
            owner=remember(self.store, email=email),
            reason=reason,
            until=_until(until, now),
            cap=_cap(cap),
            channel=self.settings.config.slack.approvals
            or self.settings.config.slack.alerts,
            now=now,
        )

    def decide(self, waiver_id: str, state: str, *, as_email: str) -> Waiver:
        """Decide a waiver as the authenticated caller."""
        email, _ = speaker_email(self.settings, as_email)
        person = known_person(self.directory, email)
        admins, _ = self.directory.resolve(self.settings.config.slack.admins)
        is_admin = bool({person.slack_id, person.email} & admins)
        return decide_waiver(
            self.store,
            waiver_id,
            WaiverState(state),
            by=person.person_id,
            admins={person.person_id} if is_admin else set(),
            channel=self.settings.config.slack.approvals
            or self.settings.config.slack.alerts,
            now=self.now(),
        )

    def list(self, *, is_every: bool) -> Sequence[Waiver]:
        """Return waivers by end; those that ended only when asked for."""
        with self.store.read() as unit:
            return unit.journal.waivers(since=None if is_every else self.now())

    def names(self, waivers: Iterable[Waiver]) -> Mapping[str, str]:
        """Return e-mail or name of the people of waivers, where known."""
        names = {}
        with self.store.read() as unit:
            for one in waivers:
                for key in {one.owner, one.decided_by} - {""}:
                    known = unit.people.lookup(key) or {}
                    names[key] = known.get("email") or known.get("name") or key
        return names


def _until(text: str, now: datetime) -> datetime:
    try:
        return now + parse_duration(text)
    except QuantityError:
        pass
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = datetime.min  # noqa: DTZ901 - without a zone, refused below
    if at.tzinfo is None:
        message = (
            f"--until: expected a duration such as 7d, or an instant with its zone, "
            f"got {text!r}"
        )
        raise BadWaiverError(message)
    return at.astimezone(UTC)


def _cap(text: str) -> Money | None:
    if not text:
        return None
    try:
        return parse_money(text)
    except QuantityError as error:
        message = f"--cap: {error}"
        raise BadWaiverError(message) from None
