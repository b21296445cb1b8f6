"""The tables of billing. Rows only: no rule and no arithmetic lives here.

No column of a unique key is ever NULL (NULLs are distinct, so they defeat an upsert):
"" stands for "none" there.
"""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field

from billing.ledger.columns import Row, instant, nanos, serial

#: Rows lie in the order of their key, also on SQLite: a job's days are neighbours.
_CLUSTERED = {"sqlite_with_rowid": False}


class LedgerProperty(Row, table=True):
    """One fact about the whole ledger, such as its currency."""

    __tablename__ = "ledger_property"

    name: str = Field(primary_key=True)
    value: str


class ImportRow(Row, table=True):
    """One reading of one source and account; at most one of them runs at a time."""

    __tablename__ = "import"
    __table_args__ = (
        Index(
            "uq_import_running",
            "source",
            "account",
            unique=True,
            sqlite_where=text("state = 'running'"),
            postgresql_where=text("state = 'running'"),
        ),
    )

    import_id: int | None = serial()
    source: str
    account: str
    since: date
    until: date
    state: str
    message: str = ""
    charges: int = 0
    currency: str = ""
    total: int | None = nanos(default=None)
    control_total: int | None = nanos(default=None)
    requests: int = 0
    request_cost: int = nanos(default=0)
    started_at: datetime = instant()
    finished_at: datetime | None = instant(default=None)


class _ChargeColumns(Row):
    """What a staged and a stored charge have in common, in the order of bulk loads."""

    import_id: int
    source: str
    account: str
    day: date
    region: str
    service: str
    usage_type: str
    record_type: str
    category: str
    pricing: str
    cost_category: str
    bucket: str
    job: str
    billed: int = nanos()
    effective: int = nanos()
    list_cost: int | None = nanos(default=None)
    quantity: str | None = None
    unit: str = ""
    is_estimated: bool = False
    raw_billed: str = ""
    # Written by the database where an older release loads beside this one.
    resource_id: str = Field(default="", sa_column_kwargs={"server_default": ""})


class ChargeStagingRow(_ChargeColumns, table=True):
    """A charge on its way in; nobody's answer ever reads it."""

    __tablename__ = "charge_staging"

    charge_id: int | None = serial()


class ChargeRow(_ChargeColumns, table=True):
    """One line of cost; written in whole (account, day) partitions only."""

    __tablename__ = "charge"
    __table_args__ = (Index(None, "job", "day"), Index(None, "account", "day"))

    charge_id: int | None = serial()


class DayControlRow(Row, table=True):
    """The source's own total of a stored day."""

    __tablename__ = "day_control"

    source: str = Field(primary_key=True)
    account: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    billed: int = nanos()
    effective: int = nanos()
    fingerprint: str
    is_estimated: bool
    read_at: datetime = instant()
    equal_reads: int
    import_id: int


class DayVersionRow(Row, table=True):
    """One replacement of one day, old and new totals; never changed afterwards.

    Attributes:
        old_billed: None when the day was stored for the first time.
    """

    __tablename__ = "day_version"
    __table_args__ = (Index(None, "account", "day"),)

    version_id: int | None = serial()
    import_id: int
    source: str
    account: str
    day: date
    old_billed: int | None = nanos(default=None)
    old_effective: int | None = nanos(default=None)
    new_billed: int = nanos()
    new_effective: int = nanos()
    replaced_at: datetime = instant()


class CostRollupRow(Row, table=True):
    """Charges of one key, account and day summed; the key is a job or ``bucket:*``."""

    __tablename__ = "cost_rollup"
    __table_args__ = (Index(None, "day", "account"), _CLUSTERED)

    key: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    account: str = Field(primary_key=True)
    cost_category: str = Field(primary_key=True)
    is_credit: bool = Field(primary_key=True)
    billed: int = nanos()
    effective: int = nanos()
    list_cost: int | None = nanos(default=None)
    charges: int
    is_estimated: bool


