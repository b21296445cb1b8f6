"""Estimates on record, and the finished runs that judge them."""

from __future__ import annotations

from alembic import op

from bot.migrations.building import (
    amounts,
    index,
    instants,
    numbers,
    primary,
    serial,
    texts,
)

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "estimate",
        serial("estimate_id"),
        *instants("made_at"),
        *texts("job", "request_id", "instance_type"),
        *numbers("count"),
        *texts("hours", "purchase", "region", "currency"),
        *amounts("base", "low", "expected", "high"),
        primary("estimate", "estimate_id"),
    )
    index("estimate", "job")
    op.create_table(
        "finished_run",
        *texts("job", "instance_type"),
        *numbers("count"),
        *texts("hours", "currency"),
        *amounts("cost"),
        *instants("started_at", "finished_at", "read_at"),
        primary("finished_run", "job"),
    )
    index("finished_run", "finished_at")


def downgrade() -> None:
    op.drop_table("finished_run")
    op.drop_table("estimate")
