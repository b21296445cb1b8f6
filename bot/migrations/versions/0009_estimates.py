"""Room for estimates; changes nothing yet."""

from __future__ import annotations

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing."""


def downgrade() -> None:
    """Change nothing."""
