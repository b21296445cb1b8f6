"""The environment of `requirements-slow.txt`, and how a program of it is run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project import ROOT

PYTHON = ROOT / ".venv-slow" / "bin" / "python"
SECONDS_MAX = 280


def python() -> Path:
    """Return that environment's Python, or skip and say how to get it."""
    if not PYTHON.exists():
        pytest.skip(
            "needs Python 3.12 and requirements-slow.txt: `make check-slow` makes"
            " .venv-slow where python3.12 is found (or name it: SLOW_PYTHON=PATH)"
        )
    return PYTHON


def java() -> None:
    """Skip where Spark cannot start."""
    if shutil.which("java") is None:
        pytest.skip("needs Java 17 or newer for Spark: apt-get install default-jre")


def run(*command: str, folder: Path) -> str:
    """Run a program to its end and return what it printed."""
    done = subprocess.run(
        command, cwd=folder, check=False, capture_output=True, text=True,
        timeout=SECONDS_MAX,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
