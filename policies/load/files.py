"""Files and folders of policies: found, bounded, read; nothing outside a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from policies.load.errors import LoadError, located
from policies.load.tree import BYTES_MAX, Problem, decode

FILES_MAX = 500
SUFFIXES = frozenset({".yaml", ".yml"})
#: Files of tests lie beside the policies they are about.
TEST_SUFFIXES = (".test.yaml", ".test.yml")


def is_test(path: Path) -> bool:
    """Tell whether a file holds tests of policies, by its name."""
    return path.name.endswith(TEST_SUFFIXES)


def yaml_files(
    paths: Iterable[Path | str], *, tests: bool = False
) -> tuple[list[Path], list[LoadError]]:
    """List the files of policies (or of tests) that paths mean, sorted, each once.

    A folder without any is an error for policies, and none for tests.
    """
    found: dict[Path, Path] = {}
    errors: list[LoadError] = []
    for path in map(Path, paths):
        try:
            inside = list(_in_folder(path)) if path.is_dir() else [path]
            files = [one for one in inside if is_test(one) is tests]
            if path.is_dir() and not files and not tests:
                errors.append(_error(path, "the folder holds no .yaml file"))
            for file in files:
                found.setdefault(file.resolve(), file)
                if path.is_dir() and not file.resolve().is_relative_to(path.resolve()):
                    del found[file.resolve()]
                    errors.append(_error(file, "the link leads out of its folder"))
        except (OSError, ValueError, RuntimeError) as error:
            errors.append(_error(path, f"cannot be read: {_reason(error)}"))
    if len(found) > FILES_MAX:
        first = next(iter(found.values()))
        return [], [_error(first, f"more than {FILES_MAX} files")]
    return sorted(found.values()), errors


def _in_folder(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        if file.suffix in SUFFIXES and not any(part.startswith(".") for part in parts):
            yield file


def read_file(path: Path) -> tuple[str | None, LoadError | None]:
    """Read one file as text; an error says what is wrong with it as a whole."""
    try:
        raw = _read(path)
    except (OSError, ValueError) as error:
        return None, _error(path, f"cannot be read: {_reason(error)}")
    text = decode(raw)
    if isinstance(text, Problem):
        return None, located(str(path), text)
    return text, None


def _read(path: Path) -> bytes:
    """Read a regular file, one byte more than allowed at most; never wait on a pipe."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            message = "it is not a regular file"
            raise ValueError(message)
        return file.read(BYTES_MAX + 1)


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else str(error)
    return (said or type(error).__name__).lower()


def _error(path: Path, message: str) -> LoadError:
    return located(str(path), Problem(line=1, column=1, message=message))
