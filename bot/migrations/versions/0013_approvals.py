"""Room for approvals; changes nothing yet."""

from __future__ import annotations

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing."""


def downgrade() -> None:
    """Change nothing."""
