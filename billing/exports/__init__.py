"""Cost exports (legacy CUR, CUR 2.0, FOCUS) from files into the ledger.

Knows files and DuckDB; nothing of how the ledger stores, nor of who asks.
"""

from __future__ import annotations

from billing.exports.engine import EngineLimits
from billing.exports.folder import ExportFolder
from billing.exports.importing import ExportOutcome, ExportScope, import_exports

__all__ = [
    "EngineLimits",
    "ExportFolder",
    "ExportOutcome",
    "ExportScope",
    "import_exports",
]
