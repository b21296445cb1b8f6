"""Idle GPUs, commitments and checkpoints in words; pure."""

from __future__ import annotations

from billing.core.money import Rate
from bot.views.facts_values import IdleAnswer, IdleItem
from bot.views.words import binary_size, duration, plural

NO_INSTANCES = "no GPU instance runs, as far as the inventory knows"
NO_FAMILIES = "no GPU instance runs: name a family to see what covers it"
NO_LOCATIONS = (
    "no location is known: name one like s3://bucket/{job}/checkpoints/step-{step}/,"
    " or load a checkpoint-retention policy"
)
_NAMES = {
    "gpu_utilization": "GPU",
    "gpu_memory_used": "GPU memory",
    "cpu_utilization": "CPU",
    "network": "network",
    "disk": "disk",
}
_BYTES = frozenset({"network", "disk"})


def pct(value: float | None, *, none: str = "unknown") -> str:
    """Return a percentage to a whole.

    >>> pct(62.4), pct(None)
    ('62 %', 'unknown')
    """
    return none if value is None else f"{value:.0f} %"


def signal_name(name: str) -> str:
    """Return what a signal measures, in short."""
    return _NAMES.get(name, name)


def signal_text(name: str, value: float) -> str:
    """Return a signal with its value.

    >>> signal_text("gpu_utilization", 91.0), signal_text("network", 2_097_152)
    ('GPU 91 %', 'network 2 MiB/s')
    """
    shown = f"{binary_size(round(value))}/s" if name in _BYTES else f"{value:.0f} %"
    return f"{signal_name(name)} {shown}"


def idle_why(one: IdleItem) -> str:
    """Say why an instance is idle, busy or unknown, with its signals."""
    seen = ", ".join(
        signal_text(name, one.signals[name])
        for name in one.limits
        if name in one.signals
    )
    if one.state == "unknown":
        missing = "; ".join(one.missing).replace("_", " ")
        return f"missing: {missing}" + (f" (seen: {seen})" if seen else "")
    if one.state == "idle":
        held = f", quiet for {duration(one.quiet_for)}" if one.quiet_for else ""
        return f"at most {seen}{held}"
    some = ""
    if one.quiet_gpus and one.gpus:
        some = f"; {one.quiet_gpus} of {plural(one.gpus, 'GPU')} quiet"
    return f"up to {seen}{some}"


def steps_text(first: int, last: int) -> str:
    """Return a span of steps.

    >>> steps_text(5, 5), steps_text(500, 15000)
    ('step 5', 'steps 500 to 15,000')
    """
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def idle_headline(answer: IdleAnswer) -> str:
    """Say how many are idle and what they cost per hour."""
    idle = [one for one in answer.items if one.state == "idle"]
    unknown = sum(one.state == "unknown" for one in answer.items)
    rates = [one.rate for one in idle]
    known = [rate for rate in rates if rate is not None]
    cost = ""
    if known:
        rate = Rate(sum(one.nanos for one in known), known[0].currency)
        least = "at least " if len(known) < len(rates) else ""
        cost = f", {least}{rate}"
    of = plural(len(answer.items), "GPU instance")
    more = f"; {unknown:,} unknown" if unknown else ""
    return f"{len(idle):,} of {of} idle{cost}{more}"
