"""The ledger in SQL: charges, usage and prices on SQLite or PostgreSQL."""
