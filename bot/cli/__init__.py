"""The command line: one module per family of commands, loaded as little as possible."""
