"""The database schema and its versions; ships with the product.

Revisions stand on their own: they import no table, so a later change of the code never
changes what an old revision does. Knows nothing of what is stored.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, text

from billing.core.errors import GpucostError
from billing.ledger.database import for_reading

_HERE = Path(__file__).parent
_LOCK = 7_305_229  # Any number, the same in every release.


class SchemaError(GpucostError):
    """The database has a schema this release cannot work with."""

    code = "schema"

    def __init__(self, found: str | None) -> None:
        super().__init__(
            f"the database's schema is {found!r}, this release needs {head()!r}"
        )
        self.found = found
        is_older = found is None or found in _revisions()
        self.hint = (
            "run `gpucost db upgrade`"
            if is_older
            else "a newer gpucost wrote it: install that release, or restore a backup"
        )


def head() -> str:
    """Return the schema version of this release."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    assert found is not None
    return found


def current(engine: Engine) -> str | None:
    """Return the database's schema version; None for an empty database."""
    with for_reading(engine).connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def needs_upgrade(engine: Engine) -> bool:
    """Tell whether the database is empty or of an older release.

    Raises:
        SchemaError: A newer release wrote it.
    """
    found = current(engine)
    if found is not None and found not in _revisions():
        raise SchemaError(found)
    return found != head()


def check(engine: Engine) -> None:
    """Make sure that the schema is the one of this release.

    Raises:
        SchemaError: It is older, newer or missing.
    """
    found = current(engine)
    if found != head():
        raise SchemaError(found)


def upgrade(engine: Engine, revision: str = "head") -> str:
    """Bring the schema up to this release, in one transaction; return its version.

    Two processes that do it at once do it once.

    Raises:
        SchemaError: A newer release wrote the database.
    """
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config = _config(connection)
        try:
            command.upgrade(config, revision)
        except CommandError as error:
            raise SchemaError(_revision(connection)) from error
        return _revision(connection) or ""


def downgrade(engine: Engine, revision: str) -> None:
    """Take the schema back to a revision, in one transaction; "base" empties it."""
    with engine.begin() as connection:
        command.downgrade(_config(connection), revision)


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _revisions() -> frozenset[str]:
    scripts = ScriptDirectory.from_config(_config())
    return frozenset(script.revision for script in scripts.walk_revisions())


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    if connection is not None:
        config.attributes["connection"] = connection
    return config
