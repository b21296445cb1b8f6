"""Keep what policies would do, did, and who said that they may."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import (
    column,
    index,
    instants,
    primary,
    serial,
    texts,
    unique,
)

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "action",
        serial("action_number"),
        *texts("action_id", "policy", "fingerprint"),
        *instants("opened_at"),
        *texts("state"),
        *instants("planned_at"),
        *instants("acting_at", "ended_at", "lease_until", null=True),
        *texts("reason"),
        column("data", sa.Text()),
        primary("action", "action_number"),
        unique("uq_action_action_id", "action_id"),
    )
    index("action", "state")
    index("action", "fingerprint", "opened_at")
    op.create_table(
        "policy_confirmation",
        serial("confirmation_id"),
        *texts("policy", "policy_hash", "person_id"),
        *instants("at"),
        primary("policy_confirmation", "confirmation_id"),
        unique(
            "uq_policy_confirmation_policy_policy_hash_person_id",
            *("policy", "policy_hash", "person_id"),
        ),
    )
    op.create_table(
        "waiver",
        serial("waiver_number"),
        *texts("waiver_id", "state"),
        *instants("until"),
        *instants("decided_at", null=True),
        *texts("decided_by"),
        column("data", sa.Text()),
        primary("waiver", "waiver_number"),
        unique("uq_waiver_waiver_id", "waiver_id"),
    )
    index("waiver", "until")


def downgrade() -> None:
    op.drop_table("waiver")
    op.drop_table("policy_confirmation")
    op.drop_table("action")
