"""Pure values and arithmetic of cost: no I/O, no clock, no vendor library."""
