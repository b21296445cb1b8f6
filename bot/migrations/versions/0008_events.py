"""Events that were handled, and how many messages came to what end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import column, index, instants, numbers, primary, texts

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "heard_event",
        *texts("event_id", "kind", "account", "region", "resource_id", "state"),
        *instants("at", "heard_at"),
        primary("heard_event", "event_id"),
    )
    index("heard_event", "heard_at")
    index("heard_event", "kind", "at")
    op.create_table(
        "event_count",
        column("day", sa.Date()),
        *texts("outcome"),
        *numbers("messages"),
        primary("event_count", "day", "outcome"),
    )


def downgrade() -> None:
    op.drop_table("event_count")
    op.drop_table("heard_event")
