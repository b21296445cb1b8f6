"""The section that says where Athena reads an export. Knows no file and no engine."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

_UNITS = {"GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(GB|TB)")


def _size(value: object) -> int:
    if isinstance(value, int):
        return value
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        message = f"expected a size such as '500 GB' or '2 TB', got {value!r}"
        raise ValueError(message)
    return int(float(match[1]) * _UNITS[match[2]])


def _table(value: object) -> str:
    text = str(value)
    if re.fullmatch(r"[A-Za-z0-9_]+\.[A-Za-z0-9_]+", text) is None:
        message = f"expected database.table, got {value!r}"
        raise ValueError(message)
    return text


class AthenaSection(BaseModel):
    """Where Athena reads an export, and what a statement may read.

    Attributes:
        output: Where results are written; "" is the workgroup's own place.
        bytes_limit: A statement that reads more is stopped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: Annotated[str, BeforeValidator(_table)]
    workgroup: str = "primary"
    output: str = ""
    region: str = ""
    catalog: str = "AwsDataCatalog"
    bytes_limit: Annotated[int, BeforeValidator(_size)] = 10**12
