"""Where gpucost runs: imported by nothing in the product."""

from __future__ import annotations
