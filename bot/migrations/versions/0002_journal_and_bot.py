"""The journal of policies, and what the bot must remember."""

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
    unique,
    unique_where,
)

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for create in CREATORS:
        create()


def downgrade() -> None:
    for create in reversed(CREATORS):
        op.drop_table(create.__name__.removeprefix("_create_"))


def _create_finding() -> None:
    op.create_table(
        "finding",
        serial("finding_id"),
        *texts("fingerprint", "policy", "kind", "job", "severity"),
        column("data", sa.Text()),
        *instants("opened_at", "updated_at"),
        *instants("resolved_at", null=True),
        *numbers("updates"),
        *instants("notified_at", null=True),
        primary("finding", "finding_id"),
    )
    index("finding", "policy")
    unique_where("uq_finding_open", "finding", ["fingerprint"], "resolved_at IS NULL")


def _create_approval_request() -> None:
    op.create_table(
        "approval_request",
        serial("number"),
        *texts("request_id"),
        *numbers("version"),
        *texts("state", "idempotency_key", "job", "owner"),
        *amounts("ceiling", null=True),
        *texts("currency"),
        *instants("created_at"),
        *instants("decided_at", null=True),
        *texts("decided_by"),
        column("data", sa.Text()),
        primary("approval_request", "number"),
        unique("uq_approval_request_request_id", "request_id"),
    )
    index("approval_request", "owner", "created_at")
    index("approval_request", "state")
    unique_where(
        "uq_approval_request_live_key",
        "approval_request",
        ["idempotency_key"],
        "state IN ('pending', 'approved') AND idempotency_key <> ''",
    )


def _create_approval_vote() -> None:
    op.create_table(
        "approval_vote",
        serial("vote_id"),
        *texts("request_id"),
        *numbers("version"),
        *texts("person_id", "verdict"),
        *instants("at"),
        *texts("reason"),
        column("asserted", sa.Boolean()),
        primary("approval_vote", "vote_id"),
        unique(
            "uq_approval_vote_request_id_version_person_id",
            "request_id",
            "version",
            "person_id",
        ),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["approval_request.request_id"],
            name="fk_approval_vote_request_id_approval_request",
        ),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        serial("row_id"),
        *texts("key", "kind", "channel"),
        column("payload", sa.Text()),
        *texts("ref", "user_id", "thread_of", "state"),
        *numbers("attempts"),
        *instants("created_at", "next_attempt_at"),
        *texts("claimed_by"),
        *instants("claimed_at", "finished_at", null=True),
        *texts("slack_channel", "slack_ts", "error"),
        primary("outbox", "row_id"),
        unique("uq_outbox_key", "key"),
    )
    live = sa.text("state IN ('pending', 'sending')")
    op.create_index(
        "ix_outbox_live",
        "outbox",
        ["channel", "row_id"],
        sqlite_where=live,
        postgresql_where=live,
    )
    index("outbox", "ref")


def _create_outbox_channel() -> None:
    op.create_table(
        "outbox_channel",
        *texts("channel"),
        *instants("free_at"),
        primary("outbox_channel", "channel"),
    )


def _create_audit_event() -> None:
    op.create_table(
        "audit_event",
        *numbers("seq"),
        *instants("at"),
        *texts("event", "actor", "subject"),
        column("data", sa.Text()),
        *texts("previous", "hash"),
        primary("audit_event", "seq"),
    )


def _create_person() -> None:
    op.create_table(
        "person",
        serial("number"),
        *texts("person_id", "slack_id", "email", "name", "alias_of"),
        primary("person", "number"),
        unique("uq_person_person_id", "person_id"),
    )
    unique_where("uq_person_email", "person", ["email"], "email <> ''")
    unique_where("uq_person_slack_id", "person", ["slack_id"], "slack_id <> ''")


def _create_schedule_slot() -> None:
    op.create_table(
        "schedule_slot",
        *texts("schedule"),
        *instants("slot"),
        *texts("owner"),
        *numbers("claims"),
        *instants("claimed_at", "lease_until"),
        *instants("finished_at", null=True),
        *texts("error"),
        primary("schedule_slot", "schedule", "slot"),
    )


def _create_control_flag() -> None:
    op.create_table(
        "control_flag",
        *texts("name", "by"),
        *instants("since"),
        *texts("reason"),
        primary("control_flag", "name"),
    )


def _create_delivery() -> None:
    op.create_table(
        "delivery",
        *texts("kind", "key"),
        *instants("seen_at"),
        primary("delivery", "kind", "key"),
    )
    index("delivery", "seen_at")


CREATORS = (
    _create_finding,
    _create_approval_request,
    _create_approval_vote,
    _create_outbox,
    _create_outbox_channel,
    _create_audit_event,
    _create_person,
    _create_schedule_slot,
    _create_control_flag,
    _create_delivery,
)
