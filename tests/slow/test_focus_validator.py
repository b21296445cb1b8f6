"""What `gpucost export` writes passes the validator of the FOCUS specification."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from billing.exports.focus_file import focus_file
from tests.slow import other_python
from tests.unit.billing_exports.test_focus_rows import every_kind

pytestmark = pytest.mark.slow
#: What the ledger knows of, in the validator's words.
CRITERIA = (
    *(
        "SUB_ACCOUNT_SUPPORTED",
        "REGION_SUPPORTED",
        "MULTIPLE_PRICING_CATEGORIES_SUPPORTED",
    ),
    "BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED",
)
FAILED = re.compile(r"^\S+ ([A-Za-z]+-[A-Z]-\d{3}-[A-Z]): FAIL", re.MULTILINE)
#: "Not null when there is an invoice", checked of every row; the rule above it, which
#: allows none, must pass.
NO_INVOICE = {"InvoiceId-C-005-C"}
#: A CSV has no types: account ids look like numbers.
NO_TYPES = {
    *("BillingAccountId-C-000-M", "BillingAccountId-C-002-M"),
    *("SubAccountId-C-000-C", "SubAccountId-C-001-M"),
    *("SubAccountName-C-000-C", "SubAccountName-C-001-M"),
}


def _failed(path: Path) -> set[str]:
    python = other_python.python()
    # It looks for its own files below the folder that it is started in.
    folder = other_python.run(
        str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
        folder=path.parent,
    )  # fmt: skip
    said = other_python.run(
        str(python.with_name("focus-validator")), "--data-file", str(path),
        "--validate-version", "1.2.0.1", "--block-download",
        "--focus-dataset", "CostAndUsage",
        "--applicability-criteria", ",".join(CRITERIA),
        folder=Path(folder.strip()),
    )  # fmt: skip
    assert "PASS" in said
    return set(FAILED.findall(said))


@pytest.mark.parametrize(
    ("name", "known"),
    [("out.parquet", NO_INVOICE), ("out.csv", NO_INVOICE | NO_TYPES)],
)
def test_every_rule_but_the_known_ones_passes(
    name: str, known: set[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    with focus_file(path, is_parquet=path.suffix == ".parquet") as file:
        file.write(every_kind())

    assert _failed(path) <= known
