"""Start a command once an approval covers it, stay beside it, and record its end.

What was started is never stopped by gpucost: a record that cannot be written is told,
and the command runs on. Knows nothing of options and exit codes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from threading import Event

from billing.core.errors import GpucostError
from billing.core.estimate import EstimateRequest
from billing.ledger.database import DatabaseBusyError, DatabaseUnavailableError
from bot.clock import system_now
from bot.migrations import SchemaError
from bot.settings import Settings
from bot.use_cases.grants import BEAT, LEASE, Coverage
from bot.wiring.child import Child
from bot.wiring.desk import ApprovalDesk
from bot.wiring.grants import GrantDesk, check_clock, contradiction
from bot.wiring.parts import policy_paths
from bot.wiring.people import caller_email
from policies.core.approvals import ApprovalRequest, RequestState

#: What a launcher takes for "gpucost is down".
DOWN = (DatabaseBusyError, DatabaseUnavailableError, SchemaError)
LOOK_AGAIN_S = 2.0
#: What shells answer for a command that cannot be executed.
NOT_FOUND = 127
Say = Callable[[str], None]


class NotStartedError(GpucostError):
    """The command was not started."""

    code = "not_started"
    exit_code = 3


class StillPendingError(NotStartedError):
    """Nobody has decided yet, so the command was not started."""

    exit_code = 4


class NoCommandError(NotStartedError):
    """There is no such command, so nobody was asked about it."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to run, and how to ask for it.

    Attributes:
        grant: A token to use; "" asks for approval, or uses the one there is.
        requester: E-mail of who asks.
    """

    command: Sequence[str]
    plan: EstimateRequest
    grant: str
    requester: str
    reason: str
    timeout: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a launcher is heard of, and looks again, in seconds."""

    beat_s: float = BEAT.total_seconds()
    look_again_s: float = LOOK_AGAIN_S


