"""How large a model's checkpoints are, how many a run writes, what keeping them costs.

Pure; the price of storage comes in as a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from billing.core.money import Money, Rate, round_half_even

#: Sizes are told in decimal units, as models' sizes are.
GIGABYTE = 10**9
TERABYTE = 10**12
#: The GB that S3 bills: 1,073,741,824 bytes (https://aws.amazon.com/s3/faqs/, "How will
#: I be charged and billed for my use of Amazon S3?").
BILLED_GB = 1 << 30
HOURS_PER_MONTH = 730
#: S3 Standard, US East (N. Virginia), first 50 TB, per GB-month
#: (https://aws.amazon.com/s3/pricing/, read 2026-11).
STORAGE_PER_GB_MONTH = Money.of("0.023")
STORAGE_NAME = "S3 Standard, us-east-1 list price of 2026-11"


class Optimizer(StrEnum):
    """What is saved beside the weights."""

    NONE = "none"
    ADAM = "adam"


#: Bytes per parameter beside the weights: Adam keeps a 32-bit copy of each weight and
#: two 32-bit moments (https://arxiv.org/abs/1910.02054, section 3).
STATE_BYTES = {Optimizer.NONE: 0, Optimizer.ADAM: 12}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPlan:
    """What a run saves, how often, and for how long it is kept.

    Attributes:
        params: Parameters of the model.
        bytes_per_param: 2 for 16-bit weights, 4 for 32-bit ones.
        every: Hours between two checkpoints.
        keep: Hours each one is kept.
    """

    params: int
    bytes_per_param: Fraction = Fraction(2)
    optimizer: Optimizer = Optimizer.NONE
    every: Fraction = Fraction(1, 2)
    keep: Fraction = Fraction(168)

    @property
    def size(self) -> int:
        """Return the bytes of one checkpoint.

        >>> CheckpointPlan(params=70 * 10**9).size // GIGABYTE
        140
        """
        each = self.bytes_per_param + STATE_BYTES[self.optimizer]
        return round_half_even(self.params * each)

    def count(self, hours: Fraction) -> int:
        """Return how many a run of so many hours writes.

        >>> CheckpointPlan(params=1).count(Fraction(168))
        336
        """
        return int(hours / self.every)

    def written(self, hours: Fraction) -> int:
        """Return the bytes that a run writes in all.

        >>> CheckpointPlan(params=70 * 10**9).written(Fraction(168)) / TERABYTE
        47.04
        """
        return self.size * self.count(hours)

    def kept_at_once(self, hours: Fraction) -> int:
        """Return how many are there at once at the most."""
        return min(self.count(hours), max(1, int(self.keep / self.every)))

    def cost(
        self, hours: Fraction, per_gb_month: Money = STORAGE_PER_GB_MONTH
    ) -> Money:
        """Return what keeping them costs: each one its size for the time it is kept."""
        gigabyte_hours = Fraction(self.written(hours), BILLED_GB) * self.keep
        rate = Rate(per_gb_month.nanos, per_gb_month.currency)
        nanos = round_half_even(rate.nanos * gigabyte_hours / HOURS_PER_MONTH)
        return Money(nanos, rate.currency)


def size_text(size: int) -> str:
    """Return a number of bytes for people, in decimal units.

    >>> size_text(140 * GIGABYTE), size_text(47_040 * GIGABYTE), size_text(350 * 10**6)
    ('140 GB', '47.04 TB', '0.35 GB')
    """
    if size >= TERABYTE:
        return f"{float(Fraction(size, TERABYTE)):,.4g} TB"
    return f"{float(Fraction(size, GIGABYTE)):,.4g} GB"
