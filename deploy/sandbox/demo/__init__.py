"""`make demo`: the real gpucost on a simulated AWS and a simulated Slack, in a terminal."""
