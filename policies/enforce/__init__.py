"""The only place that changes anything in AWS; what decides is `policies.core.actions`."""
