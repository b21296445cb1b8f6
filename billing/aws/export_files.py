"""Cost exports in a bucket: listed, and fetched into a bounded spool.

A file is fetched only as it was listed (its ETag must match), and only while all that is
needed at once fits the spool. Must not know what the files mean.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from billing.aws.calls import Call, ask, pages, whole
from billing.aws.failures import AWS_ERRORS, unavailable
from billing.aws.session import AwsClients
from billing.core.periods import utc
from billing.ports import ExportFile, IncompleteAnswerError, SourceUnavailableError

SOURCE = "exports"
PAGES_MAX = 100
SPOOL_BYTES_MAX = 20 * 1024**3
READ_BYTES_MAX = 16 * 1024**2
CHUNK_BYTES = 1024**2
TRIES_MAX = 2

LIST_FILES = Call(
    source=SOURCE,
    method="list_objects_v2",
    permission="s3:ListBucket",
    required=("IsTruncated",),
    page_in="ContinuationToken",
    page_out="NextContinuationToken",
)
GET_FILE = Call(
    source=SOURCE,
    method="get_object",
    permission="s3:GetObject",
    required=("Body", "ContentLength"),
)
PERMISSIONS = (LIST_FILES.permission, GET_FILE.permission)


class S3ExportFiles:
    """The ``ExportFiles`` port over a bucket and prefix that the caller can read."""

    def __init__(
        self,
        clients: AwsClients,
        location: str,
        *,
        spool: Path,
        bytes_max: int = SPOOL_BYTES_MAX,
    ) -> None:
        self._clients = clients
        self._location = location
        self._spool = spool
        self._bytes_max = bytes_max
        bucket, _, prefix = location.removeprefix("s3://").partition("/")
        self._bucket = bucket
        # A folder: what only begins with its name is another export's.
        self._prefix = f"{prefix.rstrip('/')}/" if prefix.strip("/") else ""

    @property
    def location(self) -> str:
        """Return the place as it is configured."""
        return self._location

    def files(self) -> Sequence[ExportFile]:
        """Return every object under the prefix."""
        asked = {"Bucket": self._bucket, "Prefix": self._prefix}
        found: list[ExportFile] = []
        for answer in pages(self._client(), LIST_FILES, asked, pages_max=PAGES_MAX):
            with whole(LIST_FILES):
                found += [self._file(raw) for raw in answer.get("Contents", ())]
        if not found:
            message = f"there is nothing under {self._location!r}"
            raise IncompleteAnswerError(SOURCE, message)
        return sorted(found, key=lambda one: one.key)

    def read(self, file: ExportFile) -> bytes:
        """Return the content of a small object."""
        if file.size_bytes > READ_BYTES_MAX:
            message = (
                f"{file.key!r} has {file.size_bytes} bytes: too large to be read whole"
            )
            raise SourceUnavailableError(SOURCE, message)
        return b"".join(self._chunks(file))

    @contextmanager
    def fetch(self, files: Sequence[ExportFile]) -> Iterator[Sequence[str]]:
        """Provide the objects in a folder of the spool, which goes when the context ends."""
        needed = sum(file.size_bytes for file in files)
        if needed > self._bytes_max:
            message = (
                f"one delivery has {needed} bytes, the spool may hold {self._bytes_max}"
            )
            raise SourceUnavailableError(SOURCE, message)
        with tempfile.TemporaryDirectory(prefix="gpucost-", dir=self._spool) as folder:
            paths = []
            for number, file in enumerate(files):
                name = f"{number:05}-{file.key.rpartition('/')[2]}"
                self._fetch(file, Path(folder) / name)
                paths.append(str(Path(folder) / name))
            yield paths

    def _fetch(self, file: ExportFile, path: Path) -> None:
        for attempt in range(TRIES_MAX):
            try:
                with path.open("wb") as target:
                    for chunk in self._chunks(file):
                        target.write(chunk)
            except IncompleteAnswerError:
                if attempt + 1 == TRIES_MAX:
                    raise
            else:
                return

    def _chunks(self, file: ExportFile) -> Iterator[bytes]:
        key = f"{self._prefix}{file.key}"
        asked = {"Bucket": self._bucket, "Key": key, "IfMatch": file.version}
        body = ask(self._client(), GET_FILE, asked)["Body"]
        size = 0
        try:
            for chunk in body.iter_chunks(CHUNK_BYTES):
                size += len(chunk)
                yield chunk
        except AWS_ERRORS as error:
            broken = unavailable(SOURCE, GET_FILE.permission, error)
            raise IncompleteAnswerError(SOURCE, str(broken)) from error
        if size != file.size_bytes:
            message = f"{file.key!r} ended after {size} of {file.size_bytes} bytes"
            raise IncompleteAnswerError(SOURCE, message)

    def _client(self) -> Any:
        return self._clients.client("s3")

    def _file(self, raw: Mapping[str, Any]) -> ExportFile:
        return ExportFile(
            key=str(raw["Key"]).removeprefix(self._prefix),
            size_bytes=int(raw["Size"]),
            modified_at=utc(raw["LastModified"]),
            version=str(raw["ETag"]),
        )
