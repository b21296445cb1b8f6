"""Dated snapshot of AWS's spot instance advisor, accelerator types only: plain data.

Linux. Each entry reads ``region=saving/band``: percent saved over on demand, and the
index of the band of how often an instance was taken back in a month.

Source:
    https://aws.amazon.com/ec2/spot/instance-advisor/ as kept in
    https://github.com/alexei-led/spotinfo (Apache-2.0, commit 05e933139449),
    July 2025, trimmed to accelerator types and to Linux.
"""

from __future__ import annotations

from typing import Final

#: When the snapshot was taken.
PUBLISHED: Final = "2025-07-01T00:00:00Z"

#: Instance type -> entries by region.
BANDS: Final[dict[str, str]] = {
    "dl1.24xlarge": "us-east-1=88/2 us-west-2=72/0",
    "dl2q.24xlarge": "eu-central-1=71/3 us-west-2=73/1",
    "g4ad.16xlarge": (
        "ap-northeast-1=61/0 ca-central-1=65/0 eu-central-1=78/0 eu-west-1=56/0 "
        "eu-west-2=65/0 us-east-1=54/0 us-east-2=78/0 us-west-2=64/0"
    ),
    "g4ad.2xlarge": (
        "ap-northeast-1=57/0 ca-central-1=64/0 eu-central-1=60/4 eu-west-1=55/0 "
        "eu-west-2=62/0 us-east-1=53/0 us-east-2=74/0 us-west-2=62/0"
    ),
    "g4ad.4xlarge": (
        "ap-northeast-1=55/0 ca-central-1=64/0 eu-central-1=56/2 eu-west-1=53/0 "
        "eu-west-2=60/0 us-east-1=57/0 us-east-2=70/0 us-west-2=58/0"
    ),
    "g4ad.8xlarge": (
        "ap-northeast-1=57/0 ca-central-1=65/0 eu-central-1=58/0 eu-west-1=56/0 "
        "eu-west-2=65/0 us-east-1=58/0 us-east-2=73/0 us-west-2=65/0"
    ),
    "g4ad.xlarge": (
        "ap-northeast-1=60/0 ca-central-1=65/0 eu-central-1=68/0 eu-west-1=54/0 "
        "eu-west-2=65/0 us-east-1=67/0 us-east-2=71/0 us-west-2=62/0"
    ),
    "g4dn.12xlarge": (
        "af-south-1=87/0 ap-east-1=49/4 ap-northeast-1=57/4 ap-northeast-2=51/4 "
        "ap-northeast-3=63/4 ap-south-1=65/3 ap-southeast-1=64/4 ap-southeast-2=67/4 "
        "ca-central-1=64/3 eu-central-1=72/4 eu-north-1=57/4 eu-south-1=52/4 "
        "eu-west-1=56/2 eu-west-2=66/1 eu-west-3=67/1 me-south-1=72/0 sa-east-1=66/3 "
        "us-east-1=64/2 us-east-2=65/3 us-west-1=73/4 us-west-2=63/2"
    ),
    "g4dn.16xlarge": (
        "af-south-1=90/0 ap-east-1=90/0 ap-northeast-1=69/4 ap-northeast-2=71/4 "
        "ap-northeast-3=64/0 ap-south-1=90/4 ap-southeast-1=86/3 ap-southeast-2=85/4 "
        "ca-central-1=64/0 eu-central-1=76/4 eu-north-1=89/3 eu-south-1=69/0 "
        "eu-west-1=57/3 eu-west-2=64/3 eu-west-3=69/0 me-south-1=72/0 sa-east-1=89/4 "
        "us-east-1=76/4 us-east-2=79/4 us-west-1=82/4 us-west-2=71/3"
    ),
    "g4dn.2xlarge": (
        "af-south-1=74/4 ap-east-1=73/3 ap-northeast-1=60/4 ap-northeast-2=67/4 "
        "ap-northeast-3=64/0 ap-south-1=71/4 ap-southeast-1=72/4 ap-southeast-2=69/4 "
        "ca-central-1=65/0 eu-central-1=71/4 eu-north-1=72/4 eu-south-1=63/4 "
        "eu-west-1=55/2 eu-west-2=65/4 eu-west-3=69/3 me-south-1=72/0 sa-east-1=89/1 "
        "us-east-1=61/4 us-east-2=68/3 us-west-1=55/4 us-west-2=63/4"
    ),
    "g4dn.4xlarge": (
        "af-south-1=74/4 ap-east-1=86/3 ap-northeast-1=69/4 ap-northeast-2=64/4 "
        "ap-northeast-3=65/4 ap-south-1=70/4 ap-southeast-1=68/4 ap-southeast-2=77/4 "
        "ca-central-1=65/0 eu-central-1=67/4 eu-north-1=70/3 eu-south-1=64/0 "
        "eu-west-1=56/2 eu-west-2=64/2 eu-west-3=67/2 me-south-1=72/0 sa-east-1=87/4 "
        "us-east-1=68/4 us-east-2=60/4 us-west-1=55/4 us-west-2=70/4"
    ),
    "g4dn.8xlarge": (
        "af-south-1=86/4 ap-east-1=90/0 ap-northeast-1=67/4 ap-northeast-2=73/4 "
        "ap-northeast-3=65/4 ap-south-1=81/4 ap-southeast-1=79/4 ap-southeast-2=83/4 "
        "ca-central-1=65/0 eu-central-1=64/4 eu-north-1=81/3 eu-south-1=64/0 "
        "eu-west-1=56/4 eu-west-2=66/4 eu-west-3=68/3 me-south-1=72/0 sa-east-1=89/4 "
        "us-east-1=63/4 us-east-2=64/4 us-west-1=75/4 us-west-2=67/4"
    ),
    "g4dn.metal": (
        "af-south-1=83/0 ap-east-1=42/2 ap-northeast-1=51/4 ap-northeast-2=62/0 "
        "ap-northeast-3=64/0 ap-south-1=56/4 ap-southeast-1=82/1 ap-southeast-2=58/4 "
        "ca-central-1=65/0 eu-central-1=73/2 eu-north-1=61/4 eu-south-1=54/4 "
        "eu-west-1=54/2 eu-west-2=64/1 eu-west-3=68/0 me-south-1=68/0 sa-east-1=68/1 "
        "us-east-1=51/4 us-east-2=56/1 us-west-1=70/1 us-west-2=58/4"
    ),
    "g4dn.xlarge": (
        "af-south-1=63/4 ap-east-1=88/0 ap-northeast-1=67/2 ap-northeast-2=64/1 "
        "ap-northeast-3=64/0 ap-south-1=69/4 ap-southeast-1=68/0 ap-southeast-2=70/3 "
        "ca-central-1=65/1 eu-central-1=62/2 eu-north-1=65/4 eu-south-1=64/0 "
        "eu-west-1=54/1 eu-west-2=66/0 eu-west-3=69/0 me-south-1=73/1 sa-east-1=88/4 "
        "us-east-1=64/3 us-east-2=64/1 us-west-1=59/1 us-west-2=64/4"
    ),
    "g5.12xlarge": (
        "ap-northeast-1=69/4 ap-northeast-2=56/0 ap-south-1=68/4 ap-southeast-2=83/4 "
        "ap-southeast-3=89/1 ca-central-1=64/3 eu-central-1=80/4 eu-north-1=76/4 "
        "eu-west-1=56/4 eu-west-2=67/4 il-central-1=62/4 me-central-1=76/0 "
        "sa-east-1=82/0 us-east-1=58/4 us-east-2=63/4 us-west-2=70/4"
    ),
    "g5.16xlarge": (
        "ap-northeast-1=68/2 ap-northeast-2=67/0 ap-south-1=89/4 ap-southeast-2=87/4 "
        "ap-southeast-3=90/0 ca-central-1=64/0 eu-central-1=78/4 eu-north-1=67/4 "
        "eu-west-1=55/4 eu-west-2=66/2 il-central-1=51/4 me-central-1=76/0 "
        "sa-east-1=87/4 us-east-1=61/4 us-east-2=66/4 us-west-2=69/1"
    ),
    "g5.24xlarge": (
        "ap-northeast-1=69/0 ap-northeast-2=27/0 ap-south-1=85/4 ap-southeast-2=89/0 "
        "ap-southeast-3=89/0 ca-central-1=51/1 eu-central-1=74/4 eu-north-1=88/1 "
        "eu-west-1=56/0 eu-west-2=66/4 il-central-1=62/0 me-central-1=73/0 "
        "sa-east-1=71/0 us-east-1=57/4 us-east-2=64/4 us-west-2=70/4"
    ),
    "g5.2xlarge": (
        "ap-northeast-1=61/4 ap-northeast-2=56/4 ap-south-1=69/1 ap-southeast-2=62/4 "
        "ap-southeast-3=87/4 ca-central-1=64/4 eu-central-1=66/3 eu-north-1=63/4 "
        "eu-west-1=54/0 eu-west-2=65/4 il-central-1=53/2 me-central-1=61/4 "
        "sa-east-1=66/4 us-east-1=58/3 us-east-2=57/3 us-west-2=59/4"
    ),
    "g5.48xlarge": (
        "ap-northeast-1=67/0 ap-northeast-2=16/0 ap-south-1=89/1 ap-southeast-2=80/0 "
        "ap-southeast-3=89/0 ca-central-1=44/1 eu-central-1=54/0 eu-north-1=87/2 "
        "eu-west-1=57/0 eu-west-2=64/0 il-central-1=16/0 me-central-1=9/0 "
        "sa-east-1=43/0 us-east-1=71/4 us-east-2=77/4 us-west-2=72/4"
    ),
    "g5.4xlarge": (
        "ap-northeast-1=66/4 ap-northeast-2=44/4 ap-south-1=88/4 ap-southeast-2=69/4 "
        "ap-southeast-3=88/4 ca-central-1=62/0 eu-central-1=69/4 eu-north-1=73/3 "
        "eu-west-1=56/4 eu-west-2=66/2 il-central-1=49/0 me-central-1=69/0 "
        "sa-east-1=58/4 us-east-1=60/2 us-east-2=57/4 us-west-2=70/3"
    ),
    "g5.8xlarge": (
        "ap-northeast-1=62/4 ap-northeast-2=68/4 ap-south-1=84/4 ap-southeast-2=79/4 "
        "ap-southeast-3=88/4 ca-central-1=64/4 eu-central-1=74/4 eu-north-1=66/4 "
        "eu-west-1=55/3 eu-west-2=65/4 il-central-1=60/3 me-central-1=75/0 "
        "sa-east-1=84/4 us-east-1=59/4 us-east-2=58/4 us-west-2=70/4"
    ),
    "g5.xlarge": (
        "ap-northeast-1=51/2 ap-northeast-2=48/4 ap-south-1=69/4 ap-southeast-2=71/3 "
        "ap-southeast-3=76/4 ca-central-1=61/4 eu-central-1=59/4 eu-north-1=72/1 "
        "eu-west-1=56/2 eu-west-2=66/1 il-central-1=61/3 me-central-1=62/1 "
        "sa-east-1=82/4 us-east-1=59/4 us-east-2=58/2 us-west-2=63/4"
    ),
    "g5g.16xlarge": (
        "ap-northeast-1=68/0 ap-northeast-2=78/0 ap-southeast-1=84/0 "
        "eu-central-1=90/0 eu-south-2=76/0 us-east-1=78/1 us-west-2=72/0"
    ),
    "g5g.2xlarge": (
        "ap-northeast-1=64/0 ap-northeast-2=68/0 ap-southeast-1=66/4 "
        "eu-central-1=70/0 eu-south-2=78/0 us-east-1=48/1 us-west-2=63/1"
    ),
    "g5g.4xlarge": (
        "ap-northeast-1=70/4 ap-northeast-2=71/0 ap-southeast-1=65/0 "
        "eu-central-1=69/1 eu-south-2=78/0 us-east-1=63/0 us-west-2=56/4"
    ),
    "g5g.8xlarge": (
        "ap-northeast-1=69/0 ap-northeast-2=77/0 ap-southeast-1=58/0 "
        "eu-central-1=78/0 eu-south-2=75/0 us-east-1=58/2 us-west-2=67/0"
    ),
    "g5g.metal": (
        "ap-northeast-1=69/0 ap-northeast-2=78/0 ap-southeast-1=83/1 "
        "eu-central-1=90/0 eu-south-2=90/0 us-east-1=78/0 us-west-2=72/0"
    ),
    "g5g.xlarge": (
        "ap-northeast-1=68/0 ap-northeast-2=72/0 ap-southeast-1=68/2 "
        "eu-central-1=65/3 eu-south-2=65/0 us-east-1=67/0 us-west-2=68/0"
    ),
    "g6.12xlarge": (
        "ap-northeast-1=62/4 ap-northeast-2=76/3 ap-south-1=89/1 ap-southeast-2=71/1 "
        "ap-southeast-5=35/2 ca-central-1=65/0 eu-central-1=65/0 eu-central-2=68/3 "
        "eu-north-1=74/1 eu-south-2=66/4 eu-west-2=65/3 eu-west-3=56/4 "
        "sa-east-1=89/2 us-east-1=59/4 us-east-2=60/4 us-west-2=62/4"
    ),
    "g6.16xlarge": (
        "ap-northeast-1=64/1 ap-northeast-2=78/2 ap-south-1=88/1 ap-southeast-2=73/0 "
        "ap-southeast-5=50/2 ca-central-1=64/2 eu-central-1=71/0 eu-central-2=69/3 "
        "eu-north-1=80/3 eu-south-2=70/3 eu-west-2=64/2 eu-west-3=70/2 "
        "sa-east-1=86/3 us-east-1=64/3 us-east-2=66/3 us-west-2=66/1"
    ),
    "g6.24xlarge": (
        "ap-northeast-1=67/2 ap-northeast-2=76/3 ap-south-1=89/3 ap-southeast-2=80/1 "
        "ap-southeast-5=34/3 ca-central-1=65/2 eu-central-1=84/0 eu-central-2=69/3 "
        "eu-north-1=87/4 eu-south-2=50/3 eu-west-2=65/2 eu-west-3=71/2 "
        "sa-east-1=89/1 us-east-1=56/4 us-east-2=64/4 us-west-2=60/4"
    ),
    "g6.2xlarge": (
        "ap-northeast-1=60/4 ap-northeast-2=69/4 ap-south-1=75/2 ap-southeast-2=69/1 "
        "ap-southeast-5=36/1 ca-central-1=62/0 eu-central-1=72/1 eu-central-2=70/2 "
        "eu-north-1=62/2 eu-south-2=64/3 eu-west-2=65/4 eu-west-3=60/4 "
        "sa-east-1=60/4 us-east-1=58/4 us-east-2=61/4 us-west-2=54/4"
    ),
    "g6.48xlarge": (
        "ap-northeast-1=69/2 ap-northeast-2=69/0 ap-south-1=89/1 ap-southeast-2=88/1 "
        "ap-southeast-5=38/4 ca-central-1=64/1 eu-central-1=89/0 eu-central-2=69/2 "
        "eu-north-1=88/4 eu-south-2=48/3 eu-west-2=65/2 eu-west-3=72/2 "
        "sa-east-1=89/1 us-east-1=69/4 us-east-2=78/4 us-west-2=72/4"
    ),
    "g6.4xlarge": (
        "ap-northeast-1=63/4 ap-northeast-2=72/4 ap-south-1=90/4 ap-southeast-2=71/0 "
        "ap-southeast-5=51/1 ca-central-1=64/1 eu-central-1=67/0 eu-central-2=71/2 "
        "eu-north-1=72/2 eu-south-2=71/3 eu-west-2=64/4 eu-west-3=59/4 "
        "sa-east-1=80/4 us-east-1=57/4 us-east-2=65/4 us-west-2=63/4"
    ),
    "g6.8xlarge": (
        "ap-northeast-1=65/2 ap-northeast-2=76/4 ap-south-1=84/1 ap-southeast-2=72/0 "
        "ap-southeast-5=51/2 ca-central-1=66/3 eu-central-1=69/3 eu-central-2=70/3 "
        "eu-north-1=72/2 eu-south-2=72/3 eu-west-2=66/3 eu-west-3=64/2 "
        "sa-east-1=89/4 us-east-1=56/4 us-east-2=61/3 us-west-2=63/2"
    ),
    "g6.xlarge": (
        "ap-northeast-1=56/4 ap-northeast-2=71/4 ap-south-1=76/2 ap-southeast-2=68/0 "
        "ap-southeast-5=51/2 ca-central-1=61/1 eu-central-1=64/2 eu-central-2=69/3 "
        "eu-north-1=69/1 eu-south-2=60/2 eu-west-2=64/3 eu-west-3=59/4 "
        "sa-east-1=86/3 us-east-1=49/4 us-east-2=58/4 us-west-2=47/4"
    ),
    "g6e.12xlarge": (
        "ap-northeast-1=60/0 ap-northeast-2=61/0 eu-central-1=59/2 eu-north-1=70/4 "
        "eu-south-2=62/0 us-east-1=56/4 us-east-2=57/2 us-west-2=54/4"
    ),
    "g6e.16xlarge": (
        "ap-northeast-1=65/1 ap-northeast-2=75/0 eu-central-1=75/3 eu-north-1=71/2 "
        "eu-south-2=75/3 us-east-1=66/3 us-east-2=71/4 us-west-2=69/2"
    ),
    "g6e.24xlarge": (
        "ap-northeast-1=69/2 ap-northeast-2=55/0 eu-central-1=76/1 eu-north-1=67/4 "
        "eu-south-2=64/1 us-east-1=74/4 us-east-2=63/4 us-west-2=69/4"
    ),
    "g6e.2xlarge": (
        "ap-northeast-1=60/0 ap-northeast-2=61/0 eu-central-1=59/4 eu-north-1=52/4 "
        "eu-south-2=72/4 us-east-1=63/2 us-east-2=52/4 us-west-2=32/4"
    ),
    "g6e.48xlarge": (
        "ap-northeast-1=69/0 ap-northeast-2=71/0 eu-central-1=78/0 eu-north-1=79/0 "
        "eu-south-2=62/4 us-east-1=68/4 us-east-2=79/4 us-west-2=66/2"
    ),
    "g6e.4xlarge": (
        "ap-northeast-1=64/0 ap-northeast-2=70/0 eu-central-1=67/4 eu-north-1=59/4 "
        "eu-south-2=77/0 us-east-1=62/4 us-east-2=58/4 us-west-2=52/4"
    ),
    "g6e.8xlarge": (
        "ap-northeast-1=68/0 ap-northeast-2=75/0 eu-central-1=71/2 eu-north-1=70/3 "
        "eu-south-2=54/0 us-east-1=66/4 us-east-2=63/4 us-west-2=70/4"
    ),
    "g6e.xlarge": (
        "ap-northeast-1=65/0 ap-northeast-2=55/1 eu-central-1=68/4 eu-north-1=63/4 "
        "eu-south-2=77/2 us-east-1=58/1 us-east-2=65/4 us-west-2=50/4"
    ),
    "gr6.4xlarge": (
        "ap-northeast-1=65/1 ap-northeast-2=72/4 ap-south-1=87/3 ap-southeast-2=72/0 "
        "ap-southeast-5=52/3 ca-central-1=65/1 eu-central-1=69/1 eu-central-2=70/3 "
        "eu-north-1=81/4 eu-south-2=70/2 eu-west-2=64/3 eu-west-3=70/3 "
        "sa-east-1=84/4 us-east-1=57/4 us-east-2=76/0 us-west-2=67/4"
    ),
    "gr6.8xlarge": (
        "ap-northeast-1=69/2 ap-northeast-2=76/3 ap-south-1=90/1 ap-southeast-2=74/1 "
        "ap-southeast-5=34/2 ca-central-1=64/3 eu-central-1=70/2 eu-central-2=71/3 "
        "eu-north-1=88/2 eu-south-2=69/2 eu-west-2=66/3 eu-west-3=70/3 "
        "sa-east-1=89/3 us-east-1=59/3 us-east-2=76/0 us-west-2=60/3"
    ),
    "inf1.24xlarge": (
        "af-south-1=89/4 ap-east-1=90/4 ap-northeast-1=62/4 ap-northeast-2=51/4 "
        "ap-south-1=89/4 ap-southeast-1=90/4 ap-southeast-2=83/4 ca-central-1=24/4 "
        "eu-central-1=85/4 eu-north-1=89/4 eu-south-1=64/4 eu-west-1=54/4 "
        "eu-west-2=65/4 eu-west-3=69/4 me-south-1=22/4 sa-east-1=90/4 us-east-1=72/4 "
        "us-east-2=72/4 us-west-1=81/4 us-west-2=72/4"
    ),
    "inf1.2xlarge": (
        "ap-east-1=72/4 ap-northeast-1=68/4 ap-northeast-2=71/4 ap-south-1=70/4 "
        "ap-southeast-1=72/4 ap-southeast-2=68/4 ca-central-1=65/4 eu-central-1=69/4 "
        "eu-north-1=79/4 eu-south-1=65/4 eu-west-1=54/4 eu-west-2=65/4 "
        "eu-west-3=68/4 me-south-1=72/4 sa-east-1=84/4 us-east-1=72/4 us-east-2=71/4 "
        "us-west-1=69/4 us-west-2=71/4"
    ),
    "inf1.6xlarge": (
        "ap-east-1=90/4 ap-northeast-1=68/4 ap-northeast-2=73/4 ap-south-1=74/4 "
        "ap-southeast-1=82/4 ap-southeast-2=77/4 ca-central-1=47/4 eu-central-1=73/4 "
        "eu-north-1=88/4 eu-south-1=64/4 eu-west-1=55/4 eu-west-2=64/4 "
        "eu-west-3=67/4 me-south-1=66/4 sa-east-1=87/4 us-east-1=65/4 us-east-2=72/4 "
        "us-west-1=76/4 us-west-2=70/4"
    ),
    "inf1.xlarge": (
        "ap-east-1=90/4 ap-northeast-1=68/4 ap-northeast-2=73/4 ap-south-1=72/4 "
        "ap-southeast-1=74/4 ap-southeast-2=73/4 ca-central-1=66/4 eu-central-1=72/4 "
        "eu-north-1=82/4 eu-south-1=64/4 eu-west-1=57/4 eu-west-2=65/4 "
        "eu-west-3=70/4 me-south-1=72/4 sa-east-1=85/4 us-east-1=72/4 us-east-2=73/4 "
        "us-west-1=73/4 us-west-2=72/4"
    ),
    "inf2.24xlarge": (
        "ap-northeast-1=66/0 ap-south-1=90/1 ap-southeast-1=89/3 ap-southeast-2=81/0 "
        "eu-central-1=85/0 eu-north-1=43/0 eu-west-1=56/3 eu-west-2=66/2 "
        "eu-west-3=69/3 sa-east-1=89/3 us-east-1=79/0 us-east-2=83/0 us-west-2=72/3"
    ),
    "inf2.48xlarge": (
        "ap-northeast-1=67/0 ap-south-1=90/1 ap-southeast-1=89/2 ap-southeast-2=88/2 "
        "eu-central-1=87/4 eu-north-1=73/0 eu-west-1=55/3 eu-west-2=66/1 "
        "eu-west-3=68/1 sa-east-1=90/1 us-east-1=86/1 us-east-2=86/0 us-west-2=72/1"
    ),
    "inf2.8xlarge": (
        "ap-northeast-1=67/4 ap-south-1=86/4 ap-southeast-1=80/2 ap-southeast-2=72/1 "
        "eu-central-1=76/4 eu-north-1=49/0 eu-west-1=56/0 eu-west-2=64/0 "
        "eu-west-3=69/2 sa-east-1=89/4 us-east-1=70/0 us-east-2=74/0 us-west-2=70/0"
    ),
    "inf2.xlarge": (
        "ap-northeast-1=67/4 ap-south-1=85/2 ap-southeast-1=81/2 ap-southeast-2=85/1 "
        "eu-central-1=80/0 eu-north-1=69/4 eu-west-1=56/1 eu-west-2=65/1 "
        "eu-west-3=69/4 sa-east-1=89/4 us-east-1=78/0 us-east-2=87/0 us-west-2=72/2"
    ),
    "p2.16xlarge": (
        "ap-northeast-1=51/4 ap-south-1=77/4 ap-southeast-1=36/4 ap-southeast-2=36/4 "
        "eu-west-1=35/4 us-east-1=34/4 us-east-2=44/4 us-west-2=32/4"
    ),
    "p2.8xlarge": (
        "ap-northeast-1=0/4 ap-northeast-2=0/4 ap-south-1=70/4 ap-southeast-1=70/4 "
        "ap-southeast-2=72/4 eu-central-1=68/4 eu-west-1=17/4 us-east-1=68/4 "
        "us-east-2=46/4 us-west-2=22/4"
    ),
    "p2.xlarge": (
        "ap-northeast-1=69/4 ap-northeast-2=81/4 ap-south-1=82/4 ap-southeast-1=87/4 "
        "ap-southeast-2=0/4 eu-central-1=70/4 eu-west-1=50/4 us-east-1=65/4 "
        "us-east-2=78/4 us-west-2=64/4"
    ),
    "p3.16xlarge": (
        "ap-northeast-1=69/4 ap-northeast-2=57/4 ap-southeast-1=73/4 "
        "ap-southeast-2=87/4 ca-central-1=54/4 eu-central-1=60/4 eu-west-1=55/4 "
        "eu-west-2=16/4 us-east-1=83/4 us-east-2=76/4 us-west-2=68/4"
    ),
    "p3.2xlarge": (
        "ap-northeast-1=69/4 ap-northeast-2=61/4 ap-southeast-1=87/4 "
        "ap-southeast-2=88/4 ca-central-1=65/4 eu-central-1=90/4 eu-west-1=56/4 "
        "eu-west-2=65/4 us-east-1=80/4 us-east-2=85/4 us-west-2=71/4"
    ),
    "p3.8xlarge": (
        "ap-northeast-1=68/4 ap-northeast-2=45/4 ap-southeast-1=83/4 "
        "ap-southeast-2=88/4 ca-central-1=67/4 eu-central-1=88/4 eu-west-1=54/4 "
        "eu-west-2=57/4 us-east-1=86/4 us-east-2=80/4 us-west-2=66/4"
    ),
    "p3dn.24xlarge": (
        "ap-northeast-1=68/4 eu-west-1=51/4 us-east-1=87/4 us-west-2=71/4"
    ),
    "p4d.24xlarge": (
        "ap-northeast-1=54/0 ap-northeast-2=57/0 ap-south-1=90/0 ap-southeast-2=79/0 "
        "eu-central-1=47/4 eu-west-1=34/4 sa-east-1=90/0 us-east-1=67/2 "
        "us-east-2=66/1 us-west-2=53/4"
    ),
    "p4de.24xlarge": (
        "ap-northeast-1=90/0 ap-southeast-1=90/0 eu-central-1=90/0 il-central-1=90/0 "
        "us-east-1=65/0 us-west-2=67/3"
    ),
    "p5.48xlarge": (
        "ap-northeast-1=44/2 ap-south-1=81/1 ap-southeast-2=27/3 ca-central-1=-62/0 "
        "eu-north-1=55/0 eu-west-2=39/2 sa-east-1=83/1 us-east-1=52/4 us-east-2=61/1 "
        "us-west-1=73/1 us-west-2=46/1"
    ),
    "p5en.48xlarge": (
        "ap-northeast-1=58/1 ap-northeast-2=68/1 ap-south-1=85/0 ap-southeast-3=85/1 "
        "eu-south-2=70/4 us-east-1=64/0 us-east-2=65/4 us-west-1=90/0 us-west-2=63/0"
    ),
    "trn1.2xlarge": "us-east-1=74/0 us-east-2=87/0 us-west-2=72/1",
    "trn1.32xlarge": "us-east-1=79/0 us-east-2=90/2 us-west-2=69/0",
    "trn1n.32xlarge": "us-east-1=75/0 us-east-2=90/3 us-west-2=70/3",
    "vt1.24xlarge": (
        "ap-northeast-1=70/3 eu-west-1=45/2 us-east-1=62/0 us-west-2=73/0"
    ),
    "vt1.3xlarge": ("ap-northeast-1=68/0 eu-west-1=56/2 us-east-1=58/1 us-west-2=66/4"),
    "vt1.6xlarge": ("ap-northeast-1=68/3 eu-west-1=52/1 us-east-1=61/0 us-west-2=68/4"),
}
