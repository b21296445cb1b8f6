"""Find what a job runs without reading what its resources ran before."""

from __future__ import annotations

from alembic import op

from bot.migrations.building import index

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    index("usage_interval", "resource_id", "ended_at")
    index("usage_interval", "parent_id", "ended_at")
    op.drop_index("ix_usage_interval_parent_id", table_name="usage_interval")


def downgrade() -> None:
    index("usage_interval", "parent_id")
    op.drop_index("ix_usage_interval_parent_id_ended_at", table_name="usage_interval")
    op.drop_index("ix_usage_interval_resource_id_ended_at", table_name="usage_interval")
