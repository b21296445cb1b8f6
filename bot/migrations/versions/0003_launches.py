"""Launches under the grants of approval requests."""

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
)

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "launch",
        serial("launch_id"),
        *texts("request_id"),
        *numbers("version", "count"),
        *texts("by"),
        *instants("started_at", "last_at", "lease_until"),
        *instants("ended_at", null=True),
        column("exit_code", sa.Integer(), null=True),
        primary("launch", "launch_id"),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["approval_request.request_id"],
            name="fk_launch_request_id_approval_request",
        ),
    )
    index("launch", "request_id")


def downgrade() -> None:
    op.drop_table("launch")
