"""Pure policy evaluation and approval decisions: no I/O, no clock."""
