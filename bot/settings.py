"""Settings: the environment and the configuration file; the only reader of either.

Order: command flag, environment, file, default. Knows nothing of what a setting does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from billing.core.errors import GpucostError
from billing.core.money import Money
from policies.core.quantities import parse_duration, parse_money

LOOPBACK_HOSTS = frozenset({"localhost", "::1"})
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: PaaS dashboards call Slack this; `SLACK_API_URL` must end in `/api/`.
SLACK_API_URL = "https://slack.com/api/"


class InvalidSettingsError(GpucostError, ValueError):
    """A setting or the configuration file is invalid; nothing was started."""

    code = "invalid_settings"
    exit_code = 2

    def __init__(self, errors: tuple[str, ...]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


def _duration(value: object) -> timedelta:
    return value if isinstance(value, timedelta) else parse_duration(str(value))


def _money(value: object) -> Money:
    return value if isinstance(value, Money) else parse_money(str(value))


def _account(value: object) -> str:
    text = str(value)
    if len(text) != 12 or not text.isdecimal():  # noqa: PLR2004 - AWS account ids
        message = f"expected a 12-digit account id in quotes, got {text!r}"
        raise ValueError(message)
    return text


def _zone(value: object) -> ZoneInfo:
    try:
        return value if isinstance(value, ZoneInfo) else ZoneInfo(str(value))
    except (ZoneInfoNotFoundError, ValueError) as error:
        message = f"expected a time zone such as 'Europe/Berlin', got {value!r}"
        raise ValueError(message) from error


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Amount = Annotated[Money, BeforeValidator(_money)]
Account = Annotated[str, BeforeValidator(_account)]
Zone = Annotated[ZoneInfo, BeforeValidator(_zone)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class AwsSection(_Section):
    """Where to look in AWS.

    Attributes:
        regions: Empty: the profile's region.
        accounts: ``all`` (from Organizations) or ids; empty: only the caller's.
        assume_role / enforce_role: ARN templates with ``{account}``.
    """

    regions: tuple[str, ...] = ()
    accounts: Literal["all"] | tuple[Account, ...] = ()
    assume_role: str = ""
    enforce_role: str = ""

    @model_validator(mode="after")
    def _templates(self) -> Self:
        for name in ("assume_role", "enforce_role"):
            role = getattr(self, name)
            if role and not role.startswith("arn:"):
                message = (
                    f"{name} must be a role ARN with {{account}} in it, got {role!r}"
                )
                raise ValueError(message)
        return self


class TagsSection(_Section):
    """Tag keys in order of precedence, compared case-insensitively on resources."""

    job: tuple[str, ...] = ("job-id", "JobId", "job_id")
    team: tuple[str, ...] = ("team",)
    owner: tuple[str, ...] = ("owner",)
    environment: tuple[str, ...] = ("env", "environment")


class SlackSection(_Section):
    """How to reach Slack, and where notices go."""

    mode: Literal["socket", "http"] = "socket"
    alerts: str = ""
    approvals: str = ""
    admins: tuple[str, ...] = ()


class OwnersSection(_Section):
    """Where notices for an owner go."""

    default: str = ""
    map: dict[str, str] = Field(default_factory=dict)


class TeamSection(_Section):
    """One team: its channel and its monthly budget (text such as ``$200,000/month``)."""

    channel: str = ""
    budget: str = ""


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A time of day, with a weekday where one was named (Monday is 0)."""

    at: time
    weekday: int = 0


def _local_time(value: object) -> LocalTime:
    """Read ``09:00`` or ``mon 09:00``."""
    if isinstance(value, LocalTime):
        return value
    words = str(value).lower().split()
    day = words[0][:3] if len(words) == 2 else "mon"  # noqa: PLR2004 - day and time
    try:
        return LocalTime(time.fromisoformat(words[-1].zfill(5)), WEEKDAYS.index(day))
    except (ValueError, IndexError) as error:
        message = f"expected a time such as 'mon 09:00' or '09:00', got {value!r}"
        raise ValueError(message) from error


