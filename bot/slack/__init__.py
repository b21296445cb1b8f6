"""Slack's edge: listeners, the notifier, the directory. Knows views and ports, no SQL."""
