"""Where the money of a run went that it did not need to: every cent in one place.

First each line of the bill is looked at for what it is; compute is then divided over the
time its instances ran. Of several names that fit the same time the first counts: work
lost at restarts, idle and boot, waiting at low utilisation. What nobody measured is not
called a leak: it stays in compute, and the leak says what is missing. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from billing.core.categories import instance_type_of
from billing.core.charges import CostCategory
from billing.core.gpus import bare_type
from billing.core.leak_time import Busy, Time, UseOfTime, divide
from billing.core.money import Money, Rate, split

_NAT = re.compile(r"NatGateway")
_ZONE = re.compile(r"DataTransfer-Regional|DataTransfer-xAZ")
_REGION = re.compile(r"-AWS-(?:In|Out)-(?:AB)?-?Bytes")
_OBJECTS = re.compile(r"TimedStorage|EarlyDelete|GlacierByteHrs|S3-")
_DISKS = re.compile(r"EBS:Volume|VolumeUsage")
_VOLUMES = re.compile(r"EBS:|VolumeUsage|Lustre|FSx")


class Leak(StrEnum):
    """What a run did not need to cost, in the order in which time is given to it."""

    RESTARTS = "work lost at restarts"
    IDLE = "idle and boot"
    LOW = "waiting at low utilisation"
    ZONE = "transfer between zones"
    REGION = "transfer between regions"
    NAT = "NAT gateways"
    STOPPED = "stopped but paying"
    VOLUMES = "volumes oversized or kept"
    CHECKPOINTS = "checkpoints kept"
    PREMIUM = "managed-service premium"
    COMMITMENT = "unused commitment"


_OF_TIME = {Busy.LOST: Leak.RESTARTS, Busy.IDLE: Leak.IDLE, Busy.LOW: Leak.LOW}

#: The cheapest thing to do about each.
FIXES: Mapping[Leak, str] = {
    Leak.RESTARTS: "write checkpoints more often, and resume from the newest",
    Leak.IDLE: "stop instances that wait; start from an image that holds everything",
    Leak.LOW: "look at the input pipeline first, then at batch size and node count",
    Leak.ZONE: "keep nodes, storage and endpoints of a run in one zone",
    Leak.REGION: "copy data once, or run where the data is",
    Leak.NAT: "add the free gateway endpoint for S3, and interface endpoints",
    Leak.STOPPED: "snapshot and delete volumes of instances that stay stopped",
    Leak.VOLUMES: "delete volumes with their instances; provision what is used",
    Leak.CHECKPOINTS: "keep the newest few and expire the rest by a lifecycle rule",
    Leak.PREMIUM: "run on plain EC2 where nothing of the service is needed",
    Leak.COMMITMENT: "move work to what is paid for, or let it lapse",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """A part of the cost of a run.

    Attributes:
        usage_type: As billed; "" for running time and what was given by a rule.
        is_open: Provisional.
        quantity: In hours, for instance types; None when unknown.
    """

    account: str
    day: date
    category: CostCategory
    amount: Money
    is_open: bool
    usage_type: str = ""
    region: str = ""
    quantity: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakFacts:
    """What is known of a run beside its cost.

    Attributes:
        times: Its instances' time, in pieces of at most an hour.
        use: What was measured and reported of that time.
        watched_since: Per account, since when every instance is known.
        rates: Hourly EC2 prices of ``(instance type, region)``, the organisation's own.
        counts_progress: The job reports how far it is.
        reclaimed: Spot instances that AWS took back from it.
        stopped: Per account and day, the share of its volumes' size and time that
            instances had while they were stopped.
    """

    times: Sequence[Time] = ()
    use: UseOfTime = field(default_factory=UseOfTime)
    watched_since: Mapping[str, datetime] = field(default_factory=dict)
    rates: Mapping[tuple[str, str], Rate] = field(default_factory=dict)
    counts_progress: bool = False
    reclaimed: int = 0
    stopped: Mapping[tuple[str, date], Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakPart:
    """A part of the total under one name; the parts sum to the total exactly."""

    key: str
    line: CostLine
    amount: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakFound:
    """One leak: what is known of it, and what is not.

    Attributes:
        amount: None when nothing of it is known; else the known part.
        missing: What would tell the rest; "" when nothing is missing.
    """

    leak: Leak
    amount: Money | None
    evidence: tuple[str, ...]
    missing: str = ""

    @property
    def fix(self) -> str:
        """Return the cheapest thing to do about it; "" when there is nothing to do."""
        is_nothing = self.amount is not None and not self.amount.nanos
        return "" if is_nothing and not self.missing else FIXES[self.leak]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """Everything a run cost, by what it was for."""

    currency: str
    parts: tuple[LeakPart, ...]
    leaks: tuple[LeakFound, ...]

    @property
    def avoidable(self) -> Money:
        """Return the sum of what is known to be avoidable."""
        known = [one.amount.nanos for one in self.leaks if one.amount is not None]
        return Money(sum(known), self.currency)


def leaks(lines: Iterable[CostLine], facts: LeakFacts, currency: str) -> LeakReport:
    """Divide the cost of a run into leaks and what is none."""
    tally = _Tally(facts, currency)
    compute: dict[tuple[str, date], list[CostLine]] = {}
    for line in lines:
        if line.category is CostCategory.COMPUTE and line.amount.nanos:
            compute.setdefault((line.account, line.day), []).append(line)
        elif line.amount.nanos:
            tally.add_line(line)
    for (account, day), members in compute.items():
        tally.add_compute(account, day, members)
    return tally.report()


class _Tally:
    """Collects parts, and what is unknown, while lines are gone through."""

    def __init__(self, facts: LeakFacts, currency: str) -> None:
        self._facts = facts
        self._currency = currency
        self._parts: list[LeakPart] = []
        self._times: dict[tuple[str, date], list[Time]] = {}
        for one in facts.times:
            self._times.setdefault((one.account, one.day), []).append(one)
        self._days = {day for _, day in self._times}
        self._unmeasured = 0
        self._compute = 0
        self._unknown: dict[Leak, int] = {}
        self._spent: dict[Busy, timedelta] = {}
        self._kept_days: dict[Leak, set[date]] = {}

    def add_line(self, line: CostLine) -> None:
        """Book a line that is no compute."""
        line = self._without_stopped(line)
        leak = self._leak_of(line)
        if leak is Leak.PREMIUM:
            self._add_premium(line)
        elif leak is None:
            self._book(line.category.value, line, line.amount)
        else:
            self._book(leak.value, line, line.amount)

    def add_compute(self, account: str, day: date, lines: Sequence[CostLine]) -> None:
        """Divide the compute of an account's day over the time its instances ran."""
        times = self._times.get((account, day), [])
        shares = divide(times, self._facts.use)
        for busy, span in shares.spent.items():
            self._spent[busy] = self._spent.get(busy, timedelta()) + span
        order = sorted(shares.weights)
        for line in lines:
            self._compute += line.amount.nanos
            split_up = split(line.amount, [shares.weights[one] for one in order])
            if split_up is None:  # nobody knows when it ran
                self._unmeasured += line.amount.nanos
                self._book(CostCategory.COMPUTE.value, line, line.amount)
                continue
            for busy, amount in zip(order, split_up, strict=True):
                if busy is Busy.UNKNOWN:
                    self._unmeasured += amount.nanos
                leak = _OF_TIME.get(busy)
                key = leak.value if leak else CostCategory.COMPUTE.value
                self._book(key, line, amount)

    def report(self) -> LeakReport:
        """Return everything, each leak once."""
        return LeakReport(
            currency=self._currency,
            parts=tuple(self._parts),
            leaks=tuple(self._found(leak) for leak in Leak),
        )

    # ------------------------------------------------------------------ lines

    def _leak_of(self, line: CostLine) -> Leak | None:
        usage = line.usage_type
        if line.category is CostCategory.NETWORK:
            pairs = ((_NAT, Leak.NAT), (_ZONE, Leak.ZONE), (_REGION, Leak.REGION))
            return next((leak for form, leak in pairs if form.search(usage)), None)
        if line.category is CostCategory.MANAGED_SERVICE:
            return Leak.PREMIUM if instance_type_of(usage) else None
        if line.category is CostCategory.STORAGE:
            return self._kept(line)
        return None

    def _without_stopped(self, line: CostLine) -> CostLine:
        """Book what volumes of stopped instances cost, and return the rest."""
        share = self._facts.stopped.get((line.account, line.day), Fraction(0))
        is_volume = (line.is_open and not line.usage_type) or _DISKS.search(
            line.usage_type
        )
        if line.category is not CostCategory.STORAGE or not share or not is_volume:
            return line
        weights = [share.numerator, share.denominator - share.numerator]
        parts = split(line.amount, weights) if line.amount.nanos > 0 else None
        if parts is None:
            return line
        self._book(Leak.STOPPED.value, line, parts[0])
        self._kept_days.setdefault(Leak.STOPPED, set()).add(line.day)
        return replace(line, amount=parts[1])

    def _kept(self, line: CostLine) -> Leak | None:
        """Return what storage is called that cost on a day without any instance."""
        usage = line.usage_type
        leak = Leak.CHECKPOINTS if _OBJECTS.search(usage) else Leak.VOLUMES
        if leak is Leak.VOLUMES and not _VOLUMES.search(usage) and not line.is_open:
            return None
        if not self._is_over(line):
            self._unknown[leak] = self._unknown.get(leak, 0) + line.amount.nanos
            return None
        self._kept_days.setdefault(leak, set()).add(line.day)
        return leak

    def _is_over(self, line: CostLine) -> bool:
        """Tell whether no instance ran that day although some had before."""
        began = self._facts.watched_since.get(line.account)
        is_watched = began is not None and began.date() < line.day
        return (
            is_watched
            and line.day not in self._days
            and any(day < line.day for day in self._days)
        )

    def _add_premium(self, line: CostLine) -> None:
        """Book what a managed instance costs above the same one on EC2."""
        kind = bare_type(instance_type_of(line.usage_type))
        rate = self._facts.rates.get((kind, line.region))
        if rate is None or line.quantity is None or rate.currency != self._currency:
            self._unknown[Leak.PREMIUM] = (
                self._unknown.get(Leak.PREMIUM, 0) + line.amount.nanos
            )
            self._book(line.category.value, line, line.amount)
            return
        plain = round(Fraction(rate.nanos) * Fraction(line.quantity))
        premium = max(line.amount.nanos - plain, 0)
        self._book(Leak.PREMIUM.value, line, Money(premium, self._currency))
        rest = Money(line.amount.nanos - premium, self._currency)
        self._book(line.category.value, line, rest)

    def _book(self, key: str, line: CostLine, amount: Money) -> None:
        if amount.nanos:
            self._parts.append(LeakPart(key=key, line=line, amount=amount))

    # ----------------------------------------------------------------- findings

    def _found(self, leak: Leak) -> LeakFound:
        nanos = sum(one.amount.nanos for one in self._parts if one.key == leak.value)
        missing = self._missing(leak)
        is_unknown = bool(missing) and not nanos
        return LeakFound(
            leak=leak,
            amount=None if is_unknown else Money(nanos, self._currency),
            evidence=tuple(self._evidence(leak)),
            missing=missing,
        )

    def _missing(self, leak: Leak) -> str:
        if leak in {Leak.IDLE, Leak.LOW} and self._unmeasured:
            share = _share(self._unmeasured, self._compute)
            return f"GPU utilisation of {share} of the compute was not measured"
        if leak is Leak.RESTARTS and not self._facts.counts_progress and self._compute:
            return "the job does not report how far it is"
        unknown = Money(self._unknown.get(leak, 0), self._currency)
        if not unknown.nanos:
            return ""
        return {
            Leak.VOLUMES: f"how full the volumes are that cost {unknown} meanwhile",
            Leak.CHECKPOINTS: f"which of the objects that cost {unknown} are needed",
            Leak.PREMIUM: f"the EC2 price, or the hours, of {unknown}",
        }.get(leak, "")

    def _evidence(self, leak: Leak) -> Iterable[str]:
        use = self._facts.use
        if leak is Leak.RESTARTS and use.lost:
            count = len(use.restarts)
            yield f"{count} {'restart' if count == 1 else 'restarts'}"
            yield f"{_hours(self._spent.get(Busy.LOST))} instance hours done again"
        if leak is Leak.RESTARTS and self._facts.reclaimed:
            yield f"AWS took back spot instances: {self._facts.reclaimed}"
        if leak is Leak.IDLE and self._spent.get(Busy.IDLE):
            told = f"{_hours(self._spent[Busy.IDLE])} instance hours"
            boot = " or before the job reported progress" if use.waiting else ""
            yield f"{told} below {use.idle_below_pct} % GPU utilisation{boot}"
        if leak is Leak.LOW and self._spent.get(Busy.LOW):
            told = f"{_hours(self._spent[Busy.LOW])} instance hours"
            yield f"{told} to spare at {use.target_pct} % GPU utilisation"
        if leak in self._kept_days:
            count = len(self._kept_days[leak])
            days = f"{count} {'day' if count == 1 else 'days'}"
            stopped = leak is Leak.STOPPED
            yield f"{days} {'with stopped instances' if stopped else 'without an instance'}"
        usage = sorted(
            {one.line.usage_type for one in self._parts if one.key == leak.value} - {""}
        )
        if usage and leak not in _OF_TIME.values():
            more = f" and {len(usage) - 3} more" if len(usage) > 3 else ""  # noqa: PLR2004 - enough to see
            yield ", ".join(usage[:3]) + more


def _hours(span: timedelta | None) -> str:
    return f"{(span or timedelta()) / timedelta(hours=1):,.1f}"


def _share(part: int, whole: int) -> str:
    """Return a share in percent; a part of it is never told as all or nothing."""
    percent = Fraction(100 * part, whole) if whole else Fraction(0)
    if part == whole:
        return "100 %"
    return f"{min(max(round(percent), 1), 99)} %"
