"""A Cost Explorer on loopback, in a process of its own, that answers with ready bytes.

The first time a question comes, its pages are built; from then on they are only sent,
so that what is measured is the reader. ``python -m tests.bench.ce_server GROUPS PAGE``
prints its port and ends with its standard input.
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager

from tests.bench.ce_answers import Bill, Json, pages_of, tags_answer
from tests.bench.loopback import ReadyAnswers, run, spawned


class Answers:
    """Every answer given so far, by its question without the page token."""

    def __init__(self, bill: Bill) -> None:
        self._bill = bill
        self._pages: dict[str, list[bytes]] = {}

    def answer(self, operation: str, request: Json) -> bytes:
        if operation == "ListCostAllocationTags":
            return tags_answer()
        token = request.pop("NextPageToken", "0")
        key = json.dumps(request, sort_keys=True)
        if key not in self._pages:
            self._pages[key] = pages_of(self._bill, request)
        return self._pages[key][int(token)]


class Handler(ReadyAnswers):
    """Answers Cost Explorer's operations."""

    answers: Answers

    def answer(self) -> None:
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        request = json.loads(self.body())
        self.send(self.answers.answer(operation, request), "application/x-amz-json-1.1")


def serving(bill: Bill) -> AbstractContextManager[str]:
    """Start the server and give its URL; it is gone afterwards."""
    return spawned(__name__, bill.groups, bill.page)


def main() -> None:
    Handler.answers = Answers(Bill(*map(int, sys.argv[1:3])))
    run(Handler)


if __name__ == "__main__":
    main()
