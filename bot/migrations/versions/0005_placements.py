"""Who held what: placements, names of hosts, and the resource of a charge."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import (
    column,
    index,
    instants,
    numbers,
    primary,
    serial,
    texts,
    unique,
)

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_CHARGES = ("charge_staging", "charge")


def upgrade() -> None:
    for table in _CHARGES:
        op.add_column(
            table,
            sa.Column("resource_id", sa.String(), nullable=False, server_default=""),
        )
    op.create_table(
        "placement",
        serial("placement_id"),
        *texts("source", "external_id", "resource_id"),
        *numbers("attempt"),
        *texts("job"),
        *instants("started_at"),
        *instants("ended_at", null=True),
        column("gpus", sa.String(), null=True),
        *instants("recorded_at"),
        primary("placement", "placement_id"),
        unique(
            "uq_placement_source_external_id_resource_id_attempt",
            *("source", "external_id", "resource_id", "attempt"),
        ),
    )
    index("placement", "job", "started_at")
    index("placement", "resource_id", "started_at")
    op.create_table(
        "resource_host",
        *texts("resource_id", "name"),
        *instants("seen_at"),
        primary("resource_host", "resource_id", "name"),
    )
    index("resource_host", "name")


def downgrade() -> None:
    op.drop_table("resource_host")
    op.drop_table("placement")
    for table in _CHARGES:
        with op.batch_alter_table(table) as batch:
            batch.drop_column("resource_id")
