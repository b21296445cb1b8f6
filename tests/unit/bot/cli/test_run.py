"""`gpucost run`: what it starts, what it does not, and what it leaves behind."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.attribution import TagKeys
from billing.ledger.database import DatabaseBusyError
from bot.cli.launches import _patiently
from bot.clock import system_now
from bot.use_cases.drift import Watch, lapse_drifted
from policies.core.kinds.approval import ApprovalPolicy
from tests.builders import NOW
from tests.builders_cli import Office, Ran
from tests.builders_use_cases import runs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builders_use_cases import Company

LOOPBACK = "http://127.0.0.1:9"
SMALL = ("--instance-type", "p5.48xlarge", "--count", "2", "--hours", "8")
LARGE = ("--instance-type", "p5.48xlarge", "--count", "8", "--hours", "72")


@dataclass
class Shell:
    """Runs commands in a company's folder; each leaves a mark when it was started."""

    office: Office
    company: Company

    @property
    def mark(self) -> Path:
        return self.office.folder / "started"

    def runs(self, *options: str, script: str = "pass", job: str = "llm-1") -> Ran:
        self.mark.unlink(missing_ok=True)
        code = (
            "import os, pathlib; pathlib.Path(os.environ['MARK']).write_text("
            f"os.environ.get('GPUCOST_GRANT', ''))\n{script}"
        )
        return self.office.run(
            *("run", "--job", job, *options),
            *("--", sys.executable, "-c", code),
        )

    @property
    def grant(self) -> str | None:
        """Return the grant that the last command was given; None: nothing started."""
        return self.mark.read_text() if self.mark.exists() else None

    def requests(self) -> list[Any]:
        found: list[Any] = self.office.json("approval", "list")["requests"]
        return found

    def decides(self, word: str) -> None:
        (request,) = [one for one in self.requests() if one["state"] == "pending"]
        said = ("--reason", "because", "--as", "ada@example.com")
        self.office.run("approval", word, request["id"], *said)

    def has_launched(self, *, hours: float, heard_s: float, ended: bool = True) -> None:
        """Put a launch of the newest request on record, heard of some seconds ago."""
        request = self.requests()[0]
        with self.company.store.write() as unit:
            launch = unit.journal.add_launch(
                request["id"],
                1,
                count=8,
                by="p-1",
                now=NOW - timedelta(hours=hours),
                lease_until=system_now() + timedelta(seconds=120 - heard_s),
            )
            if ended:
                unit.journal.end_launch(launch, now=NOW, exit_code=1)


