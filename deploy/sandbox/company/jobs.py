"""What ran when: the jobs of October and November 2026, some instances a line.

Pure data. Every instant falls on a multiple of three minutes, so that hours are exact
decimals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

ACCOUNT = "012345678901"
REGIONS = ("us-east-1", "us-west-2")
#: The first day of the bill.
FIRST = datetime(2026, 10, 1, tzinfo=UTC)
MAIL = "example.com"

#: `-` stands for nothing: no job, no end. A forgotten instance runs and does nothing.
TABLE = """
job      team     owner env      shape        n buys      from        to          phase
job-101  nlp      maya  base     p5.48xlarge  2 on-demand 10-01T00:00 11-11T12:00 train
job-096  vision   omar  research p4d.24xlarge 4 on-demand 10-05T08:00 10-12T06:30 train
job-099  platform jonas dev      g5.48xlarge  2 on-demand 10-14T09:00 10-20T18:00 train
job-104  nlp      maya  research p4d.24xlarge 6 spot      10-19T07:00 10-27T19:12 train
job-108  vision   omar  research g6.12xlarge  8 spot      10-24T10:00 11-03T16:30 train
job-110  nlp      maya  research p5.48xlarge  4 on-demand 10-28T06:00 10-31T20:00 train
job-112  vision   omar  research g5.48xlarge  4 on-demand 11-02T08:00 11-06T20:00 train
job-115  vision   omar  research p4d.24xlarge 8 spot      11-05T09:30 11-11T21:45 train
job-117  nlp      maya  research p5.48xlarge  8 on-demand 11-09T09:00 11-12T07:00 crash
job-120  platform jonas dev      g6.12xlarge  2 on-demand 11-10T13:00 11-14T13:00 train
job-101  nlp      maya  base     p5.48xlarge  2 on-demand 11-13T12:00 11-23T02:00 crash
job-121  nlp      maya  research g6.12xlarge  4 spot      11-16T08:00 11-20T17:30 train
job-127  platform jonas dev      g5.48xlarge  1 on-demand 11-20T09:00 11-26T18:00 train
job-101  nlp      maya  base     p5.48xlarge  2 on-demand 11-23T10:00 -           train
job-123  nlp      maya  research p5.48xlarge  4 on-demand 11-24T18:00 -           train
job-124  vision   omar  research p4d.24xlarge 4 on-demand 11-25T13:03 11-25T13:27 crash
job-124  vision   omar  research p4d.24xlarge 4 on-demand 11-25T14:00 11-25T14:21 crash
job-124  vision   omar  research p4d.24xlarge 4 on-demand 11-25T15:30 11-25T15:54 crash
job-118  vision   omar  research p4d.24xlarge 1 on-demand 11-26T10:00 11-28T15:12 crash
job-118  vision   omar  research p4d.24xlarge 1 on-demand 11-26T10:00 -           forgotten
job-126  vision   omar  research p5.48xlarge  1 spot      11-27T06:00 -           train
job-129  platform jonas dev      g5.12xlarge  1 on-demand 11-27T10:00 -           train
job-130  nlp      maya  research g5.12xlarge  2 on-demand 11-30T08:30 -           boot
-        -        -     -        g5.2xlarge   4 on-demand 10-08T10:00 -           notebook
"""
#: Jobs whose people write the tag's key another way.
OTHER_KEYS = {"job-112": "JobId", "job-121": "JobId", "job-126": "JobId"}
#: Where things run that do not run in the first region.
WEST_SHAPES = frozenset({"g5.2xlarge"})
#: A forgotten node was busy until its job crashed.
CRASHED_AT = datetime(2026, 11, 28, 15, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stint:
    """Some equal instances that ran for one job over one span of time.

    Attributes:
        number: Line of the table, so that ids stay the same.
        job: "" for what nobody tagged.
        end: None: still running.
        phase: What they did last: train, boot, crash, forgotten, notebook.
    """

    number: int
    job: str
    team: str
    owner: str
    env: str
    shape: str
    count: int
    buys: str
    start: datetime
    end: datetime | None
    phase: str

    @property
    def is_spot(self) -> bool:
        """Tell whether it ran on the spot market."""
        return self.buys == "spot"

    @property
    def region(self) -> str:
        """Return where its instances run."""
        return REGIONS[1] if self.shape in WEST_SHAPES else REGIONS[0]

    @property
    def tags(self) -> dict[str, str]:
        """Return the tags that its instances and volumes carry."""
        if not self.job:
            return {"Name": "notebook"}
        return {
            OTHER_KEYS.get(self.job, "job-id"): self.job,
            "team": self.team,
            "owner": f"{self.owner}@{MAIL}",
            "env": self.env,
        }

    def instance_ids(self) -> list[str]:
        """Return the ids of its instances."""
        return [f"i-{self.number:04x}{index:013x}" for index in range(self.count)]

    def volume_ids(self) -> list[str]:
        """Return the ids of its instances' volumes, in the same order."""
        return [f"vol-{self.number:04x}{index:013x}" for index in range(self.count)]

    def until(self, now: datetime) -> datetime:
        """Return when it ended, or now."""
        return now if self.end is None else min(self.end, now)


def _read(table: str) -> Iterator[Stint]:
    _, *lines = table.strip().splitlines()
    for number, line in enumerate(lines, start=1):
        words = ["" if word == "-" else word for word in line.split()]
        job, team, owner, env, shape, count, buys, start, end, phase = words
        yield Stint(
            number=number,
            job=job,
            team=team,
            owner=owner,
            env=env,
            shape=shape,
            count=int(count),
            buys=buys,
            start=_instant(start),
            end=_instant(end) if end else None,
            phase=phase,
        )


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}:00Z")


STINTS = tuple(_read(TABLE))
