"""The bill, the fleet and prices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import (
    amounts,
    column,
    index,
    instants,
    numbers,
    primary,
    serial,
    texts,
    unique,
    unique_where,
)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    for create in CREATORS:
        create()


def downgrade() -> None:
    for create in reversed(CREATORS):
        op.drop_table(create.__name__.removeprefix("_create_"))


def _create_ledger_property() -> None:
    op.create_table(
        "ledger_property",
        *texts("name", "value"),
        primary("ledger_property", "name"),
    )


def _create_import() -> None:
    op.create_table(
        "import",
        serial("import_id"),
        *texts("source", "account"),
        column("since", sa.Date()),
        column("until", sa.Date()),
        *texts("state", "message"),
        *numbers("charges"),
        *texts("currency"),
        *amounts("total", "control_total", null=True),
        *numbers("requests"),
        *amounts("request_cost"),
        *instants("started_at"),
        *instants("finished_at", null=True),
        primary("import", "import_id"),
    )
    unique_where(
        "uq_import_running", "import", ["source", "account"], "state = 'running'"
    )


def _create_charge_staging() -> None:
    op.create_table(
        "charge_staging",
        *numbers("import_id"),
        *texts("source", "account"),
        column("day", sa.Date()),
        *texts(
            "region",
            "service",
            "usage_type",
            "record_type",
            "category",
            "pricing",
            "cost_category",
            "bucket",
            "job",
        ),
        *amounts("billed", "effective"),
        *amounts("list_cost", null=True),
        column("quantity", sa.String(), null=True),
        *texts("unit"),
        column("is_estimated", sa.Boolean()),
        *texts("raw_billed"),
        serial("charge_id"),
        primary("charge_staging", "charge_id"),
    )


def _create_charge() -> None:
    op.create_table(
        "charge",
        *numbers("import_id"),
        *texts("source", "account"),
        column("day", sa.Date()),
        *texts(
            "region",
            "service",
            "usage_type",
            "record_type",
            "category",
            "pricing",
            "cost_category",
            "bucket",
            "job",
        ),
        *amounts("billed", "effective"),
        *amounts("list_cost", null=True),
        column("quantity", sa.String(), null=True),
        *texts("unit"),
        column("is_estimated", sa.Boolean()),
        *texts("raw_billed"),
        serial("charge_id"),
        primary("charge", "charge_id"),
    )
    index("charge", "account", "day")
    index("charge", "job", "day")


def _create_day_control() -> None:
    op.create_table(
        "day_control",
        *texts("source", "account"),
        column("day", sa.Date()),
        *amounts("billed", "effective"),
        *texts("fingerprint"),
        column("is_estimated", sa.Boolean()),
        *instants("read_at"),
        *numbers("equal_reads", "import_id"),
        primary("day_control", "source", "account", "day"),
    )


def _create_day_version() -> None:
    op.create_table(
        "day_version",
        serial("version_id"),
        *numbers("import_id"),
        *texts("source", "account"),
        column("day", sa.Date()),
        *amounts("old_billed", "old_effective", null=True),
        *amounts("new_billed", "new_effective"),
        *instants("replaced_at"),
        primary("day_version", "version_id"),
    )
    index("day_version", "account", "day")


def _create_cost_rollup() -> None:
    op.create_table(
        "cost_rollup",
        *texts("key"),
        column("day", sa.Date()),
        *texts("account", "cost_category"),
        column("is_credit", sa.Boolean()),
        *amounts("billed", "effective"),
        *amounts("list_cost", null=True),
        *numbers("charges"),
        column("is_estimated", sa.Boolean()),
        primary("cost_rollup", "key", "day", "account", "cost_category", "is_credit"),
        sqlite_with_rowid=False,  # A job's days are neighbours.
    )
    index("cost_rollup", "day", "account")


def _create_account_state() -> None:
    op.create_table(
        "account_state",
        *texts("account"),
        *instants("billed_through", "updated_at"),
        primary("account_state", "account"),
    )


def _create_freshness() -> None:
    op.create_table(
        "freshness",
        *texts("source", "account"),
        *instants("first_as_of", "as_of", null=True),
        *texts("last_error"),
        primary("freshness", "source", "account"),
    )


def _create_resource_tag() -> None:
    op.create_table(
        "resource_tag",
        serial("tag_id"),
        *texts("resource_id", "key", "value", "folded_key", "folded"),
        *instants("valid_from"),
        *instants("valid_to", null=True),
        primary("resource_tag", "tag_id"),
    )
    index("resource_tag", "folded", "folded_key")
    index("resource_tag", "resource_id", "valid_from")
    unique_where(
        "uq_resource_tag_open",
        "resource_tag",
        ["resource_id", "key"],
        "valid_to IS NULL",
    )


def _create_usage_interval() -> None:
    op.create_table(
        "usage_interval",
        serial("interval_id"),
        *texts(
            "resource_id", "kind", "account", "region", "zone", "shape", "lifecycle"
        ),
        *instants("started_at"),
        *instants("ended_at", null=True),
        *texts("end_basis"),
        *instants("last_seen_at"),
        *instants("ended_by", null=True),
        column("is_reclaimed", sa.Boolean(), null=True),
        *texts("platform", "tenancy"),
        *numbers("size_gib"),
        column("iops", sa.Integer(), null=True),
        column("throughput_mibps", sa.Integer(), null=True),
        *texts("parent_id"),
        primary("usage_interval", "interval_id"),
        unique("uq_usage_interval_resource_id_started_at", "resource_id", "started_at"),
    )
    index("usage_interval", "ended_at")
    index("usage_interval", "parent_id")
    unique_where(
        "uq_usage_interval_open", "usage_interval", ["resource_id"], "ended_at IS NULL"
    )


def _create_job() -> None:
    op.create_table(
        "job",
        *texts("job", "team", "owner", "environment"),
        *instants("first_seen_at", "last_seen_at"),
        *instants("tagged_at", null=True),
        primary("job", "job"),
    )
    index("job", "team")


def _create_price() -> None:
    op.create_table(
        "price",
        serial("price_id"),
        *texts(
            "region", "product", "purchase", "platform", "tenancy", "zone", "source"
        ),
        *instants("as_of"),
        *instants("effective_from", null=True),
        *amounts("rate"),
        *texts("currency"),
        *instants("recorded_at"),
        primary("price", "price_id"),
        unique(
            "uq_price_key",
            "region",
            "product",
            "purchase",
            "platform",
            "tenancy",
            "zone",
            "as_of",
            "source",
        ),
    )


def _create_billable_request() -> None:
    op.create_table(
        "billable_request",
        column("day", sa.Date()),
        *texts("operation"),
        *numbers("requests"),
        *amounts("cost"),
        primary("billable_request", "day", "operation"),
    )


CREATORS = (
    _create_ledger_property,
    _create_import,
    _create_charge_staging,
    _create_charge,
    _create_day_control,
    _create_day_version,
    _create_cost_rollup,
    _create_account_state,
    _create_freshness,
    _create_resource_tag,
    _create_usage_interval,
    _create_job,
    _create_price,
    _create_billable_request,
)
