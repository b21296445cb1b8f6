"""Peak memory of an ingest in a process of its own, for ever more pages.

``python -m tests.bench.memory URL FILE`` imports once and prints the peak in bytes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from tests.bench.ce_answers import Bill
from tests.bench.ce_server import serving
from tests.bench.figures import Figure, mebibytes
from tests.bench.product import importing

GROUPS_A_PAGE = 100
PAGES = (10, 100, 1_000)
ROUNDS = 1
TIMES_AT_MOST = 1.1
STATUS = Path("/proc/self/status")


def measure(folder: Path) -> list[Figure]:
    """Import bills of more and more pages; the baseline is the smallest one."""
    peaks = {pages: _peaks(folder, pages) for pages in PAGES}
    least = peaks[PAGES[0]]
    figures = []
    for pages in PAGES[1:]:
        ratios = [own / base for own, base in zip(peaks[pages], least, strict=True)]
        middle = sum(ratios) / len(ratios)
        figures.append(
            Figure(
                name=f"peak memory of an ingest, {pages:,} pages",
                own=mebibytes(max(peaks[pages])),
                baseline=f"{PAGES[0]} pages {mebibytes(max(least))}",
                ratio=(middle, min(ratios), max(ratios)),
                target=f"<= {TIMES_AT_MOST}x",
                is_met=middle <= TIMES_AT_MOST,
            )
        )
    return figures


def _peaks(folder: Path, pages: int) -> list[int]:
    peaks = []
    with serving(Bill(groups=pages * GROUPS_A_PAGE, page=GROUPS_A_PAGE)) as url:
        for number in range(ROUNDS):
            path = folder / f"memory-{pages}-{number}.db"
            command = [sys.executable, "-m", __name__, url, str(path)]
            child = subprocess.run(command, check=True, capture_output=True, text=True)
            peaks.append(int(child.stdout.split()[-1]))
            path.unlink()
    return peaks


def peak() -> int:
    """Return this process's peak resident memory in bytes.

    `ru_maxrss` would do, but on Linux it starts at the peak of the process that
    started this one; the kernel's own high-water mark starts from nothing.
    """
    if STATUS.exists():
        for line in STATUS.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    url, path = sys.argv[1:3]
    with importing(url, Path(path)) as work:
        work()
    print(peak())


if __name__ == "__main__":
    main()
