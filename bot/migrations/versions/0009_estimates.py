"""Estimates, the finished runs that judge them, and findings of AWS."""

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
    op.create_table(
        "aws_anomaly",
        *texts("anomaly_id"),
        column("since", sa.Date()),
        column("until", sa.Date(), null=True),
        *texts("service", "region", "account", "usage_type", "monitor", "feedback"),
        *texts("currency"),
        *amounts("impact"),
        *amounts("expected", "actual", null=True),
        *instants("read_at"),
        primary("aws_anomaly", "anomaly_id"),
    )


def downgrade() -> None:
    op.drop_table("aws_anomaly")
    op.drop_table("finished_run")
    op.drop_table("estimate")
