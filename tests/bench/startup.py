"""How long `gpucost --help` takes beside a bare Typer program of the same commands."""

from __future__ import annotations

import keyword
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.figures import Figure, interleaved, ratio, seconds

ROUNDS = 15
TIMES_AT_MOST = 1.3
HEAVY = ("boto3", "duckdb", "sqlmodel", "slack_bolt")
PROBE = f"""
import sys
sys.argv = ["gpucost", "--help"]
from bot.__main__ import main
try:
    main()
except SystemExit:
    pass
print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""


def measure(folder: Path) -> list[Figure]:
    """Run both programs in turn; wall and CPU come from the same runs."""
    bare = folder / "bare.py"
    bare.write_text(bare_program(), encoding="utf-8")
    own_runs: list[tuple[float, float]] = []
    bare_runs: list[tuple[float, float]] = []
    interleaved(
        lambda: _run([*_gpucost(), "--help"], own_runs),
        lambda: _run([sys.executable, str(bare), "--help"], bare_runs),
        rounds=ROUNDS,
    )
    return [
        _figure(name, [run[at] for run in own_runs], [run[at] for run in bare_runs])
        for at, name in enumerate(("gpucost --help, wall", "gpucost --help, CPU"))
    ]


def heavy_imports() -> list[str]:
    """Name the heavy packages that `gpucost --help` imports; there should be none."""
    command = [sys.executable, "-c", PROBE]
    probe = subprocess.run(command, check=True, capture_output=True, text=True)
    return probe.stderr.split()


def bare_program() -> str:
    """Write a Typer program with the product's commands and nothing behind them."""
    lines = ["import typer", "app = typer.Typer(name='bare')"]
    for number, (name, command) in enumerate(_commands().items()):
        if not hasattr(command, "commands"):
            lines += _command("app", name, command)
            continue
        group = f"group_{number}"
        lines += [
            f"{group} = typer.Typer()",
            f"app.add_typer({group}, name={name!r}, help={_help(command)!r})",
        ]
        for inner_name, inner in command.commands.items():
            lines += _command(group, inner_name, inner)
    return "\n".join([*lines, "app()", ""])


def _command(app: str, name: str, command: Any) -> list[str]:
    function = name.replace("-", "_")
    if keyword.iskeyword(function):
        function += "_"
    text = _help(command)
    return [f"@{app}.command({name!r}, help={text!r})", f"def {function}(): ..."]


def _help(command: Any) -> str:
    return str(command.help or "").partition("\n")[0]


def _commands() -> dict[str, Any]:
    from typer.main import get_command

    from bot.cli import app

    commands: dict[str, Any] = getattr(get_command(app), "commands", {})
    return commands


def _gpucost() -> list[str]:
    """Return the console script, or what it does where nobody installed it."""
    script = Path(sys.executable).with_name("gpucost")
    return [str(script)] if script.exists() else [sys.executable, "-m", "bot"]


def _run(command: list[str], runs: list[tuple[float, float]]) -> float:
    """Run to the end and note the wall and CPU seconds of the whole process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"{command[0]} ended with {process.returncode}"
        raise RuntimeError(message)
    runs.append((wall, usage.ru_utime + usage.ru_stime))
    return wall


def _figure(name: str, own: list[float], bare: list[float]) -> Figure:
    ratios = ratio(own[1:], bare[1:])
    return Figure(
        name=name,
        own=seconds(median(own[1:])),
        baseline=f"bare Typer program {seconds(median(bare[1:]))}",
        ratio=ratios,
        target=f"<= {TIMES_AT_MOST}x",
        is_met=ratios[0] <= TIMES_AT_MOST,
    )
