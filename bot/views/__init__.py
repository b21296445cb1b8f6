"""Pure views: values in, Block Kit or terminal text out; no I/O, no clock."""
