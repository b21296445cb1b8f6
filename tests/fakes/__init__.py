"""Fakes of the ports: real behaviour, kept in memory."""
