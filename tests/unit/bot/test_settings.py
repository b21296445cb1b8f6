"""Settings: every documented key, every error at once, and no secret in any text."""

from __future__ import annotations

from datetime import time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from billing.core.money import Money
from bot.settings import InvalidSettingsError, Settings, aws_endpoints, load_settings

if TYPE_CHECKING:
    from pathlib import Path

#: The examples of the configuration table, all in one file.
WHOLE = r"""
data_dir: /var/lib/gpucost
aws:
  regions: [us-east-1, us-west-2]
  accounts: ["012345678901"]
  assume_role: arn:aws:iam::{account}:role/gpucost-read
  enforce_role: arn:aws:iam::{account}:role/gpucost-enforce
tags:
  job: [job-id, JobId, job_id]
  team: [team]
  owner: [owner]
  environment: [env, environment]
slack:
  mode: http
  alerts: "#gpu-costs"
  approvals: "#gpu-approvals"
  admins: ["@ada", "@gpu-admins", U012AB3CD, omar@example.com]
owners:
  default: "#gpu-costs"
  map: {mia: "@mia", "nlp-bot": omar@example.com}
teams:
  nlp: {channel: "#nlp", budget: "$200,000/month"}
digests:
  - {channel: "#gpu-costs", every: week, at: "mon 09:00", timezone: Europe/Berlin}
  - {channel: "#nlp", every: day, at: "08:30", team: nlp}
schedule: {cost_explorer: 6h, exports: 6h, inventory: 5m, metrics: 5m, prices: 24h,
           commitments: 24h, policies: 5m}
exports:
  - {location: "s3://bucket/cur", format: cur2, engine: duckdb}
prometheus: {url: "http://prometheus:9090"}
http: {host: 127.0.0.1, port: 8080}
limits: {aws_request_cost_per_day: "$5"}
prices: {discounts: [], overrides: []}
commitment_benefit: as-billed
visibility: {guests: none, teams: all}
approvals: {cli: authenticated, identities: {maya: maya@example.com}}
"""


def _load(folder: Path, text: str) -> Settings:
    path = folder / "gpucost.yaml"
    path.write_text(text)
    return load_settings(str(path))


def _errors(folder: Path, text: str) -> list[str]:
    with pytest.raises(InvalidSettingsError) as caught:
        _load(folder, text)
    prefix = f"{folder / 'gpucost.yaml'}:"
    assert all(error.startswith(prefix) for error in caught.value.errors)
    return [error.removeprefix(prefix) for error in caught.value.errors]


# ------------------------------------------------------------------ what is read


def test_every_documented_key_is_accepted_as_in_its_example(tmp_path: Path) -> None:
    config = _load(tmp_path, WHOLE).config

    assert config.aws.accounts == ("012345678901",)
    assert config.slack.mode == "http"
    assert config.owners.map["mia"] == "@mia"
    assert config.teams["nlp"].budget == Money.of("200000")
    first, second = config.digests
    assert (first.at.weekday, first.at.at) == (0, time(9))
    assert first.timezone == ZoneInfo("Europe/Berlin")
    assert (second.every, second.at.at, second.team) == ("day", time(8, 30), "nlp")
    assert config.schedule.inventory == timedelta(minutes=5)
    assert config.limits.aws_request_cost_per_day == Money.of("5")
    assert config.approvals.identities == {"maya": "maya@example.com"}


def test_every_key_is_optional(tmp_path: Path) -> None:
    given, nothing = _load(tmp_path, "{}\n"), load_settings()

    assert given.config == nothing.config
    assert nothing.config_path is None
    # C139
    assert nothing.config.schedule.cost_explorer == timedelta(hours=6)
    assert nothing.config.limits.aws_request_cost_per_day == Money.of("5")
    assert nothing.config.slack.mode == "socket"
    assert nothing.config.approvals.cli == "authenticated"
    assert nothing.config.visibility.guests == "none"


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert _load(tmp_path, "").config == load_settings().config


def test_accounts_may_be_all_of_the_organisation(tmp_path: Path) -> None:
    assert _load(tmp_path, "aws: {accounts: all}").config.aws.accounts is None


def test_overrides_and_discounts_are_read_exactly(tmp_path: Path) -> None:
    prices = _load(
        tmp_path,
        "prices:\n"
        "  overrides: [{instance_type: p5.48xlarge, per_hour: '$60.50'}]\n"
        "  discounts: [{region: us-east-1, percent: 12.5}]\n",
    ).config.prices

    assert prices.overrides[0].per_hour == Money.of("60.5")
    assert prices.discounts[0].percent == 12.5


# -------------------------------------------------------------- what is refused