class AccountStateRow(Row, table=True):
    """How far an account's bill is complete."""

    __tablename__ = "account_state"

    account: str = Field(primary_key=True)
    billed_through: datetime = instant()
    updated_at: datetime = instant()


class FreshnessRow(Row, table=True):
    """The first and last good read of a source and account, and what went wrong since."""

    __tablename__ = "freshness"

    source: str = Field(primary_key=True)
    account: str = Field(primary_key=True)
    first_as_of: datetime | None = instant(default=None)
    as_of: datetime | None = instant(default=None)
    last_error: str = ""


class ResourceTagRow(Row, table=True):
    """One tag of one resource over the time it held.

    Attributes:
        folded_key: The key as keys are compared.
        folded: The value as job ids are compared.
    """

    __tablename__ = "resource_tag"
    __table_args__ = (
        Index(
            "uq_resource_tag_open",
            "resource_id",
            "key",
            unique=True,
            sqlite_where=text("valid_to IS NULL"),
            postgresql_where=text("valid_to IS NULL"),
        ),
        Index(None, "resource_id", "valid_from"),
        Index(None, "folded", "folded_key"),
    )

    tag_id: int | None = serial()
    resource_id: str
    key: str
    value: str
    folded_key: str
    folded: str
    valid_from: datetime = instant()
    valid_to: datetime | None = instant(default=None)


class UsageIntervalRow(Row, table=True):
    """One resource in one shape over one span of time; at most one of them is open."""

    __tablename__ = "usage_interval"
    __table_args__ = (
        Index(
            "uq_usage_interval_open",
            "resource_id",
            unique=True,
            sqlite_where=text("ended_at IS NULL"),
            postgresql_where=text("ended_at IS NULL"),
        ),
        UniqueConstraint("resource_id", "started_at"),
        Index(None, "ended_at"),
        Index(None, "resource_id", "ended_at"),
        Index(None, "parent_id", "ended_at"),
    )

    interval_id: int | None = serial()
    resource_id: str
    kind: str
    account: str
    region: str
    zone: str
    shape: str
    lifecycle: str
    started_at: datetime = instant()
    ended_at: datetime | None = instant(default=None)
    end_basis: str
    last_seen_at: datetime = instant()
    ended_by: datetime | None = instant(default=None)
    is_reclaimed: bool | None = None
    platform: str
    tenancy: str
    size_gib: int = 0
    iops: int | None = None
    throughput_mibps: int | None = None
    parent_id: str = ""
    units: int = 1
    billed_s: int | None = None
    reservation_id: str = ""


class JobRow(Row, table=True):
    """What is known of one job.

    Attributes:
        tagged_at: When the tags that named team and owner began to hold; None before any.
    """

    __tablename__ = "job"
    __table_args__ = (Index(None, "team"),)

    job: str = Field(primary_key=True)
    team: str = ""
    owner: str = ""
    environment: str = ""
    first_seen_at: datetime = instant()
    last_seen_at: datetime = instant()
    tagged_at: datetime | None = instant(default=None)


class PriceRow(Row, table=True):
    """One price as one source stated it."""

    __tablename__ = "price"
    __table_args__ = (
        UniqueConstraint(
            *("region", "product", "purchase", "platform", "tenancy", "zone"),
            *("as_of", "source"),
            name="uq_price_key",
        ),
    )

    price_id: int | None = serial()
    region: str
    product: str
    purchase: str
    platform: str
    tenancy: str
    zone: str
    source: str
    as_of: datetime = instant()
    effective_from: datetime | None = instant(default=None)
    rate: int = nanos()
    currency: str
    recorded_at: datetime = instant()


class BillableRequestRow(Row, table=True):
    """Billable AWS requests of one UTC day; operation "" is the sum of the day."""

    __tablename__ = "billable_request"

    day: date = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    requests: int
    cost: int = nanos()
