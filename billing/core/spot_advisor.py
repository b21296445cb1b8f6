"""How often AWS takes spot capacity back, out of the shipped snapshot of its advisor.

A type or region the snapshot does not hold is None, never "rarely". Knows no network
and no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import lru_cache

from billing.core.data import spot_bands
from billing.core.gpus import bare_type
from billing.core.periods import utc

#: Bands of the advisor: their words, and the least and most percent a month.
#: The last one is open: half of all instances is what gpucost takes as its top.
_RANGES = (
    ("< 5 %", 0, 5),
    ("5-10 %", 5, 10),
    ("10-15 %", 10, 15),
    ("15-20 %", 15, 20),
    ("> 20 %", 20, 50),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotBand:
    """What the advisor says of a type in a region.

    Attributes:
        rank: 0 for the calmest band, 4 for the one above 20 % a month.
        label: Its words, such as ``5-10 %`` (of instances taken back in a month).
        saving_pct: Percent saved over on demand in the month before the snapshot.
        middle / top: Share taken back in a month: in the middle, and at the most.
    """

    rank: int
    label: str
    saving_pct: int
    middle: Fraction
    top: Fraction
    as_of: datetime


def spot_band(instance_type: str, region: str) -> SpotBand | None:
    """Return the band of a type in a region; None when the snapshot holds none.

    >>> found = spot_band("g5.12xlarge", "us-east-1")
    >>> found.label if found else None
    '> 20 %'
    """
    return _bands(bare_type(instance_type)).get(region)


def spot_regions(instance_type: str) -> tuple[str, ...]:
    """Return the regions in which the snapshot knows a type on spot, sorted."""
    return tuple(sorted(_bands(bare_type(instance_type))))


@lru_cache(maxsize=256)
def _bands(instance_type: str) -> dict[str, SpotBand]:
    as_of = utc(datetime.fromisoformat(spot_bands.PUBLISHED))
    found = {}
    for entry in spot_bands.BANDS.get(instance_type, "").split():
        region, _, figures = entry.partition("=")
        saving, _, rank = figures.partition("/")
        label, least, most = _RANGES[int(rank)]
        found[region] = SpotBand(
            rank=int(rank),
            label=label,
            saving_pct=int(saving),
            middle=Fraction(least + most, 200),
            top=Fraction(most, 100),
            as_of=as_of,
        )
    return found