@pytest.fixture
def shell(
    opened: tuple[Office, Company], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Shell:
    monkeypatch.setenv("AWS_ENDPOINT_URL", LOOPBACK)
    monkeypatch.setenv("MARK", str(tmp_path / "started"))
    return Shell(*opened)


def _last(ran: Ran) -> str:
    return ran.err.strip().splitlines()[-1]


@pytest.mark.parametrize("code", [0, 7, 130])
def test_a_run_that_nobody_must_approve_starts_and_leaves_with_its_own_code(
    shell: Shell, code: int
) -> None:
    ran = shell.runs(*SMALL, script=f"raise SystemExit({code})")

    assert ran.code == code
    assert shell.grant == shell.requests()[0]["grant"]


def test_the_command_holds_a_grant_that_verifies(shell: Shell) -> None:
    shell.runs(*SMALL)

    ran = shell.office.run(
        *("approval", "verify", "--grant", shell.grant or "", "--job", "llm-1"), *SMALL
    )

    assert (ran.code, ran.out.strip()) == (0, "covered")


def test_a_run_over_the_limit_starts_once_somebody_approved_it(shell: Shell) -> None:
    asked = shell.runs(*LARGE, "--timeout", "0s")
    before = shell.grant
    shell.decides("approve")
    approved = shell.runs(*LARGE)

    assert (asked.code, before) == (4, None)
    assert _last(asked).startswith("gpucost: not started: apr-")
    assert (approved.code, bool(shell.grant)) == (0, True)


def test_a_restart_needs_no_second_approval(shell: Shell) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    first = shell.runs(*LARGE, script="raise SystemExit(1)")

    again = shell.runs(*LARGE)

    assert (first.code, again.code) == (1, 0)
    assert len(shell.requests()) == 1


def test_a_restart_does_not_need_slack(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-nobody-listens")
    monkeypatch.setenv("SLACK_API_URL", f"{LOOPBACK}/api/")

    again = shell.runs(*LARGE)
    other = shell.runs(*LARGE, job="llm-2")

    assert again.code == 0
    assert (other.code, shell.grant) == (3, None)
    assert _last(other).startswith("gpucost: not started: Slack could not be asked")


def test_a_denied_run_is_asked_for_anew_and_not_started(shell: Shell) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("deny")

    again = shell.runs(*LARGE, "--timeout", "0s")

    assert (again.code, shell.grant) == (4, None)
    assert [one["state"] for one in shell.requests()] == ["pending", "denied"]


def test_a_used_up_approval_is_asked_for_anew(shell: Shell) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    shell.has_launched(hours=72, heard_s=0)

    again = shell.runs(*LARGE, "--timeout", "0s")

    assert (again.code, shell.grant) == (4, None)
    newest, oldest = shell.requests()
    assert (newest["state"], oldest["state"]) == ("pending", "approved")
    assert oldest["grant"] is None


def test_a_copy_beside_a_live_run_is_refused_at_once(shell: Shell) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    shell.has_launched(hours=1, heard_s=-5, ended=False)

    copy = shell.runs(*LARGE)

    assert (copy.code, shell.grant) == (3, None)
    assert "8 of 8 approved instances run already" in _last(copy)


def test_a_run_whose_launcher_died_starts_once_its_place_is_free(shell: Shell) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    shell.has_launched(hours=1, heard_s=119.5, ended=False)

    again = shell.runs(*LARGE)

    assert (again.code, bool(shell.grant)) == (0, True)
    assert "making sure that they still do" in again.err


def test_a_grant_may_be_brought_along_but_not_for_another_job(shell: Shell) -> None:
    shell.runs(*SMALL)
    grant = shell.grant or ""

    same = shell.runs(*SMALL, "--grant", grant)
    other = shell.runs(*SMALL, "--grant", grant, job="llm-2")

    assert same.code == 0
    assert (other.code, shell.grant) == (3, None)
    assert _last(other) == (
        "gpucost: not started: the grant is of job 'llm-1', not of 'llm-2'"
    )


def test_what_was_started_and_refused_is_on_record(shell: Shell) -> None:
    shell.runs(*SMALL, script="raise SystemExit(3)")
    shell.runs(*SMALL, "--grant", shell.grant or "", job="llm-2")

    with shell.company.store.read() as unit:
        (launch,) = unit.journal.launches(shell.requests()[0]["id"])
        events = unit.audit.head()[0]
    assert launch.ended_at is not None
    assert events == 4  # asked, started, ended, refused


def test_a_command_that_does_not_exist_asks_nobody(shell: Shell) -> None:
    ran = shell.office.run("run", "--job", "llm-1", *LARGE, "--", "no-such-program")

    assert ran.code == 2
    assert "there is no command 'no-such-program'" in _last(ran)
    assert shell.requests() == []


def test_signals_reach_the_command(shell: Shell) -> None:
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: os._exit(9))\n"
        "os.kill(os.getppid(), signal.SIGTERM)\n"
        "time.sleep(30)\n"
    )

    assert shell.runs(*SMALL, script=script).code == 9


