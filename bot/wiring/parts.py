"""The store and plain values built from settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from sqlalchemy.exc import OperationalError

from billing.core.attribution import TagKeys
from billing.core.money import Money, Rate
from billing.ledger.database import named, open_database
from bot.clock import Now, clock, system_now
from bot.migrations import check, current, upgrade
from bot.secrets import load_or_create_key
from bot.settings import Settings
from bot.settings.attribution import attribution_rules
from bot.settings.sections import PriceOverride
from bot.unit_of_work import SqlStore, StoreSettings
from bot.use_cases.pricing import OwnPrice

AUDIT_KEY_FILE = "audit.key"
DEFAULT_REGION = "us-east-1"


def open_store(settings: Settings, *, upgrades: bool = False) -> SqlStore:
    """Open the database; an empty one gets its schema, an older one only if asked.

    Raises:
        SchemaError: The schema is not this release's.
        DatabaseUnavailableError: The database cannot be reached.
    """
    config = settings.config
    if not settings.environment.database_url:
        config.data_dir.mkdir(parents=True, exist_ok=True)
    database = open_database(settings.database_url)
    try:
        if upgrades or current(database.engine) is None:
            upgrade(database.engine)
        check(database.engine)
    except OperationalError as error:
        raise named(str(error.orig)) from error
    return SqlStore(
        database,
        StoreSettings(
            audit_key=load_or_create_key(config.data_dir / AUDIT_KEY_FILE),
            tag_keys=tag_keys(settings),
            attribution=attribution_rules(
                config.attribution,
                tag_keys(settings),
                is_proportional=config.commitment_benefit == "proportional",
            ),
            request_budget=config.limits.aws_request_cost_per_day,
            # The sender's clock: that of rules may stand still, in another month.
            effect_clock=system_now,
        ),
    )


def tag_keys(settings: Settings) -> TagKeys:
    """Return the configured tag keys."""
    tags = settings.config.tags
    return TagKeys(
        job=tags.job, team=tags.team, owner=tags.owner, environment=tags.environment
    )


def own_prices(settings: Settings) -> tuple[OwnPrice, ...]:
    """Return configured overrides, then discounts."""
    prices = settings.config.prices
    return tuple(_own_price(one) for one in (*prices.overrides, *prices.discounts))


def _own_price(one: PriceOverride) -> OwnPrice:
    rate = None
    if one.per_hour is not None:
        rate = Rate(one.per_hour.nanos, one.per_hour.currency)
    percent = Fraction(str(one.percent)) if one.percent is not None else Fraction(0)
    return OwnPrice(
        instance_type=one.instance_type,
        region=one.region,
        rate=rate,
        discount=percent / 100,
    )


def team_budgets(settings: Settings) -> Mapping[str, Money]:
    """Return the configured budget of each team that has one."""
    teams = settings.config.teams
    return {name: one.budget for name, one in teams.items() if one.budget is not None}


def default_region(settings: Settings) -> str:
    """Return the region meant when none is named."""
    environment = settings.environment
    configured = settings.config.aws.regions
    named_ = environment.aws_region or environment.aws_default_region
    return configured[0] if configured else named_ or DEFAULT_REGION


def policy_paths(settings: Settings, named: Sequence[Path] | None) -> tuple[Path, ...]:
    """Return the policy files to use: named ones, else the configured place."""
    if named:
        return tuple(named)
    configured = settings.policies_path
    return (configured,) if configured else ()


def rules_clock(settings: Settings) -> Now:
    """Return the clock of rules and figures."""
    return clock(settings.environment.now)


def started_at() -> datetime:
    """Return the system's time, for names of processes and leases."""
    return system_now()