class DigestSection(_Section):
    """One digest subscription."""

    channel: str
    every: Literal["day", "week", "month"] = "week"
    at: Annotated[LocalTime, BeforeValidator(_local_time)] = LocalTime(time(9))
    timezone: Zone = ZoneInfo("UTC")
    team: str = ""


class ScheduleSection(_Section):
    """How often each source is read."""

    cost_explorer: Duration = timedelta(hours=6)
    exports: Duration = timedelta(hours=6)
    inventory: Duration = timedelta(minutes=5)
    metrics: Duration = timedelta(minutes=5)
    prices: Duration = timedelta(hours=24)
    commitments: Duration = timedelta(hours=24)
    policies: Duration = timedelta(minutes=5)

    @model_validator(mode="after")
    def _not_too_often(self) -> Self:
        for name in type(self).model_fields:
            if getattr(self, name) < timedelta(seconds=10):
                message = f"{name} must be at least 10s, got {getattr(self, name)}"
                raise ValueError(message)
        return self


class ExportSection(_Section):
    """One cost export."""

    location: str
    format: Literal["cur", "cur2", "focus"] = "cur2"
    engine: Literal["duckdb", "athena"] = "duckdb"


class PrometheusSection(_Section):
    """Where Prometheus answers."""

    url: str = ""


class HttpSection(_Section):
    """Where the HTTP side listens."""

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)


class LimitsSection(_Section):
    """Limits on what gpucost itself spends."""

    aws_request_cost_per_day: Amount = Money.of("5")


class PriceOverride(_Section):
    """A price or discount of the organisation's own."""

    instance_type: str = ""
    region: str = ""
    per_hour: Amount | None = None
    percent: float | None = Field(None, ge=0, le=100)


class PricesSection(_Section):
    """Discounts and overrides on list prices."""

    discounts: tuple[PriceOverride, ...] = ()
    overrides: tuple[PriceOverride, ...] = ()


class VisibilitySection(_Section):
    """Who may ask what."""

    guests: Literal["none", "own", "all"] = "none"
    teams: Literal["own", "all"] = "all"


class ApprovalsSection(_Section):
    """Who the command line speaks for."""

    cli: Literal["authenticated", "trusted"] = "authenticated"
    identities: dict[str, str] = Field(default_factory=dict)


class Config(_Section):
    """The configuration file; every key is optional, unknown keys are refused."""

    data_dir: Path = Path(platformdirs.user_data_dir("gpucost"))
    aws: AwsSection = AwsSection()
    tags: TagsSection = TagsSection()
    slack: SlackSection = SlackSection()
    owners: OwnersSection = OwnersSection()
    teams: dict[str, TeamSection] = Field(default_factory=dict)
    digests: tuple[DigestSection, ...] = ()
    schedule: ScheduleSection = ScheduleSection()
    exports: tuple[ExportSection, ...] = ()
    prometheus: PrometheusSection = PrometheusSection()
    http: HttpSection = HttpSection()
    limits: LimitsSection = LimitsSection()
    prices: PricesSection = PricesSection()
    commitment_benefit: Literal["as-billed", "proportional"] = "as-billed"
    visibility: VisibilitySection = VisibilitySection()
    approvals: ApprovalsSection = ApprovalsSection()


