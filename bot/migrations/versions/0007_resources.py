"""Units, billed seconds and reservations of what runs; events about instances."""

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
    texts,
)

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    whole, text = sa.Integer(), sa.String()
    for added in (
        sa.Column("units", whole, nullable=False, server_default="1"),
        sa.Column("billed_s", whole, nullable=True),
        sa.Column("reservation_id", text, nullable=False, server_default=""),
    ):
        op.add_column("usage_interval", added)
    op.create_table(
        "fleet_event",
        *texts("resource_id"),
        *instants("at"),
        *texts("state", "account", "region"),
        primary("fleet_event", "resource_id", "at", "state"),
    )
    index("fleet_event", "at")
    op.create_table(
        "reservation",
        *texts(
            *("reservation_id", "kind", "account", "region", "zone"),
            "instance_type",
        ),
        *numbers("instances"),
        column("available", sa.Integer(), null=True),
        *texts("state"),
        *instants("starts_at"),
        *instants("ends_at", "bought_at", null=True),
        *amounts("fee", "extension_fee", null=True),
        column("instance_s", sa.Integer(), null=True),
        *texts("currency", "fee_source", "block_id", "platform", "tenancy"),
        *instants("first_seen_at", "seen_at"),
        primary("reservation", "reservation_id"),
    )
    op.create_table(
        "paid_share",
        *texts("account", "family"),
        *amounts("effective", "list_cost"),
        *texts("currency"),
        column("since", sa.Date()),
        column("until", sa.Date()),
        primary("paid_share", "account", "family"),
    )


def downgrade() -> None:
    op.drop_table("paid_share")
    op.drop_table("reservation")
    op.drop_table("fleet_event")
    with op.batch_alter_table("usage_interval") as batch:
        for name in ("reservation_id", "billed_s", "units"):
            batch.drop_column(name)
