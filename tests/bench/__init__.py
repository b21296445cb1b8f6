"""Speed and memory, measured beside named baselines; prints, and gates nothing."""
