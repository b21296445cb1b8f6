"""Keep alerts, what people said of findings, subscriptions and wishes."""

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

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alert",
        *texts("key", "fingerprint"),
        *instants("opened_at"),
        *texts("channel", "group_key", "face"),
        *instants("changed_at"),
        *instants("resolved_at", "snoozed_until", null=True),
        primary("alert", "key"),
    )
    index("alert", "fingerprint")
    op.create_table(
        "finding_feedback",
        serial("feedback_id"),
        *texts("fingerprint"),
        *instants("opened_at"),
        *texts("policy", "job", "subject", "said_by"),
        *instants("said_at"),
        primary("finding_feedback", "feedback_id"),
        unique(
            "uq_finding_feedback_fingerprint", "fingerprint", "opened_at", "said_by"
        ),
    )
    op.create_table(
        "digest_subscription",
        serial("number"),
        *texts("channel", "every"),
        *numbers("weekday"),
        *texts("at", "zone", "team", "asked_by"),
        *instants("created_at"),
        *instants("ended_at", null=True),
        *texts("problem"),
        primary("digest_subscription", "number"),
    )
    op.create_table(
        "slack_wish",
        *texts("person_id"),
        column("mentions", sa.Boolean()),
        *texts("quiet_from", "quiet_until"),
        primary("slack_wish", "person_id"),
    )


def downgrade() -> None:
    for table in ("slack_wish", "digest_subscription", "finding_feedback", "alert"):
        op.drop_table(table)
