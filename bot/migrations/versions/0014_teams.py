"""Keep a daily rollup by team beside the one by job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.migrations.building import amounts, column, numbers, primary, texts

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_FILL = """
INSERT INTO team_rollup (day, account, team, is_credit, cost_category, billed, effective,
  listed, unlisted, charges, estimated)
SELECT r.day, r.account,
  CASE WHEN r.key LIKE 'bucket:%' THEN r.key ELSE COALESCE(j.team, '') END,
  r.is_credit, r.cost_category, SUM(r.billed), SUM(r.effective),
  COALESCE(SUM(r.list_cost), 0), COUNT(*) - COUNT(r.list_cost), SUM(r.charges),
  SUM(CASE WHEN r.is_estimated THEN 1 ELSE 0 END)
FROM cost_rollup r LEFT JOIN job j ON j.job = r.key
GROUP BY 1, 2, 3, 4, 5
"""


def upgrade() -> None:
    op.create_table(
        "team_rollup",
        column("day", sa.Date()),
        *texts("account", "team"),
        column("is_credit", sa.Boolean()),
        *texts("cost_category"),
        *amounts("billed", "effective", "listed"),
        *numbers("unlisted", "charges", "estimated"),
        primary("team_rollup", "day", "account", "team", "is_credit", "cost_category"),
        sqlite_with_rowid=False,
    )
    op.execute(_FILL)


def downgrade() -> None:
    op.drop_table("team_rollup")