class Environment(BaseSettings):
    """What the environment says; tokens never print."""

    model_config = SettingsConfigDict(extra="ignore", case_sensitive=True, frozen=True)

    slack_bot_token: SecretStr = Field(SecretStr(""), alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr = Field(SecretStr(""), alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr = Field(SecretStr(""), alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(SLACK_API_URL, alias="SLACK_API_URL")
    database_url: str = Field("", alias="GPUCOST_DATABASE_URL")
    config: str = Field("", alias="GPUCOST_CONFIG")
    policies: str = Field("", alias="GPUCOST_POLICIES")
    now: str = Field("", alias="GPUCOST_NOW")
    aws_region: str = Field("", alias="AWS_REGION")
    aws_default_region: str = Field("", alias="AWS_DEFAULT_REGION")

    @model_validator(mode="after")
    def _api_url(self) -> Self:
        if not self.slack_api_url.endswith("/api/"):
            message = f"SLACK_API_URL must end in /api/, got {self.slack_api_url!r}"
            raise ValueError(message)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything set, from every place.

    Attributes:
        config_path: The file that was read; None when there was none.
    """

    config: Config
    environment: Environment
    config_path: Path | None = None
    aws_endpoints: tuple[str, ...] = field(default_factory=tuple)

    @property
    def database_url(self) -> str:
        """Return the database to use; a SQLite file in ``data_dir`` by default."""
        if self.environment.database_url:
            return self.environment.database_url
        return f"sqlite:///{self.config.data_dir / 'gpucost.db'}"

    @property
    def policies_path(self) -> Path | None:
        """Return the file or folder of policies; None when none was named."""
        text = self.environment.policies
        return Path(text) if text else None

    @property
    def has_slack(self) -> bool:
        """Tell whether a bot token is set."""
        return bool(self.environment.slack_bot_token.get_secret_value())

    def check_clock(self, *, calls_aws: bool, calls_slack: bool) -> None:
        """Refuse a set clock when anything but a sandbox would be called.

        Raises:
            InvalidSettingsError: ``GPUCOST_NOW`` is set and an endpoint is not loopback.
        """
        if not self.environment.now:
            return
        endpoints = [*(self.aws_endpoints or ("",))] if calls_aws else []
        if calls_slack:
            endpoints.append(self.environment.slack_api_url)
        outside = [url or "AWS" for url in endpoints if not is_loopback(url)]
        if outside:
            message = (
                f"GPUCOST_NOW is set, but this command would call {outside[0]}: a set clock "
                "is for a sandbox on this machine only; unset it"
            )
            raise InvalidSettingsError((message,))


def is_loopback(url: str) -> bool:
    """Tell whether a URL stays on this machine.

    >>> is_loopback("http://127.0.0.1:5000"), is_loopback("https://slack.com/api/")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    return host in LOOPBACK_HOSTS or (
        host.startswith("127.") and host.replace(".", "").isdecimal()
    )


def aws_endpoints(environment: dict[str, str]) -> tuple[str, ...]:
    """Return every endpoint override; empty when AWS itself would be called."""
    general = environment.get("AWS_ENDPOINT_URL", "")
    special = sorted(
        value
        for key, value in environment.items()
        if key.startswith("AWS_ENDPOINT_URL_")
    )
    return (general, *special) if general else ()


def child_environment() -> dict[str, str]:
    """Return the environment for a child process of gpucost's own."""
    return dict(os.environ)


def load_settings(config_path: str | None = None) -> Settings:
    """Read the environment and the configuration file.

    Raises:
        InvalidSettingsError: With every error at once, each with its place.
    """
    environment = _environment()
    name = config_path or environment.config
    path = Path(name) if name else None
    document = _read_config(path) if path else Config()
    return Settings(
        config=document,
        environment=environment,
        config_path=path,
        aws_endpoints=aws_endpoints(dict(os.environ)),
    )


def _environment() -> Environment:
    try:
        return Environment()
    except ValueError as error:
        raise InvalidSettingsError((_first_line(error),)) from error


def _first_line(error: ValueError) -> str:
    details: Any = getattr(error, "errors", list)()
    return (
        str(details[0]["msg"]).removeprefix("Value error, ") if details else str(error)
    )


def _read_config(path: Path) -> Config:
    from policies.load import load_document  # noqa: PLC0415 - YAML only when there is a file

    document, errors = load_document(path, Config)
    if document is None:
        raise InvalidSettingsError(tuple(str(error) for error in errors))
    return document
