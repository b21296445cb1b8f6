"""Rows and files of cost exports, as AWS writes them."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from billing.core.attribution import TagKeys
from billing.exports import (
    EngineLimits,
    ExportFolder,
    ExportOutcome,
    ExportScope,
    import_exports,
)
from billing.exports.engine import open_reader
from billing.exports.proof import prove
from billing.exports.rows import ChargeMaker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from billing.core.charges import Charge
    from billing.ports import LedgerStore

DATA = Path(__file__).parent / "unit" / "billing_exports" / "data"
ACCOUNT_A = "012345678901"
ACCOUNT_B = "210987654321"
#: Long after every period that tests deliver.
LATER = datetime(2026, 11, 30, 18, tzinfo=UTC)
#: Files are delivered then, each a second after the one before.
DELIVERED = datetime(2026, 11, 20, tzinfo=UTC)
KEYS = TagKeys()
LIMITS = EngineLimits(memory="256MB", threads=1)

Row = dict[str, str]
_seconds = itertools.count()


def focus_row(day: str = "2026-09-01", **over: str) -> Row:
    """Make one hour of FOCUS usage of that day."""
    row = {
        "BilledCost": "1.00",
        "EffectiveCost": "1.00",
        "ListCost": "1.00",
        "BillingCurrency": "USD",
        "BillingPeriodStart": f"{day[:7]}-01T00:00:00Z",
        "ChargeCategory": "Usage",
        "ChargeClass": "",
        "ChargePeriodStart": f"{day}T00:00:00Z",
        "ChargePeriodEnd": f"{day}T01:00:00Z",
        "CommitmentDiscountId": "",
        "CommitmentDiscountStatus": "",
        "ConsumedQuantity": "1",
        "ConsumedUnit": "Hrs",
        "PricingCategory": "Standard",
        "ProviderName": "AWS",
        "RegionId": "us-east-2",
        "ServiceCategory": "Compute",
        "ServiceName": "Amazon Elastic Compute Cloud",
        "SubAccountId": ACCOUNT_A,
        "Tags": '{"job-id": "job-1"}',
        "x_UsageType": "USE2-BoxUsage:p5.48xlarge",
    }
    return row | over


def cur_row(kind: str = "Usage", day: str = "2026-09-01", **over: str) -> Row:
    """Make one hour of a legacy CUR; names of columns are ``part__Name``."""
    row = {
        "bill/BillingPeriodStartDate": f"{day[:7]}-01T00:00:00Z",
        "bill/InvoiceId": "",
        "bill/PayerAccountId": ACCOUNT_A,
        "lineItem/UsageAccountId": ACCOUNT_A,
        "lineItem/LineItemType": kind,
        "lineItem/UsageStartDate": f"{day}T00:00:00Z",
        "lineItem/UsageEndDate": f"{day}T01:00:00Z",
        "lineItem/ProductCode": "AmazonEC2",
        "lineItem/UsageType": "USE2-BoxUsage:p5.48xlarge",
        "lineItem/UsageAmount": "1",
        "lineItem/CurrencyCode": "USD",
        "lineItem/UnblendedCost": "1.00",
        "pricing/publicOnDemandCost": "1.00",
        "pricing/unit": "Hrs",
        "reservation/EffectiveCost": "",
        "reservation/ReservationARN": "",
        "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "",
        "reservation/UnusedRecurringFee": "",
        "savingsPlan/SavingsPlanEffectiveCost": "",
        "savingsPlan/TotalCommitmentToDate": "",
        "savingsPlan/UsedCommitment": "",
        "resourceTags/user:job-id": "job-1",
    }
    return row | {name.replace("__", "/"): value for name, value in over.items()}


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows as CSV, gzipped if the name says so."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return delivered(path)


def write_parquet(
    path: Path, rows: Sequence[Row], casts: Mapping[str, str] | None = None
) -> Path:
    """Write rows as Parquet; ``casts`` is column -> SQL over it."""
    table = write_csv(path.with_suffix(".made.csv"), rows)
    replaced = ", ".join(f'{sql} AS "{name}"' for name, sql in (casts or {}).items())
    chosen = f"* REPLACE ({replaced})" if replaced else "*"
    duckdb.execute(
        f"COPY (SELECT {chosen} FROM read_csv('{table}', all_varchar = true,"  # noqa: S608
        f" header = true)) TO '{path}' (FORMAT parquet)"
    )
    table.unlink()
    return delivered(path)


def write_manifest(path: Path, **content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return delivered(path)


def delivered(path: Path) -> Path:
    return aged(path, DELIVERED + timedelta(seconds=next(_seconds)))


def aged(path: Path, instant: datetime) -> Path:
    """Make a file, or all in a folder, look as if it was delivered then."""
    for one in [path, *path.rglob("*")] if path.is_dir() else [path]:
        os.utime(one, (instant.timestamp(), instant.timestamp()))
    return path


def charges_in(*files: Path, keys: TagKeys = KEYS) -> list[Charge]:
    """Read files into charges, with every proof on the way."""
    return list(_charges(files, keys))


def _charges(files: Sequence[Path], keys: TagKeys) -> Iterator[Charge]:
    with open_reader(files, LIMITS) as reader:
        reader.prepare(keys)
        proof = prove(reader, period=None, currency=None)
        maker = ChargeMaker(reader.tags, keys, proof.currency)
        for period in proof.ends:
            for page in reader.cells(period, 100):
                for row in page:
                    yield from maker.charges(row)


def ingest(
    store: LedgerStore,
    *roots: Path,
    now: datetime = LATER,
    keys: TagKeys = KEYS,
    since: date | None = None,
    until: date | None = None,
    full: bool = False,
) -> ExportOutcome:
    """Import places, each known by its own path."""
    places = [ExportFolder(root) for root in roots]
    scope = ExportScope(since=since, until=until, is_full=full)
    return import_exports(places, store, keys, now=now, scope=scope, limits=LIMITS)
