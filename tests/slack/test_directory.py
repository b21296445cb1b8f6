"""The directory against the Slack double: groups, strangers, guests, freshness."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient

from bot.ports import SlackFailedError
from bot.slack.client import connect
from bot.slack.directory import SlackDirectory
from deploy.sandbox.slack import Person, SlackSandbox, UserGroup


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def directory(slack: SlackSandbox, client: WebClient, clock: Clock) -> SlackDirectory:
    return SlackDirectory(
        client,
        home=connect(client),
        pseudonym=lambda slack_id, _email, _name: f"p-{slack_id}",
        clock_s=clock,
    )


def test_person_is_known_with_pseudonym_and_email(directory: SlackDirectory) -> None:
    person = directory.person("U0MIA")

    assert person is not None
    assert (person.person_id, person.email) == ("p-U0MIA", "mia@example.com")
    assert (person.is_bot, person.is_guest, person.is_deactivated) == (False,) * 3
    assert person.home_org


@pytest.mark.parametrize(
    ("slack_id", "attribute"),
    [("U0GUEST", "is_guest"), ("U0GONE", "is_deactivated"), ("U0GPUCOST", "is_bot")],
)
def test_people_who_may_not_decide_are_marked(
    slack_id: str, attribute: str, directory: SlackDirectory
) -> None:
    person = directory.person(slack_id)

    assert person is not None
    assert getattr(person, attribute) is True


# C098
def test_stranger_of_a_connected_organisation_is_not_home(
    directory: SlackDirectory,
) -> None:
    person = directory.person("U0EXT")

    assert person is not None
    assert not person.home_org


@pytest.mark.parametrize("slack_id", ["U0NOSUCH", "", "mia", "<@U0MIA>"])
def test_unknown_ids_are_nobody(slack_id: str, directory: SlackDirectory) -> None:
    assert directory.person(slack_id) is None


def test_outage_is_no_absence(slack: SlackSandbox, directory: SlackDirectory) -> None:
    slack.fault("fail", "users.info", status=503)

    with pytest.raises(SlackFailedError):
        directory.person("U0MIA")


def test_email_is_found_whatever_its_case(directory: SlackDirectory) -> None:
    person = directory.person_by_email(" Mia@Example.com ")

    assert person is not None
    assert person.slack_id == "U0MIA"
    assert directory.person_by_email("nobody@example.com") is None


def test_names_of_every_kind_expand_to_ids(directory: SlackDirectory) -> None:
    ids, failed = directory.resolve(
        ["@gpu-approvers", "S0FINANCE", "@mia", "U0ROOT", "ada@example.com"]
    )

    assert ids == {"U0ADA", "U0OMAR", "U0FIN", "U0MIA", "U0ROOT"}
    assert failed == ()


def test_what_is_nobody_is_named(directory: SlackDirectory) -> None:
    ids, failed = directory.resolve(
        ["@nobody", "S0NOSUCH", "U0NOSUCH", "x@y.example", ""]
    )

    assert ids == frozenset()
    assert failed == ("@nobody", "S0NOSUCH", "U0NOSUCH", "x@y.example", "")


def test_group_handle_wins_over_a_user_name(
    slack: SlackSandbox, directory: SlackDirectory
) -> None:
    slack.workspace.people.append(Person(id="U0FAKE", name="finance"))

    assert directory.resolve(["@finance"])[0] == {"U0FIN"}


def test_empty_group_is_nobody_and_has_not_failed(
    slack: SlackSandbox, directory: SlackDirectory
) -> None:
    slack.workspace.groups.append(UserGroup(id="S0EMPTY", handle="empty"))

    assert directory.resolve(["@empty"]) == (frozenset(), ())


def test_answers_are_kept_for_a_minute(
    slack: SlackSandbox, directory: SlackDirectory, clock: Clock
) -> None:
    for now_s in (0.0, 59.0, 61.0):
        clock.now_s = now_s
        directory.person("U0MIA")

    assert len(slack.calls("users.info")) == 2


# A3: rights are checked when somebody presses
def test_fresh_directory_sees_who_just_left_the_group(
    slack: SlackSandbox, directory: SlackDirectory
) -> None:
    assert "U0ADA" in directory.resolve(["@gpu-approvers"])[0]

    slack.workspace.groups[0].users.remove("U0ADA")

    assert "U0ADA" in directory.resolve(["@gpu-approvers"])[0]
    assert "U0ADA" not in directory.fresh().resolve(["@gpu-approvers"])[0]


def test_owner_tags_lead_to_a_mention_when_somebody_is_meant(
    directory: SlackDirectory,
) -> None:
    assert directory.slack_id_of("mia@example.com") == "U0MIA"
    assert directory.slack_id_of("@gpu-approvers") == "S0APPROVE"
    assert directory.slack_id_of("<@U0MIA|mia>") == "U0MIA"
    assert directory.slack_id_of("<!channel>") == ""
