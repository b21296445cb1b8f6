"""Cost Explorer answers of a made-up bill, built as bytes once and served many times.

The bill is regular: each day holds the same number of groups (job tag x usage type),
and the control totals are their exact sums. Knows no socket.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

ACCOUNT = "012345678901"
TAG_KEY = "job-id"
DAYS = 25
SINCE = date(2026, 11, 1)
UNTIL = SINCE + timedelta(days=DAYS)
#: The reader's clock: the last day of the bill has just ended.
NOW = datetime(2026, 11, 25, 18, tzinfo=UTC)
USAGE_TYPES = (
    "BoxUsage:p5.48xlarge",
    "BoxUsage:p4d.24xlarge",
    "SpotUsage:g5.12xlarge",
    "EBS:VolumeUsage.gp3",
    "EBS:VolumeP-Throughput.gp3",
    "DataTransfer-Regional-Bytes",
    "TimedStorage-ByteHrs",
    "NatGateway-Bytes",
)
#: Amounts are counted in units of 10**-10, the digits that Cost Explorer writes.
SCALE = 10**10
QUANTITY = "UsageQuantity"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bill:
    """How much there is to read.

    Attributes:
        groups: Groups over the whole window, a multiple of the days.
        page: Groups in one answer.
    """

    groups: int
    page: int

    @property
    def pages(self) -> int:
        """Return how many answers hold every group of the window."""
        return -(-self.groups // self.page)

    def rows(self, since: date, until: date) -> list[tuple[date, str, str, int]]:
        """List ``(day, job, usage type, amount)`` of a window in answer order."""
        first, last = max(since, SINCE), min(until, UNTIL)
        days = [first + timedelta(days=n) for n in range(max((last - first).days, 0))]
        return [
            (day, *_group(number), amount(day, number))
            for day in days
            for number in range(self.groups // DAYS)
        ]

    def totals(self, day: date) -> tuple[int, int]:
        """Return the sums of a day's groups, as billed and amortised."""
        rows = self.rows(day, day + timedelta(days=1))
        billed = sum(value for *_, value in rows)
        return billed, sum(amortized(kind, value) for *_, kind, value in rows)


@cache
def _group(number: int) -> tuple[str, str]:
    job, kind = divmod(number, len(USAGE_TYPES))
    return f"job-{job:05}", USAGE_TYPES[kind]


def amount(day: date, number: int) -> int:
    """Return a group's amount: different everywhere, the same in every run."""
    return SCALE // 100 + (day.toordinal() * 7_919 + number * 104_729) * 6_007 % SCALE


def amortized(usage_type: str, value: int) -> int:
    """Return a group's amortised amount: commitments cover instances, nothing else."""
    return value - value // 4 if "Usage:p" in usage_type else value


def pages_of(bill: Bill, request: Json) -> list[bytes]:
    """Build every page of the answer to one request, tokens included."""
    groups = {(group["Type"], group["Key"]) for group in request.get("GroupBy", ())}
    since, until = _period(request)
    metrics = request["Metrics"]
    if "ABSENT" in json.dumps(request.get("Filter", {})) or any(
        key == "RECORD_TYPE" for _, key in groups
    ):
        return [_answer(_empty(since, until), None)]
    if not any(kind == "TAG" for kind, _ in groups):
        return [_answer(_totals(bill, (since, until), metrics, bool(groups)), None)]
    rows = bill.rows(since, until)
    starts = range(0, len(rows), bill.page)
    return [
        _answer(
            _detail(rows[start : start + bill.page], metrics),
            str(number + 1) if number + 1 < len(starts) else None,
        )
        for number, start in enumerate(starts)
    ]


def tags_answer() -> bytes:
    """Build the answer of ListCostAllocationTags: the one job tag key is active."""
    tag = {
        "TagKey": TAG_KEY,
        "Type": "UserDefined",
        "Status": "Active",
        "LastUpdatedDate": "2026-01-01T00:00:00Z",
        "LastUsedDate": "2026-11-01T00:00:00Z",
    }
    return json.dumps({"CostAllocationTags": [tag]}).encode()


def _period(request: Json) -> tuple[date, date]:
    asked = request["TimePeriod"]
    return date.fromisoformat(asked["Start"]), date.fromisoformat(asked["End"])


def _answer(results: list[Json], token: str | None) -> bytes:
    answer: Json = {"ResultsByTime": results, "DimensionValueAttributes": []}
    return json.dumps(answer | ({"NextPageToken": token} if token else {})).encode()


def _result(day: date, **fields: object) -> Json:
    period = {"Start": f"{day}", "End": f"{day + timedelta(days=1)}"}
    blank: Json = {"TimePeriod": period, "Total": {}, "Groups": [], "Estimated": True}
    return blank | fields


def _empty(since: date, until: date) -> list[Json]:
    days = (until - since).days
    return [_result(since + timedelta(days=number)) for number in range(days)]


def _totals(
    bill: Bill,
    window: tuple[date, date],
    metrics: list[str],
    is_grouped: bool,  # noqa: FBT001 - one of two shapes of the same answer
) -> list[Json]:
    results = []
    for result in _empty(*window):
        day = date.fromisoformat(result["TimePeriod"]["Start"])
        total = _metrics(metrics, *bill.totals(day))
        if not is_grouped:
            result["Total"] = total
        elif SINCE <= day < UNTIL:
            result["Groups"] = [{"Keys": [ACCOUNT], "Metrics": total}]
        results.append(result)
    return results


def _detail(rows: list[tuple[date, str, str, int]], metrics: list[str]) -> list[Json]:
    results: dict[date, Json] = {}
    for day, job, usage_type, value in rows:
        result = results.setdefault(day, _result(day))
        keys = [f"{TAG_KEY}${job}", usage_type]
        amounts = _metrics(metrics, value, amortized(usage_type, value))
        result["Groups"].append({"Keys": keys, "Metrics": amounts})
    return list(results.values())


def _metrics(names: list[str], value: int, effective: int) -> Json:
    return {
        name: {
            "Amount": _text(effective if "Amortized" in name else value),
            "Unit": "Hrs" if name == QUANTITY else "USD",
        }
        for name in names
    }


def _text(value: int) -> str:
    return f"{value // SCALE}.{value % SCALE:010}"
