"""The root of every failure that gpucost names; knows no cause of its own."""

from __future__ import annotations


class GpucostError(Exception):
    """Something failed in a way that gpucost can name.

    Subclasses build their message from typed arguments, keep those as attributes
    and carry a ``hint``: what a person can do about it.

    Attributes:
        code: Stable snake_case name for programs (the ``code`` of a JSON error).
        hint: What to do next, one sentence; empty when the message says it.
        suggestions: Near misses for something misspelt, best first.
    """

    code: str = "failed"
    hint: str = ""
    suggestions: tuple[str, ...] = ()
