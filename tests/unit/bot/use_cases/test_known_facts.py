"""What is known now, whatever policies say: idle, coverage, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from billing.core.fleet import ScopeFailure
from billing.ports import (
    CommitmentFacts,
    MetricSeries,
    SourceUnavailableError,
    StoredObject,
)
from bot.use_cases.facts import FactSources
from bot.use_cases.known_facts import Known
from bot.views.facts import checkpoints_message, coverage_message, idle_message
from bot.views.facts_terminal import (
    checkpoints_document,
    checkpoints_text,
    coverage_document,
    coverage_text,
    idle_document,
    idle_text,
)
from policies.core.locations import parse_location
from tests.builders import at, usd
from tests.builders_bot import drawn, shown
from tests.builders_use_cases import Company, runs

if TYPE_CHECKING:
    from billing.core.periods import Period

NOW = at("2026-11-30T05:00Z")
LOCATION = parse_location("s3://models/{job}/checkpoints/step-{step}/")
QUIET = {"gpu_utilization": 0.0, "network": 10_000.0}
LOUD = {"gpu_utilization": 95.0, "network": 80_000_000.0}


@dataclass
class Signals:
    """Signals of instances by id; an instance that is left out has none."""

    known: dict[str, dict[str, float]] = field(default_factory=dict)

    def series(
        self, resources: Sequence[tuple[str, str, str]], window: Period
    ) -> tuple[Sequence[MetricSeries], Sequence[ScopeFailure]]:
        del window
        times = [NOW - timedelta(minutes=minute) for minute in range(89, -1, -1)]
        found = [
            MetricSeries(
                resource_id=resource,
                signal=signal,
                part=part,
                points=tuple((instant, value) for instant in times),
                period_s=60,
            )
            for _, _, resource in resources
            for signal, value in self.known.get(resource, {}).items()
            for part in (map(str, range(8)) if signal.startswith("gpu") else [""])
        ]
        return found, ()


@dataclass
class Commitments:
    """Coverage of families."""

    known: tuple[CommitmentFacts, ...] = ()

    def facts(
        self, families: Sequence[str], since: date, until: date
    ) -> Sequence[CommitmentFacts]:
        del since, until
        return [one for one in self.known if one.family in families]


@dataclass
class Objects:
    """One bucket's objects."""

    known: tuple[StoredObject, ...] = ()
    fails: bool = False

    def objects(self, bucket: str, prefix: str) -> Iterator[Sequence[StoredObject]]:
        del bucket, prefix
        yield self.known
        if self.fails:
            raise SourceUnavailableError("s3", "denied")


def known(company: Company, **sources: object) -> Known:
    defaults = {"metrics": Signals(), "commitments": None, "objects": None}
    made = FactSources(**(defaults | sources))  # type: ignore[arg-type] # fakes of ports
    return Known(store=company.store, sources=made, keys=company.keys, own=(), now=NOW)


@pytest.fixture
def fleet(company: Company) -> Company:
    company.is_watched(
        *(runs(name, since="2026-11-30T00:00Z") for name in ("i-busy", "i-quiet")),
        runs("i-dark", since="2026-11-30T00:00Z", job=""),
        runs("i-new", since="2026-11-30T04:50Z"),
        at_=NOW,
    )
    company.now = NOW
    return company


SIGNALS = Signals({"i-busy": LOUD, "i-quiet": QUIET, "i-new": QUIET})


def test_unknown_is_not_idle(fleet: Company) -> None:
    answer = known(fleet, metrics=SIGNALS).idle()

    assert [(one.resource_id, one.state) for one in answer.items] == [
        ("i-quiet", "idle"),
        ("i-dark", "unknown"),
        ("i-new", "unknown"),
        ("i-busy", "busy"),
    ]


def test_idle_reads_as_people_say_it(fleet: Company) -> None:
    answer = known(fleet, metrics=SIGNALS).idle()

    assert drawn(idle_message(answer)) == snapshot("""\
1 of 4 GPU instances idle, $10.00/h; 2 unknown
------
# 1 of 4 GPU instances idle, $10.00/h; 2 unknown
*Idle*
• *$10.00/h*  `i-quiet` p5.48xlarge, job `job-123`: at most GPU 0 %, network 9.8
   KiB/s, quiet for 1 hour 29 minutes
*Unknown (which is not idle)*
• *$10.00/h*  `i-dark` p5.48xlarge, no job: missing: gpu utilization of 8 of 8 GPUs;
   network
• *$10.00/h*  `i-new` p5.48xlarge, job `job-123`: missing: 30 minutes of running
   (seen: GPU 0 %, network 9.8 KiB/s)
*Busy*
• *$10.00/h*  `i-busy` p5.48xlarge, job `job-123`: up to GPU 95 %, network 76.3
   MiB/s
(Quiet means GPU &lt; 5%, network &lt; 1 MB/s, all the time, for 30 minutes. Fleet
   read just now.)\
""")
    assert idle_text(answer) == snapshot("""\
1 of 4 GPU instances idle, $10.00/h; 2 unknown

state    instance  type         job          costs  why
idle     i-quiet   p5.48xlarge  job-123   $10.00/h  at most GPU 0 %, network 9.8 KiB/s, quiet for 1 hour 29 minutes
unknown  i-dark    p5.48xlarge  (no job)  $10.00/h  missing: gpu utilization of 8 of 8 GPUs; network
unknown  i-new     p5.48xlarge  job-123   $10.00/h  missing: 30 minutes of running (seen: GPU 0 %, network 9.8 KiB/s)
busy     i-busy    p5.48xlarge  job-123   $10.00/h  up to GPU 95 %, network 76.3 MiB/s

quiet means: GPU < 5%, network < 1 MB/s for 30 minutes\
""")  # noqa: E501 - lines of a table


