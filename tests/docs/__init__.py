"""The pages of docs/, executed."""
