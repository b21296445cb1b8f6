"""Public data that ships with gpucost, as modules of literals: no behaviour, no I/O."""