def test_idle_as_json_keeps_unknown_apart_from_zero(fleet: Company) -> None:
    items = idle_document(known(fleet, metrics=SIGNALS).idle())["items"]

    dark = next(one for one in items if one["resource"] == "i-dark")
    assert {one["highest"] for one in dark["signals"]} == {None}
    assert dark["missing"]


def test_no_instance_is_said(company: Company) -> None:
    answer = known(company).idle()

    assert "no GPU instance runs" in idle_text(answer)
    assert "No GPU instance runs" in shown(idle_message(answer))


def covered(family: str, of: str, eligible: str, used: float | None) -> CommitmentFacts:
    return CommitmentFacts(
        family=family, since=date(2026, 10, 31), until=date(2026, 11, 30),
        covered=usd(of), eligible=usd(eligible), utilization_pct=used,
    )  # fmt: skip


def test_coverage_is_of_the_families_that_run(fleet: Company) -> None:
    source = Commitments(
        (covered("p5", "600", "1000", 95.0), covered("g5", "1", "2", 1))
    )

    answer = known(fleet, commitments=source).coverage()

    assert drawn(coverage_message(answer)) == snapshot("""\
Commitments, 31 Oct to 29 Nov 2026
------
# Commitments, 31 Oct to 29 Nov 2026
```
family  covered  baseline  used  not covered
p5         60 %   unknown  95 %      $400.00
```
(Covered: share of eligible spend at on-demand prices. Baseline: share of the use
   that is always there. Used: share of the commitments themselves.)\
""")
    assert coverage_text(answer) == snapshot("""\
commitments, 31 Oct to 29 Nov 2026

family  covered  of baseline  used  not covered   eligible
p5         60 %      unknown  95 %      $400.00  $1,000.00\
""")
    assert coverage_document(answer)["items"][0]["covered_pct"] == 60.0


def test_family_without_use_is_no_zero(fleet: Company) -> None:
    source = Commitments((covered("p5", "0", "0", None),))

    answer = known(fleet, commitments=source).coverage(["p5", "p4d"])

    assert answer.items[0].covered_pct is None
    assert answer.missing == ("p4d",)
    assert "unknown" in coverage_text(answer)


def stored(job: str, step: int, size: int, storage: str = "STANDARD") -> StoredObject:
    return StoredObject(
        bucket="models",
        key=f"{job}/checkpoints/step-{step}/model.pt",
        size_bytes=size,
        modified_at=at("2026-11-28T00:00Z"),
        storage_class=storage,
    )


def test_checkpoints_by_job_with_bytes_and_what_they_cost(company: Company) -> None:
    gib = 1 << 30
    source = Objects(
        (
            stored("job-1", 100, 100 * gib),
            stored("job-1", 200, 100 * gib),
            stored("job-2", 5, 50 * gib, "GLACIER_IR"),
        )
    )

    answer = known(company, objects=source).checkpoints([LOCATION])

    assert [(one.job, one.checkpoints, one.per_month) for one in answer.items] == [
        ("job-1", 2, usd("4.6")),
        ("job-2", 1, None),
    ]
    assert drawn(checkpoints_message(answer)) == snapshot("""\
3 checkpoints, 250 GiB
------
# 3 checkpoints, 250 GiB
• *200 GiB*  `job-1`: 2 checkpoints, steps 100 to 200, 28 Nov 2026, $4.60 a month
• *50 GiB*  `job-2`: 1 checkpoint, step 5, 28 Nov 2026, price unknown
(In s3://models/{job}/checkpoints/step-{step}/. At $0.023 per GB-month (2^30 bytes),
   S3 Standard, us-east-1 list price of 2026-11.)\
""")
    assert checkpoints_text(answer) == snapshot("""\
3 checkpoints, 250 GiB, in s3://models/{job}/checkpoints/step-{step}/

job    checkpoints     size  per month  steps             newest
job-1            2  200 GiB      $4.60  steps 100 to 200  2026-11-28 00:00 UTC
job-2            1   50 GiB    unknown  step 5            2026-11-28 00:00 UTC

per month: $0.023 per GB-month (2^30 bytes), S3 Standard, us-east-1 list price of 2026-11
other storage classes are unknown\
""")


def test_a_listing_that_broke_off_is_said(company: Company) -> None:
    source = Objects((stored("job-1", 100, 1),), fails=True)

    answer = known(company, objects=source).checkpoints([LOCATION])

    assert not answer.items[0].is_complete
    assert "not read whole" in checkpoints_text(answer)
    assert checkpoints_document(answer)["not_read"]
    assert ":warning: Not read" in shown(checkpoints_message(answer))


def test_no_location_is_said(company: Company) -> None:
    answer = known(company).checkpoints([])

    assert "no location is known" in checkpoints_text(answer)
    assert "No location is known" in shown(checkpoints_message(answer))
