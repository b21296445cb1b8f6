"""One module per policy kind: its model, its pure findings, its message."""
