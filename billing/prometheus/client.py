"""Questions to Prometheus over its HTTP API, with every answer bounded and checked.

https://prometheus.io/docs/prometheus/latest/querying/api/
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from billing.core.errors import GpucostError
from billing.ports import SourceUnavailableError

SOURCE = "metrics"
TIMEOUT_S = 30.0
#: The year 2286; NaN and nonsense are no time.
_SECONDS_MAX = 1e10
ANSWER_BYTES_MAX = 64 * 1024 * 1024


class BadPrometheusUrlError(GpucostError, ValueError):
    """The address of Prometheus cannot be one; nothing was asked."""

    code = "bad_prometheus_url"
    exit_code = 2

    def __init__(self, url: str) -> None:
        host = urlsplit(url).hostname or "no host"
        super().__init__(
            f"prometheus.url must be http:// or https:// with a host, got one of {host!r}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One series of an answer: its labels, and its samples as ``(second, value)``."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, str], ...]


class _NoRedirect(HTTPRedirectHandler):
    """A redirect is an answer of somebody else: it is an error, not followed."""

    def redirect_request(self, *_: Any, **__: Any) -> None:  # noqa: ANN401 - the library's
        """Follow nothing."""
        return


class Prometheus:
    """One Prometheus server, or what answers like one.

    Raises:
        BadPrometheusUrlError: The address is none.
    """

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadPrometheusUrlError(url)
        self._url = url.rstrip("/")
        self._host = parts.hostname
        self._timeout_s = timeout_s
        self._opener = build_opener(_NoRedirect())

    def at(self, query: str, instant: datetime) -> Sequence[Series]:
        """Return the series of a query at one instant.

        Raises:
            SourceUnavailableError: It could not be asked, or answered with an error.
        """
        return self._ask("query", {"query": query, "time": f"{instant.timestamp()}"})

    def over(
        self, query: str, start: datetime, end: datetime, step: timedelta
    ) -> Sequence[Series]:
        """Return the series of a query between two instants, both included.

        Raises:
            SourceUnavailableError: As above.
        """
        values = {
            "query": query,
            "start": f"{start.timestamp()}",
            "end": f"{end.timestamp()}",
            "step": f"{step.total_seconds()}",
        }
        return self._ask("query_range", values)

    def _ask(self, what: str, values: Mapping[str, str]) -> Sequence[Series]:
        request = Request(  # noqa: S310 - the scheme was checked
            f"{self._url}/api/v1/{what}?{urlencode(values)}",
            headers={"Accept": "application/json"},
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                body = answer.read(ANSWER_BYTES_MAX + 1)
        except HTTPError as error:
            raise self._failed(f"answered {error.code}", str(error.code)) from error
        except (URLError, HTTPException, OSError) as error:
            reason = getattr(error, "reason", error)
            raise self._failed(
                f"could not be asked: {reason}", "unreachable"
            ) from error
        if len(body) > ANSWER_BYTES_MAX:
            raise self._failed("answered with more than 64 MiB", "too_large")
        return self._series(body)

    def _series(self, body: bytes) -> Sequence[Series]:
        try:
            document: Any = json.loads(body)
            if document["status"] != "success":
                told = str(document.get("error", ""))[:200]
                raise self._failed(f"refused the question: {told}", "query")
            return [
                Series(labels=dict(one["metric"]), samples=_samples(one))
                for one in document["data"]["result"]
            ]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._failed("answered with something else", "malformed") from error

    def _failed(self, what: str, cause: str) -> SourceUnavailableError:
        return SourceUnavailableError(
            SOURCE, f"Prometheus at {self._host} {what}", cause=cause
        )


def _samples(one: Mapping[str, Any]) -> tuple[tuple[float, str], ...]:
    values = one["values"] if "values" in one else [one["value"]]
    found = tuple((float(second), str(value)) for second, value in values)
    if any(not 0 <= second < _SECONDS_MAX for second, _ in found):
        raise ValueError("a time that is none")
    return found
