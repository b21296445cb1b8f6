"""Where checkpoints live: a template of an S3 prefix, and the keys it means.

Keys are matched verbatim and whole path segments only: ``run-1`` never means
``run-10``. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from billing.core.errors import GpucostError

STEP_DIGITS_MAX = 18
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_HOLES = re.compile(r"\{([^{}]*)\}")
_PATTERNS = {
    "job": r"(?P<job>[^/]+)",
    "step": rf"(?P<step>[0-9]{{1,{STEP_DIGITS_MAX}}})",
}


class LocationError(GpucostError, ValueError):
    """A checkpoint location cannot be used."""

    code = "invalid_location"

    def __init__(self, text: str, expected: str) -> None:
        super().__init__(f"expected {expected}, got {text!r}")


@dataclass(frozen=True, slots=True)
class Location:
    """A template such as ``s3://bucket/prefix/{job}/checkpoints/step-{step}/``.

    Attributes:
        prefix: The part of every key before the first placeholder; what is listed.
    """

    text: str
    bucket: str
    prefix: str
    path: str
    pattern: re.Pattern[str] = field(repr=False, compare=False, hash=False)

    def __str__(self) -> str:
        """Return the template."""
        return self.text

    def folder(self, job: str) -> str:
        """Return the part of the location that holds one job's checkpoints."""
        before = self.path.partition("{step}")[0]
        folder = before[: before.rfind("/") + 1].replace("{job}", job)
        return f"s3://{self.bucket}/{folder}"


def parse_location(text: str) -> Location:
    """Read a location template.

    >>> parse_location("s3://models/{job}/checkpoints/step-{step}/").prefix
    ''
    """
    example = "a location like s3://bucket/{job}/checkpoints/step-{step}/"
    if not text.startswith("s3://"):
        raise LocationError(text, example)
    bucket, slash, path = text.removeprefix("s3://").partition("/")
    if _BUCKET.fullmatch(bucket) is None or not slash:
        raise LocationError(text, f"{example} with a bucket name")
    holes = _HOLES.findall(path)
    if holes.count("step") != 1 or holes.count("job") > 1 or set(holes) - {*_PATTERNS}:
        raise LocationError(text, "{step} once, {job} at most once, no other braces")
    if not path.endswith("/"):
        raise LocationError(text, "a location that ends in '/': a folder a checkpoint")
    if "{step}{job}" in path or "{job}{step}" in path:
        raise LocationError(text, "something between {job} and {step}")
    parts = _HOLES.split(path)
    pieces = (
        _PATTERNS[part] if index % 2 else re.escape(part)
        for index, part in enumerate(parts)
    )
    pattern = re.compile("".join(pieces) + r"(?P<rest>.*)", re.DOTALL)
    return Location(text, bucket, parts[0], path, pattern)
