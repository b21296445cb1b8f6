"""The bill by account and day, read from Cost Explorer.

Two control questions give the totals that the detail must reach. The detail streams
page by page; whoever reads it discards what came when an error ends it. Must not know
where charges are stored. Each request costs $0.01 and is counted before it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime

from billing.aws import ce_queries
from billing.aws.calls import whole
from billing.aws.ce_answers import CurrencySeen, DaySums
from billing.aws.ce_calls import (
    COST_AND_USAGE,
    PERMISSIONS,
    SOURCE,
    cost_pages,
    require_days,
)
from billing.aws.ce_controls import TOLERANCE_NANOS, LacksNetError, read_controls
from billing.aws.ce_queries import NET, PLAIN, MetricNames, Params
from billing.aws.ce_rows import RowMaker
from billing.aws.ce_tags import USABLE, activation_note, read_tag_keys, warning_of
from billing.aws.session import AwsClients
from billing.core.charges import Bucket, Charge, DayControl
from billing.core.money import Money
from billing.ports import (
    AnswerChangedError,
    IncompleteAnswerError,
    SourceUnavailableError,
    TagKeyStatus,
)

__all__ = ["PERMISSIONS", "CostExplorerSource"]

_NO_NET = "DataUnavailableException"


class CostExplorerSource:
    """Reads the bill of some accounts.

    Args:
        accounts: Accounts to read; None for every account that the bill names.
        job_tag_keys: Tag keys that name jobs, in order of precedence.
        clock: Tells when an answer was read.
    """

    def __init__(
        self,
        clients: AwsClients,
        *,
        accounts: Sequence[str] | None,
        job_tag_keys: Sequence[str],
        clock: Callable[[], datetime],
    ) -> None:
        self._clients = clients
        self._accounts = None if accounts is None else tuple(accounts)
        self._keys = tuple(job_tag_keys)
        self._clock = clock
        self._metrics = NET
        self._currency = CurrencySeen()
        self._statuses: Sequence[TagKeyStatus] | None = None
        self._first: date | None = None
        self._asked: set[str] = set()
        self._valued: set[str] = set()

    @property
    def currency(self) -> str | None:
        """Return the currency seen in the last answer; None before one."""
        return self._currency.code or None

    @property
    def spent(self) -> tuple[int, Money]:
        """Return how many billable requests were made so far, and their price."""
        return self._clients.spent("ce")

    @property
    def notes(self) -> Sequence[str]:
        """Return what a reader must know about how the bill was read."""
        found = [warning_of(status) for status in self._statuses or ()]
        if self._first is not None:
            found += [activation_note(one, self._first) for one in self._statuses or ()]
        found += [
            f"tag key {key!r} returned no values: not activated, misspelt or not used"
            for key in sorted(self._asked - self._valued)
        ]
        if self._metrics is PLAIN:
            found.append(
                "no net amounts in this bill: unblended and amortized cost were read"
            )
        return tuple(note for note in found if note)

    def tag_keys(self) -> Sequence[TagKeyStatus]:
        """Return the state of each configured key, looked up once per source."""
        if self._statuses is None:
            self._statuses = read_tag_keys(self._clients, self._keys)
        return self._statuses

    def controls(self, since: date, until: date) -> Sequence[DayControl]:
        """Read the control totals of every day of ``[since, until)``, two requests.

        Both are asked once more when they do not fit: data may move between them.
        """
        try:
            return self._controls(since, until)
        except (AnswerChangedError, IncompleteAnswerError):
            return self._controls(since, until)

    def charges(
        self, account: str, since: date, until: date
    ) -> Iterator[Sequence[Charge]]:
        """Yield the account's charges of ``[since, until)`` page by page."""
        self._first = min(self._first or since, since)
        yield from self._usage(account, since, until)
        asked = ce_queries.other(account, since, until, metrics=self._metrics)
        rows = self._rows(account, width=2, is_usage=False)
        yield from self._read(asked, rows, account)
        require_days(rows.days, since, until, account=account)

    def _controls(self, since: date, until: date) -> Sequence[DayControl]:
        try:
            return self._read_controls(since, until, self._metrics)
        except LacksNetError:
            pass
        except SourceUnavailableError as error:
            if error.cause != _NO_NET or self._metrics is PLAIN:
                raise
        self._metrics = PLAIN
        return self._read_controls(since, until, PLAIN)

    def _read_controls(
        self, since: date, until: date, metrics: MetricNames
    ) -> Sequence[DayControl]:
        return read_controls(
            self._clients,
            since,
            until,
            accounts=self._accounts,
            metrics=metrics,
            currency=self._currency,
            read_at=self._clock(),
        )

    def _usage(
        self, account: str, since: date, until: date
    ) -> Iterator[Sequence[Charge]]:
        """Yield usage: what a key leaves untagged is asked again by the next key."""
        keys = [one.key for one in self.tag_keys() if one.state in USABLE] or [""]
        expected: DaySums | None = None
        for index, key in enumerate(keys):
            asked = ce_queries.usage(
                account, since, until,
                metrics=self._metrics, key=key, absent=keys[:index],
            )  # fmt: skip
            rows = self._rows(account, width=2 if key else 1, is_usage=True)
            rest = _Rest(is_last=index + 1 == len(keys))
            for page in self._read(asked, rows, account):
                yield rest.keep(page)
            require_days(rows.days, since, until, account=account)
            if expected and expected.differs_on(rows.total, TOLERANCE_NANOS):
                empty = self._empty_values(account, since, until, keys[:index])
                yield empty
                for one in empty:
                    rows.total.add(one.day, one.billed.nanos, one.effective.nanos)
                _require_same(expected, rows.total, account)
            self._asked |= {key} - self._known_active()
            self._valued |= {key} if rest.has_jobs else set()
            if not rest.left:
                return
            expected = rest.sums

    def _empty_values(
        self, account: str, since: date, until: date, keys: Sequence[str]
    ) -> list[Charge]:
        """Return what carries the last of the keys, but with nothing in it.

        Cost Explorer groups it with what lacks the key, yet it is not absent.
        """
        asked = ce_queries.usage(
            account, since, until,
            metrics=self._metrics, key=keys[-1], absent=keys[:-1], is_present=True,
        )  # fmt: skip
        rows = self._rows(account, width=2, is_usage=True)
        pages = self._read(asked, rows, account)
        return [one for page in pages for one in page if one.bucket is not Bucket.JOB]

    def _known_active(self) -> set[str]:
        active = {one.key for one in self.tag_keys() if one.state == "active"}
        return {"", *active}

    def _rows(self, account: str, *, width: int, is_usage: bool) -> RowMaker:
        return RowMaker(
            account, self._metrics, self._currency, width=width, is_usage=is_usage
        )

    def _read(
        self, asked: Params, rows: RowMaker, account: str
    ) -> Iterator[Sequence[Charge]]:
        for answer in cost_pages(self._clients, asked, account=account):
            with whole(COST_AND_USAGE):
                page = list(rows.page(answer))
            yield page


class _Rest:
    """Holds back untagged rows that the question by the next key will replace."""

    def __init__(self, *, is_last: bool) -> None:
        self.sums = DaySums()
        self.left = 0
        self.has_jobs = False
        self._is_last = is_last

    def keep(self, page: Sequence[Charge]) -> Sequence[Charge]:
        """Return the rows of a page that stand, and remember the sums of the others."""
        with_job = [one for one in page if one.bucket is Bucket.JOB]
        self.has_jobs = self.has_jobs or bool(with_job)
        if self._is_last:
            return page
        for one in page:
            if one.bucket is not Bucket.JOB:
                self.left += 1
                self.sums.add(one.day, one.billed.nanos, one.effective.nanos)
        return with_job


def _require_same(expected: DaySums, found: DaySums, account: str) -> None:
    day = expected.differs_on(found, TOLERANCE_NANOS)
    if day:
        message = f"untagged cost of {day} is not what the next tag key says: not used"
        raise IncompleteAnswerError(SOURCE, message, account=account)
