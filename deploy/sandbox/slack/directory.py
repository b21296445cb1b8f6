"""Finding people, channels and groups of a workspace.

Not thread-safe: the state that owns it holds the lock.
"""

from __future__ import annotations

from deploy.sandbox.slack.errors import SlackApiProblem
from deploy.sandbox.slack.model import Channel, Person, UserGroup, Workspace


class Directory:
    """The people and places of one workspace, by id and by name."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.bot = workspace.bot()

    def person(self, name: str) -> Person | None:
        """Find a person by id, handle or e-mail address."""
        wanted = name.removeprefix("@")
        for person in self.workspace.people:
            if wanted in {person.id, person.name, person.email}:
                return person
        return None

    def known_person(self, name: str) -> Person:
        """Find a person whom the caller of the sandbox names, or raise ValueError."""
        person = self.person(name)
        if person is None:
            known = sorted(item.name for item in self.workspace.people)
            message = f"nobody is called {name!r}, expected one of {known}"
            raise ValueError(message)
        return person

    def channel(self, name: str) -> Channel | None:
        """Find a channel by id or by name, with or without its `#`."""
        wanted = name.removeprefix("#")
        for channel in self.workspace.channels:
            if channel.id == wanted or (channel.name == wanted and not channel.is_im):
                return channel
        return None

    def known_channel(self, name: str) -> Channel:
        """Find a channel that the caller of the sandbox names, or raise ValueError."""
        channel = self.channel(name)
        if channel is None and (person := self.person(name)) is not None:
            channel = self.direct_message(person)
        if channel is None:
            known = sorted(item.name for item in self.workspace.channels)
            message = f"no channel is called {name!r}, expected one of {known}"
            raise ValueError(message)
        return channel

    def group(self, group_id: str) -> UserGroup | None:
        """Find a user group by id."""
        for group in self.workspace.groups:
            if group.id == group_id:
                return group
        return None

    def direct_message(self, person: Person) -> Channel:
        """Return the conversation between the bot and one person, opened if new."""
        channel_id = f"D{person.id[1:]}"
        found = self.channel(channel_id)
        if found is None:
            found = Channel(
                id=channel_id,
                name=person.name,
                members=[person.id, self.bot.id],
                is_im=True,
                is_private=True,
            )
            self.workspace.channels.append(found)
        return found

    def is_member(self, channel: Channel) -> bool:
        """Tell whether the bot is in a channel."""
        return self.bot.id in channel.members

    def visible(self, name: str) -> Channel:
        """Find a channel that the bot may know of.

        Raises:
            SlackApiProblem: `channel_not_found`, also for a private channel that
                the bot is not in.
        """
        channel = self.channel(name)
        if channel is None or (channel.is_private and not self.is_member(channel)):
            raise SlackApiProblem("channel_not_found")
        return channel

    def writable(self, name: str, *, by_person: bool = False) -> Channel:
        """Find the channel that a message may be posted to.

        A person's id means the direct message with that person.
        """
        person = self.person(name) if by_person else None
        if person is not None and name == person.id:
            if person.deleted or person.is_bot:
                raise SlackApiProblem("channel_not_found")
            return self.direct_message(person)
        channel = self.visible(name)
        if channel.is_archived:
            raise SlackApiProblem("is_archived")
        can_join_in = "chat:write.public" in self.workspace.app.scopes
        if not self.is_member(channel) and not can_join_in:
            raise SlackApiProblem("not_in_channel")
        return channel

    def readable(self, name: str) -> Channel:
        """Find the channel whose messages the bot may read."""
        channel = self.visible(name)
        if not self.is_member(channel):
            raise SlackApiProblem("not_in_channel")
        return channel
