"""Where cost exports lie, as a protocol: a folder or a bucket, listed and fetched.

Names roles only: no boto3, no file system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """One file below a place that exports are delivered to.

    Attributes:
        key: Its path below the place, parts separated by ``/``.
        version: A text that changes whenever the content does.
    """

    key: str
    size_bytes: int
    modified_at: datetime
    version: str


class ExportFiles(Protocol):
    """A place that exports are delivered to."""

    @property
    def location(self) -> str:
        """Return the place as it is configured: by it an export is known again."""

    def files(self) -> Sequence[ExportFile]:
        """Return every file, sorted by key.

        Raises:
            SourceUnavailableError: The place is not there or cannot be listed.
        """

    def read(self, file: ExportFile) -> bytes:
        """Return the content of a small file."""

    def fetch(
        self, files: Sequence[ExportFile]
    ) -> AbstractContextManager[Sequence[str]]:
        """Provide the files as paths on this machine until the context ends.

        Raises:
            SourceUnavailableError: One changed since it was listed, or is not there.
        """


class RemoteTable(Protocol):
    """A table that an engine far away reads, such as Athena's."""

    @property
    def name(self) -> str:
        """Return its full name as SQL."""

    def columns(self) -> Mapping[str, str]:
        """Return column -> type, in capitals: VARCHAR, DOUBLE, MAP(VARCHAR, VARCHAR).

        Raises:
            SourceUnavailableError: It is not there or may not be read.
        """

    def run(self, sql: str) -> Iterator[Sequence[Sequence[str | None]]]:
        """Yield the rows of one statement in pages, as texts.

        Raises:
            SourceUnavailableError: The statement failed, or reads more than it may.
        """
