"""Keep what happens to requests as events, who speaks for whom, and whose seat a vote takes."""

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
    unique_where,
)

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_NAME = "uq_approval_request_live_key"
_OLD = "state IN ('pending', 'approved') AND idempotency_key <> ''"
_NEW = "state IN ('pending', 'needs-info', 'approved') AND idempotency_key <> ''"


def upgrade() -> None:
    op.drop_index(_NAME, table_name="approval_request")
    unique_where(_NAME, "approval_request", ["idempotency_key"], _NEW)
    op.add_column(
        "approval_vote",
        sa.Column("seat", sa.String(), nullable=False, server_default=""),
    )
    op.create_table(
        "approval_event",
        serial("event_id"),
        *texts("request_id"),
        *numbers("version"),
        *texts("event", "state", "by"),
        *instants("at"),
        column("text", sa.Text()),
        primary("approval_event", "event_id"),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["approval_request.request_id"],
            name="fk_approval_event_request_id_approval_request",
        ),
    )
    index("approval_event", "request_id")
    op.create_table(
        "approval_delegation",
        serial("delegation_number"),
        *texts("delegation_id", "from_id", "to_id"),
        *instants("since", "until"),
        *instants("ended_at", null=True),
        primary("approval_delegation", "delegation_number"),
        unique("uq_approval_delegation_delegation_id", "delegation_id"),
    )
    index("approval_delegation", "from_id")
    index("approval_delegation", "to_id")


def downgrade() -> None:
    op.drop_table("approval_delegation")
    op.drop_table("approval_event")
    with op.batch_alter_table("approval_vote") as batch:
        batch.drop_column("seat")
    op.drop_index(_NAME, table_name="approval_request")
    unique_where(_NAME, "approval_request", ["idempotency_key"], _OLD)
