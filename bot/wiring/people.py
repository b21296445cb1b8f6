"""Who somebody is: Slack's directory where there is a token, e-mail addresses else."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from typing import TYPE_CHECKING

from billing.core.errors import GpucostError
from bot.ports import Directory, Store
from bot.settings import Settings
from policies.core.approvals import Person

if TYPE_CHECKING:
    from slack_sdk import WebClient

    from bot.slack.directory import SlackDirectory
    from bot.slack.handlers import Home


class NoIdentityError(GpucostError):
    """Nobody knows whose decision this would be; nothing was decided."""

    code = "no_identity"
    exit_code = 3

    def __init__(self, user: str) -> None:
        super().__init__(
            f"the operating system user {user!r} has no e-mail in the configuration"
        )
        self.hint = (
            f"an admin adds approvals.identities: {{{user}: someone@example.com}}"
        )


class AssertedIdentityError(GpucostError):
    """Somebody spoke for somebody else, which the configuration does not allow."""

    code = "asserted_identity"
    exit_code = 3
    hint = "decide in Slack, or let an admin set approvals.cli: trusted"

    def __init__(self) -> None:
        super().__init__("--as is refused while approvals.cli is 'authenticated'")


class MailDirectory:
    """The ``Directory`` port without Slack: people are their e-mail addresses."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def person(self, slack_id: str) -> Person | None:
        """Return nobody: without Slack no Slack id is known."""
        del slack_id
        return None

    def person_by_email(self, email: str) -> Person | None:
        """Return somebody by e-mail."""
        address = email.strip().lower()
        if "@" not in address:
            return None
        person_id = remember(self._store, email=address)
        return Person(person_id=person_id, slack_id="", email=address, name=address)

    def resolve(self, names: Sequence[str]) -> tuple[frozenset[str], Sequence[str]]:
        """Keep e-mail addresses; handles and groups need Slack, so they fail."""
        known = {name.strip().lower() for name in names if "@" in name.strip()[1:]}
        failed = [name for name in names if name.strip().lower() not in known]
        return frozenset(known), failed


def remember(
    store: Store, *, slack_id: str = "", email: str = "", name: str = ""
) -> str:
    """Return the pseudonym of somebody, made when they are new."""
    with store.write() as unit:
        return unit.people.remember(slack_id=slack_id, email=email, name=name)


def slack_client(settings: Settings) -> WebClient:
    """Build the Slack client of the configured token."""
    from bot.slack.client import build_client  # noqa: PLC0415 - loads the Slack SDK

    settings.check_clock(calls_aws=False, calls_slack=True)
    environment = settings.environment
    return build_client(
        environment.slack_bot_token.get_secret_value(),
        api_url=environment.slack_api_url,
    )


def slack_directory(client: WebClient, home: Home, store: Store) -> SlackDirectory:
    """Build Slack's directory; people get pseudonyms as they are met."""
    from bot.slack.directory import SlackDirectory  # noqa: PLC0415 - as above

    def pseudonym(slack_id: str, email: str, name: str) -> str:
        return remember(store, slack_id=slack_id, email=email, name=name)

    return SlackDirectory(client, home=home, pseudonym=pseudonym)


def os_user() -> str:
    """Return the name of the operating system's user who runs this command."""
    return pwd.getpwuid(os.getuid()).pw_name


def caller_email(settings: Settings) -> str:
    """Return the e-mail of who runs this command.

    Raises:
        NoIdentityError: The configuration names none for this user.
    """
    user = os_user()
    email = settings.config.approvals.identities.get(user, "")
    if not email:
        raise NoIdentityError(user)
    return email.strip().lower()


def speaker_email(settings: Settings, as_email: str) -> tuple[str, bool]:
    """Return whose word a command is, and whether that is merely asserted.

    Raises:
        AssertedIdentityError: ``--as`` without the permission to.
        NoIdentityError: Nobody knows who calls.
    """
    if not as_email:
        return caller_email(settings), False
    if settings.config.approvals.cli != "trusted":
        raise AssertedIdentityError
    return as_email.strip().lower(), True


def known_person(directory: Directory, email: str) -> Person:
    """Return somebody by e-mail as the directory knows them.

    Raises:
        NoIdentityError: The directory knows nobody of this address.
    """
    person = directory.person_by_email(email)
    if person is None:
        raise NoIdentityError(email)
    return person
