"""The ledger within one session: imports, usage, prices and questions together."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session

from billing.core.attribution import TagKeys
from billing.core.claims import AttributionRules
from billing.ledger.attribution import SqlAttribution
from billing.ledger.charge_lines import SqlChargeLines
from billing.ledger.estimates import SqlEstimates
from billing.ledger.export_lines import SqlExportLines
from billing.ledger.fleet import SqlFleet
from billing.ledger.prices import SqlPrices
from billing.ledger.progress import SqlProgress
from billing.ledger.reader import SqlReader
from billing.ledger.staged_rows import SqlStagedRows


class SqlLedger(
    SqlStagedRows,
    SqlExportLines,
    SqlFleet,
    SqlPrices,
    SqlReader,
    SqlChargeLines,
    SqlProgress,
    SqlAttribution,
    SqlEstimates,
):
    """Everything billing stores, within one session.

    Args:
        session: The unit's session.
        tag_keys: The tag keys that name job, team, owner and environment.
        rules: What the configuration says of attribution; its keys are ``tag_keys``.
    """

    def __init__(
        self,
        session: Session,
        tag_keys: TagKeys | None = None,
        rules: AttributionRules | None = None,
    ) -> None:
        self._session = session
        self._tag_keys = tag_keys or TagKeys()
        self._rules = replace(rules or AttributionRules(), keys=self._tag_keys)
