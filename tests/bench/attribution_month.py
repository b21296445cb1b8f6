"""A labelled month: what ran, what AWS would bill, and who truly should pay.

Everything is made from one simulation by the minute, which knows the truth. It shares
no attribution code with the product: amounts are whole micro-dollars, times are minutes,
and whoever holds GPUs in a minute pays for that share of the minute.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

DAYS = 30
DAY = 24 * 60
MONTH = DAYS * DAY
#: What nobody holds on a node that a scheduler hands out.
IDLE = "idle"
#: What nobody can know: no tag, no scheduler, no name.
NOBODY = "nobody"
#: Micro-dollars of a minute, and GPUs, by type. Made up, but of the right size.
PRICES = {"p5.48xlarge": 917_333, "g5.48xlarge": 271_467, "ml.p4d.24xlarge": 627_933}
GPUS = {"p5.48xlarge": 8, "g5.48xlarge": 8, "ml.p4d.24xlarge": 8}
#: AWS bills from here on; LaunchTime is a little earlier.
PENDING_S = 40


@dataclass(frozen=True, slots=True)
class Held:
    """One job's hold on one node: minutes ``[start, end)`` and GPUs."""

    job: str
    node: str
    start: int
    end: int
    gpus: int
    by: str


@dataclass(frozen=True, slots=True)
class Node:
    """One instance (or SageMaker job), and since when a tag names its job.

    Attributes:
        tags: ``(minute, job)`` in order of time, as the bill and the fleet see them.
    """

    name: str
    shape: str
    start: int
    end: int
    tags: tuple[tuple[int, str], ...] = ()
    address: str = ""

    def tag_at(self, minute: int) -> str:
        """Return the job of the tag that stands at a minute; "" for none."""
        found = ""
        for since, job in self.tags:
            if since <= minute:
                found = job
        return found


@dataclass(slots=True)
class Month:
    """What happened, and what it truly cost whom, in micro-dollars."""

    nodes: list[Node] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    truth: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    #: (day, node, job of the tag) -> minutes that are billed so.
    billed: dict[tuple[int, str, str], int] = field(
        default_factory=lambda: defaultdict(int)
    )

    @property
    def total(self) -> int:
        """Return the whole bill in micro-dollars."""
        shapes = {node.name: node.shape for node in self.nodes}
        return sum(
            minutes * PRICES[shapes[name]]
            for (_, name, _), minutes in self.billed.items()
        )


def make_month(seed: int, *, size: int = 10) -> Month:
    """Make a month of about four times ``size`` nodes."""
    chance = random.Random(seed)
    month = Month()
    _slurm(month, chance, size)
    _kubernetes(month, chance, size)
    _tagged(month, chance, size)
    _sagemaker(month, chance, size)
    _nobodys(month, chance, max(1, size // 10))
    _settle(month)
    return month


def _slurm(month: Month, chance: random.Random, size: int) -> None:
    """Add whole nodes, and nodes that two to four jobs share, with idle gaps."""
    for number in range(size):
        node = Node(
            f"i-51{number:04x}", "p5.48xlarge", 0, MONTH,
            address=f"10.0.{number // 250}.{number % 250 + 1}",
        )  # fmt: skip
        month.nodes.append(node)
        _fill(month, chance, node, "slurm", (8, 8, 4, 2))


def _kubernetes(month: Month, chance: random.Random, size: int) -> None:
    """Add nodes whose pods hold single GPUs."""
    for number in range(size):
        start = chance.randrange(0, 5 * DAY)
        node = Node(f"i-8a{number:04x}", "g5.48xlarge", start, MONTH)
        month.nodes.append(node)
        _fill(month, chance, node, "kubernetes", (1, 1, 2, 4))


def _fill(
    month: Month, chance: random.Random, node: Node, by: str, sizes: tuple[int, ...]
) -> None:
    """Let lanes of one size follow each other, one job after another with gaps."""
    minute = node.start
    while minute < node.end:
        gpus = chance.choice(sizes)
        until = min(node.end, minute + chance.randrange(DAY // 2, 3 * DAY))
        for _ in range(GPUS[node.shape] // gpus):
            at = minute + chance.randrange(0, 90)
            while at < until:
                end = min(until, at + chance.randrange(20, DAY))
                job = f"{by}-{chance.randrange(10**9)}"
                month.held.append(Held(job, node.name, at, end, gpus, by))
                at = end + chance.randrange(0, 60)
        minute = until


def _tagged(month: Month, chance: random.Random, size: int) -> None:
    """Add instances of one job, tagged late, and some that change hands."""
    for number in range(size):
        start = chance.randrange(0, 25 * DAY)
        end = min(MONTH, start + chance.randrange(DAY, 12 * DAY))
        late = start + chance.choice((0, 1, 5, 25, 50))
        first, second = f"tag-{number}", f"tag-{number}-next"
        tags = [(late, first)]
        middle = (late + end) // 2
        if number % 3 == 0:
            tags.append((middle, second))
        month.nodes.append(
            Node(f"i-7a{number:04x}", "p5.48xlarge", start, end, tuple(tags))
        )
        last = middle if len(tags) > 1 else end
        month.held.append(Held(first, f"i-7a{number:04x}", start, last, 8, "tag"))
        if len(tags) > 1:
            month.held.append(Held(second, f"i-7a{number:04x}", middle, end, 8, "tag"))


def _sagemaker(month: Month, chance: random.Random, size: int) -> None:
    """Add training jobs: half of them with a job tag, all named in their ARN."""
    for number in range(size):
        start = chance.randrange(0, 25 * DAY)
        end = min(MONTH, start + chance.randrange(60, 3 * DAY))
        name = f"sm-{number}"
        arn = f"arn:aws:sagemaker:us-east-1:123456789012:training-job/{name}"
        tags = ((start, name),) if number % 2 else ()
        month.nodes.append(Node(arn, "ml.p4d.24xlarge", start, end, tags))
        month.held.append(Held(name, arn, start, end, 8, "sagemaker"))


def _nobodys(month: Month, chance: random.Random, size: int) -> None:
    for number in range(size):
        start = chance.randrange(0, 20 * DAY)
        month.nodes.append(
            Node(f"i-0f{number:04x}", "p5.48xlarge", start, start + 3 * DAY)
        )


def _settle(month: Month) -> None:
    """Work out the truth and the bill, node by node and minute by minute."""
    holds: dict[str, list[Held]] = defaultdict(list)
    for one in month.held:
        holds[one.node].append(one)
    for node in month.nodes:
        price, gpus = PRICES[node.shape], GPUS[node.shape]
        managed = node.name.startswith(("i-51", "i-8a"))
        free = dict.fromkeys(range(node.start, node.end), gpus)
        for one in holds[node.name]:
            minutes = one.end - one.start
            month.truth[one.job] += minutes * price * one.gpus / gpus
            for minute in range(one.start, one.end):
                free[minute] -= one.gpus
        left = sum(free.values())
        assert min(free.values()) >= 0
        month.truth[IDLE if managed else NOBODY] += left * price / gpus
        for minute in range(node.start, node.end):
            month.billed[minute // DAY, node.name, node.tag_at(minute)] += 1
