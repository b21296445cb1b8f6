"""What is to come and what stands out, as use cases hand it to views. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from billing.core.anomalies import Anomaly, Explained
from billing.core.forecast_month import MonthForecast
from billing.core.money import Money, Rate
from billing.ports.anomalies import AwsAnomaly


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """How a month stands to its budget.

    Attributes:
        exceeded_on: Day on which it is used up if the rest comes evenly; None: it lasts,
            or nobody can say.
    """

    amount: Money
    used: Fraction
    expected: Fraction | None
    exceeded_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamForecast:
    """One team's month; ``team`` is "" for everything."""

    team: str
    forecast: MonthForecast
    budget: BudgetState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobForecast:
    """One job's month.

    Attributes:
        burn: What it costs per hour now; None when a price is unknown.
        ends_at: When it is expected to end: as estimated, else with the month.
        is_planned: ``ends_at`` comes from its estimate.
        expected: So far, and its burn rate up to ``ends_at``; None when unknown.
    """

    job: str
    so_far: Money
    burn: Rate | None
    ends_at: datetime
    is_planned: bool
    expected: Money | None
    low: Money
    high: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastAnswer:
    """What `gpucost forecast` answers.

    Attributes:
        month: First day of the month.
        scope: Everything or the team asked for; None when a job was asked for.
        teams: Each team's month, the dearest first.
    """

    currency: str
    month: date
    as_of: datetime
    scope: TeamForecast | None = None
    teams: tuple[TeamForecast, ...] = ()
    job: JobForecast | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalyAnswer:
    """What `gpucost anomalies` answers.

    Attributes:
        since / until: Days that were judged, half-open.
        judged: Series and days that had history enough; 0: nothing could be judged.
        aws: Findings of AWS in the same days.
        aws_read_at: When AWS was last asked; None: never.
        aws_problem: Why AWS could not be asked; "".
    """

    currency: str
    since: date
    until: date
    floor: Money
    judged: int
    anomalies: tuple[Anomaly, ...]
    explained: tuple[Explained, ...]
    aws: tuple[AwsAnomaly, ...] = ()
    aws_read_at: datetime | None = None
    aws_problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a digest says of the month and of days that stood out."""

    forecast: TeamForecast
    anomalies: AnomalyAnswer
