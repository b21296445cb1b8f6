"""AWS and Slack on a laptop, for the demo and the end-to-end tests."""

from __future__ import annotations
