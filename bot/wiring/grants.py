"""Grants of approved requests, as the command line hands them out and checks them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from billing.core.attribution import normalise_job
from billing.core.errors import GpucostError
from billing.core.estimate import EstimateRequest
from bot.clock import Now, system_now
from bot.ports import Store, UnitOfWork
from bot.secrets import load_or_create_key
from bot.settings import Settings
from bot.use_cases.grants import (
    Assessor,
    Coverage,
    Moment,
    beat,
    end,
    launch_of,
    refuse,
    start,
)
from bot.use_cases.grants_cache import cache_text, live_entries
from bot.use_cases.pricing import price_book
from bot.wiring.parts import own_prices, rules_clock, tag_keys
from bot.wiring.people import remember
from policies.core.approvals import ApprovalRequest, RequestState
from policies.core.grants import (
    Grant,
    Usage,
    covers,
    grant_of,
    lapsed_why,
    usage_of,
    used_up,
)

if TYPE_CHECKING:
    from bot.grants import GrantKeys

_REQUEST_ID = re.compile(r"\bapr-[0-9a-z]{4,32}\b")


class CannotWriteError(GpucostError):
    """The file of live grants cannot be written; the one there ages."""

    code = "cannot_write"
    hint = "run it as who owns that folder"

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{str(path)!r} cannot be written: {error.strerror}")


@dataclass(frozen=True)
class GrantDesk:
    """Grants over one store and one key ring."""

    settings: Settings
    store: Store
    now: Now

    @cached_property
    def keys(self) -> GrantKeys:
        """Return the key ring of this installation."""
        return key_ring(self.settings)

    def token_of(self, request: ApprovalRequest) -> str | None:
        """Return the token of a request's grant; None when it has none, or no more.

        What its job has cost is left to the check: many are listed at once.
        """
        grant, now = grant_of(request), self.now()
        if grant is None or now >= grant.expires_at:
            return None
        with self.store.read() as unit:
            launches = unit.journal.launches(request.request_id)
        usage = usage_of(launches, now=now, system_now=system_now())
        return None if used_up(grant, usage) else self.keys.sign(grant)

    def verify(self, token: str, plan: EstimateRequest) -> Coverage:
        """Tell whether a token covers a launch; nothing is started or recorded."""
        grant = self.read(token)
        if isinstance(grant, Coverage):
            return grant
        with self.store.read() as unit:
            return self._assessor(unit).assess(grant, plan, self._at())

    def read(self, token: str) -> Grant | Coverage:
        """Return the grant of a token, or why it is none."""
        check_clock(self.settings)
        return read_token(self.keys, token)

    def has_room(self, request: ApprovalRequest, plan: EstimateRequest) -> bool:
        """Tell whether a request still covers a plan, now or once others have ended.

        One that lapsed does: asking for the same again would not help.
        """
        grant = grant_of(request)
        if grant is None:
            return False
        with self.store.read() as unit:
            found = self._assessor(unit).assess(grant, plan, self._at())
        return found.is_covered or found.is_crowded or found.is_lapsed

    def covering(self, plan: EstimateRequest, requester: str) -> ApprovalRequest | None:
        """Return an approval of somebody's job that covers a plan, if not exactly it.

        What was asked for again of a job that left its envelope is such a one.
        """
        who = remember(self.store, email=requester.strip().lower())
        job, at = normalise_job(plan.job), self._at()
        with self.store.read() as unit:
            assessor = self._assessor(unit)
            for one in unit.journal.requests(state=RequestState.APPROVED):
                grant = grant_of(one) if one.requester == who else None
                if grant is None or normalise_job(one.envelope.job) != job:
                    continue
                if assessor.assess(grant, plan, at).is_covered:
                    return one
        return None

    def why_lapsed(self, job: str) -> str:
        """Return why nothing of a job may start: its grant lapsed, people were asked.

        Once they have decided, it may be asked for as any other.
        """
        with self.store.read() as unit:
            for one in unit.journal.requests(state=RequestState.LAPSED):
                told = lapsed_why(one)
                if not told or normalise_job(one.envelope.job) != normalise_job(job):
                    continue
                known = map(unit.journal.request, _REQUEST_ID.findall(told))
                if any(again is not None and again.state.is_open for again in known):
                    return f"the grant of {one.request_id} lapsed: {told}"
        return ""

    def write_cache(self, path: Path) -> int:
        """Write the live grants to a signed file, whole; return how many there are.

        Raises:
            CannotWriteError: It cannot be written there.
        """
        check_clock(self.settings)
        at = self._at()
        entries = live_entries(self.store, now=at.now, system_now=at.system)
        try:
            key = load_or_create_key(path.with_name(f"{path.name}.key"))
            text = cache_text(entries, key=key, written_at=at.system)
            draft = path.with_name(f".{path.name}.new")
            with draft.open("w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            raise CannotWriteError(path, error) from error
        return len(entries)

    # ------------------------------------------------------------------ launching

    def start(self, token: str, plan: EstimateRequest, *, by: str) -> Coverage:
        """Record a launch if a token covers it."""
        grant = self.read(token)
        if isinstance(grant, Coverage):
            return grant
        with self.store.write() as unit:
            return start(self._assessor(unit), grant, plan, by=by, at=self._at())

    def refuse(self, found: Coverage, plan: EstimateRequest, *, by: str) -> None:
        """Put on record that a launch was not started."""
        refuse(self.store, found, plan, by=by, now=self.now())

    def beat(self, launch_id: int) -> bool:
        """Record that a launch still runs; False when it was ended."""
        return beat(self.store, launch_id, self._at())

    def end(self, found: Coverage, exit_code: int, *, by: str) -> None:
        """Record the end of a launch."""
        end(self.store, found, exit_code=exit_code, by=by, now=self.now())

    def _assessor(self, unit: UnitOfWork) -> Assessor:
        prices = price_book(unit.ledger, own_prices(self.settings))
        return Assessor(unit, prices, tag_keys(self.settings))

    def _at(self) -> Moment:
        return Moment(now=self.now(), system=system_now())


def key_ring(settings: Settings) -> GrantKeys:
    """Return the keys that sign and verify grants."""
    from bot.grants import GrantKeys  # noqa: PLC0415 - loads cryptography

    return GrantKeys(settings.config.data_dir)


def read_token(keys: GrantKeys, token: str) -> Grant | Coverage:
    """Return the grant of a token, or why it is none."""
    from bot.grants import InvalidGrantError  # noqa: PLC0415 - as above

    try:
        return keys.read(token)
    except InvalidGrantError as error:
        return Coverage(request_id="", reason=str(error))


def check_clock(settings: Settings) -> None:
    """Refuse a set clock: it would make an ended grant a live one.

    Raises:
        InvalidSettingsError: ``GPUCOST_NOW`` is set outside a sandbox; what is launched
            calls AWS.
    """
    settings.check_clock(calls_aws=True, calls_slack=False)


def contradiction(settings: Settings, token: str, plan: EstimateRequest) -> str | None:
    """Return why a token cannot cover a plan, as far as the token itself tells.

    Neither the record nor other launches are looked at: for when they cannot be.
    """
    check_clock(settings)
    grant = read_token(key_ring(settings), token)
    if isinstance(grant, Coverage):
        return grant.reason
    return covers(grant, launch_of(plan), Usage(), rules_clock(settings)())
