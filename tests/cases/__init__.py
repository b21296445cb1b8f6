"""Faults that real programs of this kind had, each held at the level of its user."""
