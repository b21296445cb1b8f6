"""Read-only adapters to AWS: boto3 behind the ports of billing.

Must not know how facts are stored, judged or shown, and never changes anything.
"""
