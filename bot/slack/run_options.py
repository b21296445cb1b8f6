"""Options of a planned run beyond its shape, as `/gpucost estimate` takes them.

Pure; what their values mean is read where estimates are made.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Options without a value.
FLAGS = frozenset({"interruptible"})
#: Options with a value, as on the command line.
VALUES = frozenset(
    {
        *("deadline", "stage", "compare", "on-premises", "retrain-per-year"),
        *("model-params", "bytes-per-param", "optimizer", "checkpoint-every", "keep"),
        "quoted-price",
    }
)
#: Words that need no option sign -> the option they stand for.
WORDS = {
    "interruptible": "interruptible",
    "experiment": "stage",
    "production": "stage",
}


def extras_of(found: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the options of a run that are given, sorted; a flag has the value ""."""
    known = FLAGS | VALUES
    return tuple(
        (key, "" if key in FLAGS else text.strip().lower())
        for key, text in sorted(found.items())
        if key in known
    )
