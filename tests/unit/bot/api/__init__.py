"""The HTTP side of programs."""
