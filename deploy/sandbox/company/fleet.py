"""The fleet at an instant: instances, their volumes, and what they were doing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from deploy.sandbox.aws.world import InstanceSeed, MetricSeed, SpotSeed, VolumeSeed
from deploy.sandbox.company.jobs import ACCOUNT, CRASHED_AT, FIRST, STINTS, Stint
from deploy.sandbox.company.prices import GPUS, SPOT, VOLUME_GIB, spot_price

#: Ended instances stay visible for about this long.
VISIBLE = timedelta(hours=1)
STEP = timedelta(minutes=5)
#: Signals exist around now only: nobody asks for older ones.
SIGNALS_BACK = timedelta(hours=2)
SIGNALS_AHEAD = timedelta(hours=2)
CARDS = {
    "p5": ("NVIDIA H100 80GB HBM3", "Hopper"),
    "p4d": ("NVIDIA A100-SXM4-40GB", "Ampere"),
    "g5": ("NVIDIA A10G", "Ampere"),
    "g6": ("NVIDIA L4", "Ada"),
}
BUSY_PCT = 91.0
BUSY_BYTES = 12e9
#: Less than a metric agent and some SSH keepalives send in five minutes.
QUIET_BYTES = 1.5e6


def instances(now: datetime) -> list[InstanceSeed]:
    """Return what EC2 shows at an instant."""
    found = []
    for stint in _visible(now):
        has_ended = stint.end is not None and stint.end <= now
        found += [
            InstanceSeed(
                id=instance_id,
                instance_type=stint.shape,
                launched_at=stint.start,
                account=ACCOUNT,
                region=stint.region,
                zone=f"{stint.region}a",
                state="terminated" if has_ended else "running",
                ended_at=stint.end if has_ended else None,
                lifecycle="spot" if stint.is_spot else None,
                tags=stint.tags,
            )
            for instance_id in stint.instance_ids()
        ]
    return found


def volumes(now: datetime) -> list[VolumeSeed]:
    """Return the volumes of what runs: they are deleted with their instance."""
    return [
        VolumeSeed(
            id=volume_id,
            created_at=stint.start,
            size_gib=VOLUME_GIB[stint.shape],
            account=ACCOUNT,
            region=stint.region,
            zone=f"{stint.region}a",
            instance=instance_id,
            tags=stint.tags,
        )
        for stint in running(now)
        for instance_id, volume_id in zip(
            stint.instance_ids(), stint.volume_ids(), strict=True
        )
    ]


def running(now: datetime) -> list[Stint]:
    """Return what runs at an instant."""
    return [
        one for one in STINTS if one.start <= now and (one.end is None or now < one.end)
    ]


def _visible(now: datetime) -> list[Stint]:
    return [
        one
        for one in STINTS
        if one.start <= now and (one.end is None or now < one.end + VISIBLE)
    ]


def spot_prices(now: datetime) -> list[SpotSeed]:
    """Return the spot market: a new price each midnight."""
    found = []
    day = FIRST
    while day <= now:
        found += [
            SpotSeed(
                at=day,
                instance_type=shape,
                zone="us-east-1a",
                price=str(spot_price(shape, day.date())),
            )
            for shape in SPOT
        ]
        day += timedelta(days=1)
    return found


def signals(now: datetime) -> list[MetricSeed]:
    """Return what CloudWatch knows around an instant."""
    first = now - SIGNALS_BACK
    first -= (first - FIRST) % STEP
    count = (SIGNALS_BACK + SIGNALS_AHEAD) // STEP
    times = [first + STEP * number for number in range(count)]
    found: list[MetricSeed] = []
    for stint in running(now):
        for index, instance_id in enumerate(stint.instance_ids()):
            found += _instance_signals(stint, index, instance_id, times)
    return found


def _instance_signals(
    stint: Stint, index: int, instance_id: str, times: list[datetime]
) -> Iterator[MetricSeed]:
    """Yield the signals of one instance; notebooks run no metric agent."""
    own = [instant for instant in times if instant >= stint.start]
    levels = [_level(stint, instant) for instant in own]
    wave = [((number * 7 + index * 3) % 9) - 4 for number in range(len(own))]
    card, arch = CARDS[stint.shape.partition(".")[0]]
    for gpu in range(GPUS[stint.shape]) if stint.phase != "notebook" else ():
        yield MetricSeed(
            namespace="CWAgent",
            name="nvidia_smi_utilization_gpu",
            dimensions={
                "InstanceId": instance_id,
                "index": str(gpu),
                "name": card,
                "arch": arch,
            },
            points=[
                (instant, level * (BUSY_PCT + move))
                for instant, level, move in zip(own, levels, wave, strict=True)
            ],
            account=ACCOUNT,
            region=stint.region,
        )
    yield from _host_signals(stint, instance_id, own, levels=levels)


def _host_signals(
    stint: Stint, instance_id: str, own: list[datetime], *, levels: list[float]
) -> Iterator[MetricSeed]:
    shapes = (
        ("CPUUtilization", "Percent", 1.5, 34.0),
        ("NetworkIn", "Bytes", QUIET_BYTES, BUSY_BYTES),
        ("NetworkOut", "Bytes", QUIET_BYTES, BUSY_BYTES),
        ("EBSReadBytes", "Bytes", 0.0, 4e9),
        ("EBSWriteBytes", "Bytes", 2e5, 1e9),
    )
    for name, unit, quiet, busy in shapes:
        yield MetricSeed(
            namespace="AWS/EC2",
            name=name,
            dimensions={"InstanceId": instance_id},
            points=[
                (instant, quiet + level * (busy - quiet))
                for instant, level in zip(own, levels, strict=True)
            ],
            unit=unit,
            account=ACCOUNT,
            region=stint.region,
        )


def _level(stint: Stint, instant: datetime) -> float:
    """Return how busy an instance is, from 0 to 1."""
    if stint.phase == "forgotten" and instant >= CRASHED_AT:
        return 0.0
    if stint.phase == "boot" and instant < stint.start + timedelta(minutes=40):
        return 0.0
    return 1.0
