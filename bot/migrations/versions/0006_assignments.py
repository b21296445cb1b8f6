"""Whom cost belongs to: assignments, transfers, and which days are to be computed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import (
    amounts,
    column,
    index,
    instants,
    primary,
    serial,
    texts,
)

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "assignment",
        serial("assignment_id"),
        *texts("account", "resource_id", "usage_type", "region", "job"),
        *instants("since"),
        *instants("until", null=True),
        *texts("by"),
        *instants("at"),
        *texts("reason", "ended_by"),
        *instants("ended_at", null=True),
        primary("assignment", "assignment_id"),
    )
    index("assignment", "account")
    op.create_table(
        "transfer",
        serial("transfer_id"),
        *texts("account"),
        column("day", sa.Date()),
        *texts("region", "service", "usage_type", "pricing", "cost_category"),
        *texts("resource_id", "from_key", "to_key"),
        *amounts("billed", "effective"),
        *amounts("list_cost", null=True),
        *texts("rule", "basis", "evidence"),
        primary("transfer", "transfer_id"),
    )
    index("transfer", "account", "day")
    index("transfer", "to_key", "day")
    index("transfer", "from_key", "day")
    op.create_table(
        "attribution_day",
        *texts("account"),
        column("day", sa.Date()),
        *texts("rules"),
        *instants("attributed_at", "due_since", null=True),
        primary("attribution_day", "account", "day"),
    )
    index("attribution_day", "due_since")
    index("attribution_day", "rules")


def downgrade() -> None:
    op.drop_table("attribution_day")
    op.drop_table("transfer")
    op.drop_table("assignment")