def test_a_hangup_that_is_ignored_is_ignored_by_the_command_too(shell: Shell) -> None:
    script = (
        "import signal\n"
        "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\n"
        "os.kill(os.getppid(), signal.SIGHUP)\n"
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ran = shell.runs(*SMALL, script=script)
        after = signal.getsignal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert (ran.code, after) == (0, signal.SIG_IGN)


def test_signals_are_our_own_again_once_the_command_ended(shell: Shell) -> None:
    before = signal.getsignal(signal.SIGTERM)

    shell.runs(*SMALL)

    assert signal.getsignal(signal.SIGTERM) is before


def test_a_command_that_a_signal_ends_leaves_with_the_shells_code(shell: Shell) -> None:
    assert shell.runs(*SMALL, script="os.kill(os.getpid(), 9)").code == 128 + 9


def test_without_its_database_nothing_starts(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_DATABASE_URL", "postgresql+psycopg://x@127.0.0.1:9/x")

    ran = shell.runs(*SMALL)

    assert (ran.code, shell.grant) == (3, None)
    assert "gpucost: not started: the database cannot be used" in _last(ran)


def test_without_its_database_a_run_starts_where_that_was_chosen(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.runs(*SMALL)
    grant = shell.grant or ""
    monkeypatch.setenv("GPUCOST_DATABASE_URL", "postgresql+psycopg://x@127.0.0.1:9/x")

    ran = shell.runs(*SMALL, "--when-down", "open", script="raise SystemExit(5)")
    unchecked = shell.grant
    other = shell.runs(*LARGE, "--when-down", "open", "--grant", grant)

    assert (ran.code, unchecked) == (5, "")
    assert "started without a check and without a record" in _last(ran)
    assert (other.code, shell.grant) == (3, None)
    assert "8 instances are more than the 2 approved" in _last(other)


def test_without_its_database_only_what_no_policy_limits_starts_where_chosen(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUCOST_DATABASE_URL", "postgresql+psycopg://x@127.0.0.1:9/x")

    small = shell.runs(*SMALL, "--when-down", "over-limit")
    started = shell.grant
    large = shell.runs(*LARGE, "--when-down", "over-limit")

    assert (small.code, started) == (0, "")
    assert "started without a check and without a record" in _last(small)
    assert (large.code, shell.grant) == (3, None)
    assert "approve-large-runs wants that approved" in _last(large)


@pytest.mark.parametrize(("busy", "code"), [(0, 7), (5, 7), (6, None)])
def test_a_busy_database_is_asked_again_for_a_while(
    busy: int, code: int | None
) -> None:
    answers: list[int | None] = [*[None] * busy, 7]

    def attempt() -> int:
        answer = answers.pop(0)
        if answer is None:
            raise DatabaseBusyError
        return answer

    if code is None:
        with pytest.raises(DatabaseBusyError):
            _patiently(attempt)
    else:
        assert _patiently(attempt) == code


def test_a_set_clock_never_stretches_a_grant_outside_a_sandbox(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")

    ran = shell.runs(*SMALL)

    assert (ran.code, shell.grant) == (2, None)
    assert "GPUCOST_NOW" in _last(ran)


def test_a_job_that_left_its_envelope_starts_nothing_until_people_decided(
    shell: Shell,
) -> None:
    shell.runs(*LARGE, "--timeout", "0s")
    shell.decides("approve")
    _outgrows(shell)

    refused = shell.runs(*LARGE, "--timeout", "0s")

    pending = [one for one in shell.requests() if one["state"] == "pending"]
    assert (refused.code, shell.grant) == (3, None)
    assert "lapsed: it runs on 12 instances, approved are 8" in refused.err
    assert [one["envelope"]["count"] for one in pending] == [12]
    assert pending[0]["id"] in refused.err


def _outgrows(shell: Shell) -> None:
    """Let the job run on twelve machines, and be looked at."""
    shell.company.is_watched(
        *(runs(f"i-{number}", job="llm-1", since=NOW) for number in range(12))
    )
    policy = ApprovalPolicy.model_validate(
        {"name": "large", "over": "$10,000", "approvers": ["ada@example.com"]}
    )
    watch = Watch(
        store=shell.company.store, policies=lambda: [policy], keys=TagKeys(), own=(),
        horizon=timedelta(hours=24), channel="",
    )  # fmt: skip
    assert len(lapse_drifted(watch, NOW + timedelta(minutes=5))) == 1
