"""What should be true: policies, their findings, and decisions about them.

Knows billing's values; knows nothing of Slack or of who is told.
"""
