"""The gate of HTTP requests: C116, H1, H2, H3."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from bot.slack.http import (
    BODY_BYTES_MAX,
    Rejected,
    check_request,
    is_oversized,
    sign,
)
from tests.builders_bot import NOW
from tests.slack.support import SECRET

BODY = b"token=x&command=%2Fgpucost&text=job-123"


def signed_headers(
    body: bytes = BODY, *, age_s: int = 0, secret: str = SECRET
) -> dict[str, Any]:
    timestamp = str(int(NOW.timestamp()) - age_s)
    return {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": sign(body, timestamp=timestamp, secret=secret),
    }


def check(headers: dict[str, Any], body: bytes = BODY) -> Rejected | None:
    return check_request(headers, body, secret=SECRET, now=NOW)


def test_request_signed_now_passes() -> None:
    assert check(signed_headers()) is None


@pytest.mark.parametrize("age_s", [-300, -1, 1, 299, 300])
def test_requests_within_five_minutes_pass(age_s: int) -> None:
    assert check(signed_headers(age_s=age_s)) is None


# C116
@pytest.mark.parametrize("age_s", [301, 360, 86_400, -301, -600])
def test_older_or_newer_requests_name_the_clock(age_s: int) -> None:
    rejected = check(signed_headers(age_s=age_s))

    assert rejected is not None
    assert rejected.status == 401
    assert "check the clock" in rejected.reason


def test_another_secret_is_refused() -> None:
    rejected = check(signed_headers(secret="other"))

    assert rejected == Rejected(status=401, reason="signature does not match")


def test_another_body_is_refused() -> None:
    rejected = check(signed_headers(), BODY + b"&x=1")

    assert rejected is not None


def test_body_that_is_no_utf8_is_checked_as_bytes() -> None:
    body = b"\xff\xfe\x00"

    assert check(signed_headers(body), body) is None


# H3
def test_large_body_is_refused_before_anything_else() -> None:
    body = b"x" * (BODY_BYTES_MAX + 1)

    rejected = check({}, body)

    assert rejected is not None
    assert rejected.status == 413
    assert is_oversized({"Content-Length": str(5 * 1024 * 1024)})
    assert not is_oversized({"Content-Length": "100"})


def test_body_of_exactly_the_limit_passes() -> None:
    body = b"x" * BODY_BYTES_MAX

    assert check(signed_headers(body), body) is None


def test_compressed_body_is_refused() -> None:
    rejected = check(signed_headers() | {"Content-Encoding": "gzip"})

    assert rejected is not None
    assert rejected.status == 415


def test_no_secret_means_no_request_passes() -> None:
    rejected = check_request(signed_headers(), BODY, secret="", now=NOW)

    assert rejected is not None
    assert rejected.status == 503


def test_reasons_hold_nothing_of_the_request() -> None:
    headers = signed_headers(secret="canary") | {"X-Canary": "canary"}

    rejected = check(headers, b"canary")

    assert rejected is not None
    assert "canary" not in rejected.reason


# H1
def test_a_thousand_malformed_headers_are_refused_and_none_raises() -> None:
    chosen = random.Random(1)
    good = signed_headers()
    timestamp, signature = good.values()
    timestamps = [
        *("", "0", "-1", "+1", "1e9", "NaN", "inf", "1.5", "9" * 400, "١٢٣", "x", None),
        *(" " + timestamp, timestamp + "\n", timestamp + ".0", [], [timestamp] * 2, 5),
    ]
    signatures = [
        *("", "v0=", "v1" + signature[2:], signature[:-1], signature + "0", None, 7),
        *(signature.upper(), "v0=" + "é" * 64, "v0=" + "0" * 64, "\ud800", "\x00", []),
    ]
    for _ in range(1000):
        headers = {
            "X-Slack-Request-Timestamp": chosen.choice([*timestamps, timestamp]),
            "X-Slack-Signature": chosen.choice(signatures),
        }
        rejected = check(headers)
        assert rejected is not None
        assert rejected.status == 401


@pytest.mark.parametrize("missing", ["X-Slack-Request-Timestamp", "X-Slack-Signature"])
def test_missing_header_is_refused(missing: str) -> None:
    headers = signed_headers()
    del headers[missing]

    assert check(headers) is not None


def test_headers_are_found_in_any_case_and_as_lists() -> None:
    headers = {key.lower(): [value] for key, value in signed_headers().items()}

    assert check(headers) is None


def test_window_is_counted_from_the_clock_given() -> None:
    headers = signed_headers()

    later = NOW + timedelta(seconds=301)

    assert check_request(headers, BODY, secret=SECRET, now=later) is not None
