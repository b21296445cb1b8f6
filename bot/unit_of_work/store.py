"""The store in SQL: one transaction over billing, policies and bot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from sqlmodel import Session

from billing.core.attribution import TagKeys
from billing.core.claims import AttributionRules
from billing.core.money import Money
from billing.ledger.database import Database, open_database
from billing.ledger.events import SqlEvents
from billing.ledger.ledger import SqlLedger
from billing.ledger.meter import SqlRequestMeter
from billing.ledger.reconciliation import SqlReconciliation
from bot.unit_of_work.alerts import SqlAlerts, SqlSubscriptions, SqlWishes
from bot.unit_of_work.audit import SqlAudit
from bot.unit_of_work.control import SqlControl
from bot.unit_of_work.outbox import OutboxLimits, SqlOutbox
from bot.unit_of_work.people import SqlPeople
from bot.unit_of_work.slots import SqlSlots
from bot.unit_of_work.tokens import SqlTokens
from policies.journal import SqlJournal


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """What the store must know besides its database.

    Attributes:
        audit_key: The secret of the audit chain, kept outside the database.
        attribution: What the configuration says of whom cost belongs to.
        request_budget: What billable AWS requests may cost on one UTC day; None for no
            limit.
        effect_clock: Times stored effects; None for the ``now`` of whoever stores them.
    """

    audit_key: bytes = field(repr=False)
    tag_keys: TagKeys = field(default_factory=TagKeys)
    attribution: AttributionRules = field(default_factory=AttributionRules)
    request_budget: Money | None = None
    outbox: OutboxLimits = field(default_factory=OutboxLimits)
    effect_clock: Callable[[], datetime] | None = None


class SqlUnitOfWork:
    """One transaction over everything stored; lives as long as its session."""

    def __init__(
        self, session: Session, settings: StoreSettings, *, locks: bool
    ) -> None:
        self.session = session
        self.ledger = SqlLedger(session, settings.tag_keys, settings.attribution)
        self.journal = SqlJournal(session, locks=locks)
        self.outbox = SqlOutbox(session, settings.outbox, settings.effect_clock)
        self.audit = SqlAudit(session, settings.audit_key)
        self.people = SqlPeople(session)
        self.slots = SqlSlots(session)
        self.control = SqlControl(session)
        self.events = SqlEvents(session)
        self.reconciliation = SqlReconciliation(session)
        self.tokens = SqlTokens(session)
        self.alerts = SqlAlerts(session)
        self.subscriptions = SqlSubscriptions(session)
        self.wishes = SqlWishes(session)


class SqlStore:
    """Opens units of work on one database; shared between threads.

    Args:
        database: An opened database whose schema is current.
        settings: Keys and limits.
    """

    def __init__(self, database: Database, settings: StoreSettings) -> None:
        self.database = database
        self._settings = settings
        self._meter = SqlRequestMeter(database, settings.request_budget)

    @classmethod
    def open(cls, url: str, settings: StoreSettings) -> SqlStore:
        """Open a store by its database URL; the schema is not touched."""
        return cls(open_database(url), settings)

    @contextmanager
    def read(self) -> Iterator[SqlUnitOfWork]:
        """Open a read-only unit; it sees one snapshot."""
        with self.database.read() as session:
            yield SqlUnitOfWork(session, self._settings, locks=False)

    @contextmanager
    def write(self) -> Iterator[SqlUnitOfWork]:
        """Open a writing unit: commits at the end, rolls back on any error."""
        locks = not self.database.is_sqlite
        with self.database.write() as session:
            yield SqlUnitOfWork(session, self._settings, locks=locks)

    @property
    def meter(self) -> SqlRequestMeter:
        """Return the request meter, which commits on its own."""
        return self._meter

    def close(self) -> None:
        """Close every idle connection."""
        self.database.close()