def test_every_error_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    found = _errors(
        tmp_path,
        "aws:\n"
        "  region: us-east-1\n"
        "  accounts: [12]\n"
        "http: {port: many}\n"
        "slakc: {}\n"
        "digests:\n"
        "  - {channel: '#a', timezone: Mars/Base}\n",
    )

    assert [error.split(" ")[0] for error in found] == [
        "2:3:",
        "3:14:",
        "4:14:",
        "5:1:",
        "7:31:",
    ]
    assert "regions" in found[0]
    assert "12-digit account id in quotes" in found[1]
    assert "slack" in found[3]
    assert "Europe/Berlin" in found[4]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http: {port: 70000}", "65535"),
        ("slack: {mode: carrier-pigeon}", "socket"),
        ("schedule: {inventory: 1s}", "at least 10s"),
        ("schedule: {inventory: soon}", "soon"),
        ("limits: {aws_request_cost_per_day: lots}", "lots"),
        ("aws: {accounts: everyone}", "'all' or a list of account ids"),
        ("aws: {assume_role: gpucost-read}", "arn"),
        ("digests: [{every: week}]", "channel"),
        ("digests: [{channel: '#a', at: 'someday 9'}]", "mon 09:00"),
        ("digests: [{channel: '#a', at: 'mon 25:00'}]", "mon 09:00"),
        ("approvals: {cli: everybody}", "authenticated"),
        ("http:", "no value"),
        ("- a list", ""),
        ("http: {port: 1}\nhttp: {port: 2}", "http"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(
    tmp_path: Path, text: str, says: str
) -> None:
    (error,) = _errors(tmp_path, text)

    assert says.lower() in error.lower()


@pytest.mark.parametrize("account", ["034512670123", "034512679801", '"034512670123"'])
def test_account_ids_keep_their_zeros(tmp_path: Path, account: str) -> None:
    # C136: digits are never read as an octal number; they are text here.
    settings = _load(tmp_path, f"aws: {{accounts: [{account}]}}")

    assert settings.config.aws.accounts == (account.strip('"'),)


@pytest.mark.parametrize(
    "account", ["1234", "12345678901x", "1.2e10", "'\uff1012345678901'"]
)
def test_what_is_no_account_id_is_refused(tmp_path: Path, account: str) -> None:
    (error,) = _errors(tmp_path, f"aws: {{accounts: [{account}]}}")

    assert "12-digit account id" in error


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingsError, match=r"missing\.yaml"):
        load_settings(str(tmp_path / "missing.yaml"))


# --------------------------------------------------------------- the environment


def test_the_environment_goes_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_DATABASE_URL", "postgresql+psycopg://db/gpucost")

    settings = _load(tmp_path, "data_dir: /data")

    assert settings.database_url == "postgresql+psycopg://db/gpucost"


def test_without_an_url_the_database_lies_in_the_data_folder(tmp_path: Path) -> None:
    assert _load(tmp_path, "data_dir: /data").database_url == (
        "sqlite:////data/gpucost.db"
    )


def test_a_flag_goes_before_the_environments_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("data_dir: /other")
    monkeypatch.setenv("GPUCOST_CONFIG", str(other))

    assert str(load_settings().config.data_dir) == "/other"
    assert str(_load(tmp_path, "data_dir: /data").config.data_dir) == "/data"


def test_tokens_never_print(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "SLACK_BOT_TOKEN": "xoxb-very-secret",
        "SLACK_APP_TOKEN": "xapp-very-secret",
        "SLACK_SIGNING_SECRET": "signing-very-secret",
        "GPUCOST_DATABASE_URL": "postgresql+psycopg://u:very-secret@db/gpucost",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)

    settings = load_settings()

    shown = f"{settings!r} {settings} {settings.environment!r} {settings.environment}"
    assert "very-secret" not in shown
    assert settings.has_slack
    assert settings.database_url.endswith("very-secret@db/gpucost")


def test_slacks_address_must_end_as_the_sdk_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLACK_API_URL", "http://127.0.0.1:1/api")

    with pytest.raises(InvalidSettingsError, match="must end in /api/"):
        load_settings()


# ------------------------------------------------------------------- the set clock


@pytest.mark.parametrize(
    ("environment", "is_refused"),
    [
        ({}, True),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:5000"}, False),
        ({"AWS_ENDPOINT_URL": "http://localhost:5000"}, False),
        ({"AWS_ENDPOINT_URL": "http://[::1]:5000"}, False),
        ({"AWS_ENDPOINT_URL": "https://127.0.0.1.example.com"}, True),
        ({"AWS_ENDPOINT_URL": "https://aws.example.com"}, True),
        ({"AWS_ENDPOINT_URL_CE": "http://127.0.0.1:5000"}, True),
        (
            {
                "AWS_ENDPOINT_URL": "http://127.0.0.1:5000",
                "AWS_ENDPOINT_URL_EC2": "https://ec2.amazonaws.com",
            },
            True,
        ),
    ],
)
def test_a_set_clock_is_refused_unless_every_endpoint_is_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], *, is_refused: bool
) -> None:
    monkeypatch.setenv("GPUCOST_NOW", "2026-11-30T09:00:00Z")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()

    if not is_refused:
        settings.check_clock(calls_aws=True, calls_slack=False)
        return
    with pytest.raises(InvalidSettingsError, match="GPUCOST_NOW is set"):
        settings.check_clock(calls_aws=True, calls_slack=False)


def test_a_set_clock_is_refused_for_slack_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUCOST_NOW", "2026-11-30T09:00:00Z")

    load_settings().check_clock(calls_aws=False, calls_slack=False)
    with pytest.raises(InvalidSettingsError, match="slack"):
        load_settings().check_clock(calls_aws=False, calls_slack=True)


def test_one_services_endpoint_alone_leaves_the_others_with_aws() -> None:
    assert aws_endpoints({"AWS_ENDPOINT_URL_CE": "http://127.0.0.1:1"}) == ()
