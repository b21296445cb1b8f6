"""What was spent: charges, fleet, prices and the ledger that holds them.

Knows nothing of policies, of Slack or of who asks.
"""
