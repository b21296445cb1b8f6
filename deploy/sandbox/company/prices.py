"""The company's own price table: dollars as text, read as decimals.

The same public list prices that the AWS double answers, written down once more by
hand, so that a wrong price in the product shows.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

#: Dollars an hour on demand.
ON_DEMAND = {
    "p5.48xlarge": Decimal("55.04"),
    "p4d.24xlarge": Decimal("21.957642"),
    "g5.48xlarge": Decimal("16.288"),
    "g5.12xlarge": Decimal("5.672"),
    "g5.2xlarge": Decimal("1.212"),
    "g6.12xlarge": Decimal("4.6016"),
}
#: Dollars an hour on the spot market, one for each day of the week from Monday.
SPOT = {
    "p5.48xlarge": ("24.10", "24.60", "25.20", "25.90", "25.40", "23.70", "23.20"),
    "p4d.24xlarge": ("8.90", "9.10", "9.45", "9.80", "9.60", "8.75", "8.60"),
    "g6.12xlarge": ("1.84", "1.86", "1.92", "1.98", "1.94", "1.80", "1.78"),
}
GPUS = {
    "p5.48xlarge": 8,
    "p4d.24xlarge": 8,
    "g5.48xlarge": 8,
    "g5.12xlarge": 4,
    "g6.12xlarge": 4,
    "g5.2xlarge": 1,
}
#: Size of the volume that comes with each instance.
VOLUME_GIB = {
    "p5.48xlarge": 4000,
    "p4d.24xlarge": 2000,
    "g5.48xlarge": 1000,
    "g5.12xlarge": 500,
    "g6.12xlarge": 500,
    "g5.2xlarge": 200,
}
GP3_GIB_MONTH = Decimal("0.08")
MONTH_HOURS = 730

#: A compute plan covers two p5 nodes, around the clock or not.
PLAN_SHAPE = "p5.48xlarge"
PLAN_NODES = 2
PLAN_RATE = Decimal("33.024")

#: Plans on offer for it, in percent of its price on demand: numbers made up for the
#: demo, not AWS's; (kind, years) -> with no, partial and all upfront.
PLANS_OFFERED = {
    ("Compute", 1): (60, 58, 57),
    ("Compute", 3): (44, 42, 41),
    ("EC2Instance", 1): (57, 55, 54),
    ("EC2Instance", 3): (40, 38, 37),
}


def spot_price(shape: str, day: date) -> Decimal:
    """Return a day's spot price of one instance hour."""
    return Decimal(SPOT[shape][day.weekday()])
