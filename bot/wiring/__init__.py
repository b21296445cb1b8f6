"""The composition root: builds every adapter once and hands it inward.

Nothing but the command line imports it.
"""

from __future__ import annotations

from bot.wiring.application import Application, open_application, upgrade_database
from bot.wiring.serving import serve

__all__ = ["Application", "open_application", "serve", "upgrade_database"]
