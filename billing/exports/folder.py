"""A folder, or one file, that exports are delivered to: nothing is copied or moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from billing.exports.errors import IncompleteExportError
from billing.ports import ExportFile


class ExportFolder:
    """The ``ExportFiles`` port over the file system."""

    def __init__(self, root: Path, location: str = "") -> None:
        self._root = root
        self._location = location or str(root)

    @property
    def location(self) -> str:
        """Return the place as it is configured."""
        return self._location

    def files(self) -> Sequence[ExportFile]:
        """Return every file below the folder, or the one file."""
        if self._root.is_file():
            paths = [self._root]
        elif self._root.is_dir():
            paths = sorted(path for path in self._root.rglob("*") if path.is_file())
        else:
            raise IncompleteExportError(f"there is no file or folder {self.location!r}")
        return [self._file(path) for path in paths]

    def read(self, file: ExportFile) -> bytes:
        """Return the content of a small file."""
        return self._path(file).read_bytes()

    @contextmanager
    def fetch(self, files: Sequence[ExportFile]) -> Iterator[Sequence[str]]:
        """Provide the files where they are."""
        for file in files:
            if self._file(self._path(file)) != file:
                raise IncompleteExportError(f"{file.key!r} changed since it was listed")
        yield [str(self._path(file)) for file in files]

    def _file(self, path: Path) -> ExportFile:
        state = path.stat()
        key = path.name if path == self._root else path.relative_to(self._root)
        return ExportFile(
            key=Path(key).as_posix(),
            size_bytes=state.st_size,
            modified_at=datetime.fromtimestamp(state.st_mtime, UTC),
            version=str(state.st_mtime_ns),
        )

    def _path(self, file: ExportFile) -> Path:
        return self._root if self._root.is_file() else self._root / file.key
