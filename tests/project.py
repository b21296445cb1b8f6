"""The files of this project, as the tests about the project itself read them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("billing", "policies", "bot")


@cache
def files() -> tuple[Path, ...]:
    """List every file that is tracked, or would be, in the order of its path."""
    listed = subprocess.run(
        [
            *("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"),
            *("--cached", "--others", "--exclude-standard"),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    paths = {ROOT / name for name in listed.stdout.split("\0") if name}
    return tuple(sorted(path for path in paths if path.is_file()))


def python_files(*folders: str) -> list[Path]:
    """List the Python files, of the named top folders or of all."""
    return [
        path
        for path in files()
        if path.suffix == ".py" and (not folders or name_of(path).startswith(folders))
    ]


def name_of(path: Path) -> str:
    """Name a file as a reader of the repository does."""
    return path.relative_to(ROOT).as_posix()
