"""Long runs against programs of an environment of their own: `make check-slow`."""
