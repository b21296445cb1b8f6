"""Structured logs: one JSON object a line on stderr, constant event names."""

from __future__ import annotations

import logging
import sys

import structlog


def configure_logs() -> None:
    """Log JSON; vendors speak only when something is wrong with them."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    # It warns of every beat that finds the one before still running, as is meant.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
