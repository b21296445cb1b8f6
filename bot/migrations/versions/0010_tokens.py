"""Bearer tokens, progress of jobs and hours of use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import column, instants, numbers, primary, texts

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_token",
        *texts("token_id", "digest", "person_id", "scopes"),
        *instants("created_at"),
        *texts("created_by"),
        *instants("expires_at", "revoked_at", "used_at", null=True),
        primary("api_token", "token_id"),
    )
    op.create_table(
        "job_progress",
        *texts("job", "counter"),
        *instants("at"),
        column("value", sa.BigInteger()),
        column("attempt", sa.Integer(), null=True),
        *texts("reported_by"),
        *instants("recorded_at"),
        primary("job_progress", "job", "counter", "at"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "use_hour",
        *texts("resource_id"),
        *instants("hour"),
        column("gpu_pct", sa.Float()),
        *numbers("covered_s"),
        primary("use_hour", "resource_id", "hour"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("use_hour", "job_progress", "api_token"):
        op.drop_table(table)
