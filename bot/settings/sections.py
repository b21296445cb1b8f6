"""The sections of the configuration file, as models; every key is optional.

Knows neither the environment nor how the file is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from billing.core.money import Money
from billing.core.progress import Counter
from bot.settings.athena import AthenaSection
from bot.settings.attribution import AttributionSection
from bot.settings.events import EventsSection
from bot.settings.progress import ProgressSourcesSection
from bot.settings.services import ReadServices
from policies.core.quantities import parse_duration, parse_money

EVERY_ACCOUNT = "all"
_ACCOUNT = re.compile(r"[0-9]{12}")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _duration(value: object) -> timedelta:
    return value if isinstance(value, timedelta) else parse_duration(str(value))


def _money(value: object) -> Money:
    return value if isinstance(value, Money) else parse_money(str(value))


def _monthly(value: object) -> Money:
    return _money(str(value).strip().removesuffix("/month").rstrip())


def _account(value: object) -> str:
    text = str(value)
    if _ACCOUNT.fullmatch(text) is None:
        message = f"expected a 12-digit account id in quotes, got {text!r}"
        raise ValueError(message)
    return text


def _accounts(value: object) -> object:
    """Read the word ``all`` as no list of ids, which every account fits."""
    if isinstance(value, str) and value != EVERY_ACCOUNT:
        message = f"expected {EVERY_ACCOUNT!r} or a list of account ids, got {value!r}"
        raise ValueError(message)
    return None if value == EVERY_ACCOUNT else value


def _zone(value: object) -> ZoneInfo:
    try:
        return value if isinstance(value, ZoneInfo) else ZoneInfo(str(value))
    except (ZoneInfoNotFoundError, ValueError) as error:
        message = f"expected a time zone such as 'Europe/Berlin', got {value!r}"
        raise ValueError(message) from error


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Amount = Annotated[Money, BeforeValidator(_money)]
MonthlyAmount = Annotated[Money, BeforeValidator(_monthly)]
Account = Annotated[str, BeforeValidator(_account)]
Zone = Annotated[ZoneInfo, BeforeValidator(_zone)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class AwsSection(_Section):
    """Where to look in AWS.

    Attributes:
        regions: Empty: the profile's region.
        accounts: Ids; empty: only the caller's; None: all (from Organizations).
        assume_role / enforce_role: ARN templates with ``{account}``.
        payer: The account that is asked for the bill, entered by ``assume_role``; "" is
            the caller's own.
        services: What is read beside instances and volumes; None: everything.
    """

    regions: tuple[str, ...] = ()
    accounts: Annotated[tuple[Account, ...] | None, BeforeValidator(_accounts)] = ()
    assume_role: str = ""
    enforce_role: str = ""
    events: EventsSection = EventsSection()
    payer: Account = ""
    services: ReadServices = None

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
    """One team: its channel, its monthly budget, such as ``$200,000/month``, its leads."""

    channel: str = ""
    leads: tuple[str, ...] = ()
    budget: MonthlyAmount | None = None


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
    athena: AthenaSection | None = None


class ProgressSection(_Section):
    """A counter of jobs that Prometheus scrapes: one series for each job."""

    counter: Counter
    query: str = Field(min_length=1)
    job_label: str = "job_id"


class PrometheusSection(_Section):
    """Where Prometheus answers, and what it knows of the progress of jobs."""

    url: str = ""
    progress: tuple[ProgressSection, ...] = ()

    @model_validator(mode="after")
    def _has_somebody_to_ask(self) -> Self:
        if self.progress and not self.url:
            message = "progress needs a url to ask"
            raise ValueError(message)
        return self


class AdmissionSection(_Section):
    """How launches of other launchers are judged.

    Attributes:
        hours: Taken where a task does not say how long it runs.
        when_down: Without gpucost's database: refuse everything, nothing, or what an
            approval policy would ask about.
    """

    hours: Duration = timedelta(hours=24)
    when_down: Literal["closed", "open", "over-limit"] = "over-limit"


class HttpSection(_Section):
    """Where the HTTP side listens, and how much each token may ask."""

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    requests_per_minute: int = Field(120, ge=1, le=100_000)
    admission: AdmissionSection = AdmissionSection()


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
    """Discounts and overrides on list prices, and fees that AWS does not name."""

    discounts: tuple[PriceOverride, ...] = ()
    overrides: tuple[PriceOverride, ...] = ()
    #: Reservation id (or a training plan's ARN) -> what it cost at purchase.
    capacity_blocks: dict[str, Amount] = Field(default_factory=dict)


class VisibilitySection(_Section):
    """Who may ask what."""

    guests: Literal["none", "own", "all"] = "none"
    teams: Literal["own", "all"] = "all"

    @model_validator(mode="after")
    def _promises_kept(self) -> Self:
        if self.teams == "own":
            # Ignoring it would show figures that somebody wanted hidden.
            message = "teams: own is not in this version; only all is"
            raise ValueError(message)
        return self


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
    progress: ProgressSourcesSection = ProgressSourcesSection()
    http: HttpSection = HttpSection()
    limits: LimitsSection = LimitsSection()
    prices: PricesSection = PricesSection()
    attribution: AttributionSection = AttributionSection()
    commitment_benefit: Literal["as-billed", "proportional"] = "as-billed"
    visibility: VisibilitySection = VisibilitySection()
    approvals: ApprovalsSection = ApprovalsSection()