def check_command(command: Sequence[str]) -> None:
    """Make sure that there is something to start, before anybody is asked.

    Raises:
        NoCommandError: There is not.
    """
    if not command:
        raise NoCommandError("name the command after --, such as -- python train.py")
    if shutil.which(command[0]) is None:
        raise NoCommandError(f"there is no command {command[0]!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Asks, waits, starts and watches one command at a time."""

    desk: ApprovalDesk
    say: Say
    pace: Pace = Pace()

    @property
    def grants(self) -> GrantDesk:
        """Return where grants are checked."""
        return self.desk.grants

    def run(self, wish: Wish) -> int:
        """Start a command once it is approved; return its exit code.

        Raises:
            NotStartedError: It was denied, expired, is not covered or still waits.
        """
        check_clock(self.desk.settings)
        by = self.desk.caller_name()
        token = wish.grant or self._approved(wish)
        found = self._started(token, wish.plan, by)
        if not found.is_covered:
            self._quietly(lambda: self.grants.refuse(found, wish.plan, by=by))
            raise NotStartedError(found.reason)
        assert found.launch_id is not None
        child = _spawn(wish.command, token)
        if child is None:
            self._quietly(lambda: self.grants.end(found, NOT_FOUND, by=by))
            raise NotStartedError(f"{wish.command[0]!r} cannot be executed")
        code = self._stay(child, found.launch_id)
        self._quietly(lambda: self.grants.end(found, code, by=by))
        return code

    # --------------------------------------------------------------------- asking

    def _approved(self, wish: Wish) -> str:
        """Return the grant of an approved request for a plan, waiting for the decision."""
        requester = wish.requester or caller_email(self.desk.settings)
        request = self.desk.standing(wish.plan, requester)
        request = request or self.grants.covering(wish.plan, requester)
        if request is None and (why := self.grants.why_lapsed(wish.plan.job)):
            raise NotStartedError(why)
        request = request or self.desk.file_from_cli(
            wish.plan, requester=requester, reason=wish.reason
        )
        if request.state.is_open:
            self.say(f"{request.request_id} waits for approval")
            request = self._decided(request, wish.timeout)
        if request.state.is_open:
            raise StillPendingError(f"{request.request_id} still waits for approval")
        if request.state is not RequestState.APPROVED:
            raise NotStartedError(f"{request.request_id} is {request.state.value}")
        token = self.grants.token_of(request)
        if token is None:
            raise NotStartedError(f"the grant of {request.request_id} is used up")
        return token

    def _decided(self, request: ApprovalRequest, timeout: timedelta) -> ApprovalRequest:
        """Wait for a decision; a database that is away for a while does not end it."""
        ends, told = system_now() + timeout, False
        while True:
            left = max(ends - system_now(), timedelta(0))
            try:
                return self.desk.wait(request.request_id, left)
            except DOWN as error:
                if not left:
                    raise
                if not told:
                    self.say(f"{error}; waiting on")
                told = True
            Event().wait(self.pace.look_again_s)

    def _started(self, token: str, plan: EstimateRequest, by: str) -> Coverage:
        """Record the launch; wait for the place of one that may have died.

        A launch that runs is heard of again soon, one that died is free by its lease:
        so only those not heard of since we asked are worth a wait.
        """
        began, told = system_now(), False
        while True:
            found = self.grants.start(token, plan, by=by)
            silent = [one for one in found.running if one.lease_until <= began + LEASE]
            if not (found.is_crowded and silent and system_now() < began + LEASE):
                return found
            if not told:
                self.say(f"{found.reason}; making sure that they still do")
            told = True
            Event().wait(self.pace.look_again_s)

    # ------------------------------------------------------------------- watching

    def _stay(self, child: Child, launch_id: int) -> int:
        """Stay beside a command until it ends, saying that it runs."""
        told = False
        while (code := child.wait(self.pace.beat_s)) is None:
            beaten = self._quietly(lambda: self.grants.beat(launch_id), told=told)
            told = not beaten
        return code

    def _quietly(self, record: Callable[[], object], *, told: bool = False) -> bool:
        """Write a record; one that cannot be written is told, and changes nothing."""
        try:
            record()
        except GpucostError as error:
            if not told:
                self.say(f"this could not be put on record: {error}")
            return False
        return True


# ---------------------------------------------------------------------- when it is down


def run_under_limit(settings: Settings, wish: Wish, say: Say) -> int:
    """Start a command that nobody can count, unless a policy would ask about it.

    Raises:
        NotStartedError: One would, its token contradicts it, or it cannot be executed.
    """
    from bot.wiring.admission import need_without_record  # noqa: PLC0415 - loads HTTP
    from policies.load import load_policies  # noqa: PLC0415 - loads CEL and YAML

    paths = policy_paths(settings, None)
    policies, errors = load_policies(paths) if paths else ((), ())
    if errors:
        raise NotStartedError("the policies cannot be read, so no limit is known")
    need = need_without_record(settings, policies, wish.plan)
    if need is not None and not wish.grant:
        cost = need.high or "nobody knows what"
        told = f"it may cost {cost}, and {need.policy} wants that approved"
        raise NotStartedError(f"{told}; nothing can be checked now")
    return run_unrecorded(settings, wish, say)


def run_unrecorded(settings: Settings, wish: Wish, say: Say) -> int:
    """Start a command that nobody can count; return its exit code.

    Raises:
        NotStartedError: Its token contradicts it, or it cannot be executed.
    """
    if wish.grant and (why := contradiction(settings, wish.grant, wish.plan)):
        raise NotStartedError(why)
    child = _spawn(wish.command, wish.grant)
    if child is None:
        raise NotStartedError(f"{wish.command[0]!r} cannot be executed")
    say("started without a check and without a record")
    while (code := child.wait(BEAT.total_seconds())) is None:
        pass
    return code


def _spawn(command: Sequence[str], token: str) -> Child | None:
    try:
        return Child(command, {"GPUCOST_GRANT": token} if token else {})
    except OSError:
        return None
