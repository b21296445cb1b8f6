"""The composition root: builds every adapter once and hands it inward.

Nothing but the command line imports it, one module at a time: a question about cost
loads neither AWS nor Slack libraries.
"""
