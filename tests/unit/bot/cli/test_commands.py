"""What commands say to people, and how they leave."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bot.cli import main
from tests.builders_use_cases import UNPRICED, Company, costs, runs

if TYPE_CHECKING:
    from tests.builders_cli import Office

HEAVY = (
    "boto3",
    "botocore",
    "sqlmodel",
    "sqlalchemy",
    "slack_sdk",
    "duckdb",
    "fastapi",
)
RUN = ("--instance-type", "p5.48xlarge", "--count", "8", "--hours", "72")
ASK = (
    "approval", "request", "--job", "llm-7", *RUN, "--requester", "mia@example.com",
    "--reason", "new model",
)  # fmt: skip


# ------------------------------------------------------------------ exit codes


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (("cost", "job-132"), 1, "Did you mean job-123?"),
        (("cost", "--by", "colour"), 2, "--by must be one of job, team"),
        (("cost", "--metric", "gross"), 2, "--metric must be one of effective"),
        (("cost", "--since", "yesterday"), 2, "--since must be a day"),
        (("cost", "--since", "2026-11-02", "--until", "2026-11-02"), 2, "exclusive"),
        (("jobs", "--since", "2026-11-02", "--until", "2026-11-01"), 2, "after --since"),
        (("cost", "--by", "service"), 1, "cannot be told by service"),
        (("cost", "--metric", "list"), 1, "effective or billed"),
        (("cost", "--config", "/nowhere.yaml"), 2, "/nowhere.yaml"),
        (("digest", "--week", "2026-W54"), 2, "such as 2026-W48"),
        (("approval", "show", "apr-nope"), 1, "'apr-nope'"),
        (("approval", "list", "--state", "lost"), 2, "pending, needs-info"),
        (("estimate", *RUN[:2], "--count", "0", "--hours", "1"), 2, "1 to 100,000"),
        (("estimate", *RUN[:4], "--hours", "1e99999"), 2, "hours must be"),
        (
            ("estimate", "--instance-type", "p5.48xlrge", *RUN[2:]), 2,
            "Did you mean p5.48xlarge",
        ),
        (("estimate", *RUN, "--purchase", "training-plan"), 1, "no training-plan price"),
        (("estimate", *RUN, "--purchase", "stolen"), 2, "purchase must be one of"),
    ],
)  # fmt: skip
def test_a_named_failure_is_a_sentence_on_stderr_or_a_document_on_stdout(
    office: Office, command: tuple[str, ...], code: int, says: str
) -> None:
    told = office.run(*command)
    document = office.run(*command, "--format", "json")

    assert (told.code, told.out) == (code, "")
    assert told.err.startswith("gpucost: ")
    assert says in told.err
    assert len(told.err.splitlines()) == 1
    assert (document.code, document.err) == (code, "")
    error = document.json["error"]
    assert {"code", "message", "hint", "suggestions"} == set(error)
    assert error["message"]


def test_several_errors_of_a_file_are_listed_below_their_number(
    office: Office,
) -> None:
    office.config.write_text("htpp: {}\nslack: {mode: x}\n")

    ran = office.run("cost")

    first, *others = ran.err.splitlines()
    assert ran.code == 2
    assert first == "gpucost: 2 errors, nothing was done:"
    assert [line.split(": ")[0] for line in others] == [
        f"{office.config}:1:1",
        f"{office.config}:2:15",
    ]


def test_pending_leaves_with_4_approved_with_0_denied_with_3(office: Office) -> None:
    asked = office.run(*ASK)
    request_id = office.json("approval", "list")["requests"][0]["id"]

    waited = office.run("approval", "wait", request_id, "--timeout", "0s")
    own = office.run("approval", "approve", request_id)
    denied = office.run(
        *("approval", "deny", request_id, "--reason", "too dear"),
        *("--as", "ada@example.com"),
    )
    again = office.run("approval", "wait", request_id, "--timeout", "0s")
    late = office.run("approval", "cancel", request_id)

    assert (asked.code, waited.code) == (4, 4)
    assert (own.code, denied.code, again.code, late.code) == (3, 3, 3, 3)
    assert "you asked for this" in own.err
    assert "denied already" in late.err


def test_asserted_identities_need_an_admins_word(office: Office) -> None:
    office.config.write_text(
        office.config.read_text().replace("cli: trusted", "cli: authenticated")
    )
    office.run(*ASK)
    request_id = office.json("approval", "list")["requests"][0]["id"]

    ran = office.run("approval", "approve", request_id, "--as", "ada@example.com")

    assert ran.code == 3
    assert "--as is refused" in ran.err


def test_without_a_price_a_request_waits_for_a_person(office: Office) -> None:
    # C038
    ran = office.run(*ASK, "--purchase", "capacity-block", "--format", "json")

    assert ran.code == 4
    assert ran.json["envelope"]["cost_ceiling"] is None
    assert ran.json["policy"] == "approve-large-runs"


def test_the_second_piece_of_a_split_run_is_asked_about(office: Office) -> None:
    piece = (
        "--instance-type", "p5.48xlarge", "--count", "1", "--hours", "50",
        "--requester", "mia@example.com", "--reason", "sweep",
    )  # fmt: skip

    first = office.run("approval", "request", "--job", "sweep-1", *piece)
    second = office.run("approval", "request", "--job", "sweep-2", *piece)

    # Each is $7,374 at most; together they pass $10,000.
    assert (first.code, second.code) == (0, 4)


def test_wrong_usage_leaves_with_2_and_is_json_when_json_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sys, "argv", ["gpucost", "estimate", "--count", "many", "--format", "json"]
    )

    with pytest.raises(SystemExit) as left:
        main()

    assert left.value.code == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad_usage"


@pytest.mark.parametrize("chosen", ["table", "json"])
def test_an_unforeseen_failure_is_one_sentence_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], chosen: str
) -> None:
    def fail(_: object) -> None:
        message = "password=hunter2"
        raise RuntimeError(message)

    monkeypatch.setattr("bot.wiring.application.load_settings", fail)
    monkeypatch.setattr(sys, "argv", ["gpucost", "cost", "--format", chosen])

    with pytest.raises(SystemExit) as left:
        main()

    said = "".join(capsys.readouterr())
    assert left.value.code == 1
    assert "unexpected failure: RuntimeError (test_commands.py:" in said
    assert "hunter2" not in said
    assert "Traceback" not in said


# ------------------------------------------------------------ what people read


def test_cost_of_a_job_reads_well(office: Office) -> None:
    lines = office.run("cost", "job-123").out.splitlines()

    assert lines == [
        (
            "job-123: $1,124.88 effective cost, before credits, "
            "2026-11-01 00:00 UTC to 2026-11-30 09:00 UTC"
        ),
        "",
        "billed       $240.00  complete through 2026-11-30 00:00 UTC",
        "provisional  $884.88  running time x price since then",
        "",
        "team nlp, owner mia",
        "",
        "burn now   $98.32/h",
        "next 24 h  $2,359.68 if nothing changes",
        "seen       2026-11-28 00:00 UTC to 2026-11-30 09:00 UTC",
        "",
        "1 x p5.48xlarge  on-demand  us-east-1  8 GPUs  $98.32/h",
        "",
        "category      total   billed  provisional",
        "compute   $1,124.88  $240.00      $884.88",
        "",
        "Sat 28 Nov  $240.00",
        "Mon 30 Nov  $884.88  provisional",
    ]


def test_unknown_prices_make_totals_at_least(office: Office, company: Company) -> None:
    company.is_watched(runs(since="2026-11-30"), runs("i-2", instance_type=UNPRICED))

    lines = office.run("cost", "--by", "job").out.splitlines()

    assert lines[0].startswith("all jobs: at least $1,134.88 effective cost")
    assert any("at least $1,124.88" in line and "unknown" in line for line in lines)
    assert lines[-1].startswith(f"not priced: {UNPRICED}")


@pytest.mark.parametrize("command", ["cost", "jobs", "digest"])
def test_a_fresh_database_is_answered_sensibly(fresh: Office, command: str) -> None:
    options = ["--dry-run"] if command == "digest" else []

    ran = fresh.run(command, *options)

    assert (ran.code, ran.err) == (0, "")
    expected = {
        "cost": "nothing was read yet: run `gpucost ingest`",
        "jobs": "no jobs in this period",
        "digest": "A quiet week: $0.00",
    }
    assert expected[command] in ran.out


def test_a_database_that_does_not_exist_yet_is_made(fresh: Office) -> None:
    (fresh.folder / "gpucost.db").unlink()

    assert fresh.run("cost").code == 0
    assert (fresh.folder / "gpucost.db").exists()


def test_names_with_control_characters_reach_no_terminal(
    office: Office, company: Company
) -> None:
    hostile = "job\x1b]0;owned\x07\x1b[31m\u202e\u2066\x9b"
    company.bills(costs("2026-11-20", "5", job=hostile), days=["2026-11-21"], mark="2")
    company.is_billed_through("2026-11-30")

    told = [
        office.run("cost", "--by", "job"),
        office.run("jobs"),
        office.run("cost", hostile),
        office.run("cost", f"{hostile}x"),
        office.run("digest", "--dry-run", "--week", "2026-W47"),
        office.run("policy", "validate", f"/{hostile}.yaml"),
    ]

    for ran in told:
        text = ran.out + ran.err
        assert "owned" in text
        assert text.replace("\n", "").isprintable()


def test_validation_names_file_line_and_column(office: Office) -> None:
    bad = office.folder / "bad.yaml"
    bad.write_text("policies:\n  - name: p\n    kind: ttl\n    defualt: 4h\n")

    ran = office.run("policy", "validate", str(bad))

    assert ran.code == 2
    assert ran.out.startswith(f"{bad}:4:5: policy 'p': unknown key 'defualt'")
    good = office.run("policy", "validate", str(office.folder / "policies.yaml"))
    assert (good.code, good.out) == (0, "2 policies, no errors\n")


def test_invalid_policies_stop_a_plan_and_an_approval(office: Office) -> None:
    (office.folder / "policies.yaml").write_text("policies: [{name: p}]\n")

    planned, asked = office.run("policy", "plan"), office.run(*ASK)

    assert (planned.code, asked.code) == (2, 2)
    assert "missing key 'kind'" in planned.err


def test_a_digest_goes_to_a_channel_once(office: Office) -> None:
    first = office.run("digest", "--channel", "#gpu-costs")
    again = office.run("digest", "--channel", "#gpu-costs")

    assert first.out == "digest 2026-W48: queued\n"
    assert again.out == "digest 2026-W48: not queued: that week was sent already\n"


def test_a_printed_digest_has_no_markup(office: Office) -> None:
    text = office.run("digest", "--dry-run").out

    assert "*" not in text
    assert "`" not in text
    assert "Billed by AWS: $250.00" in text


@pytest.mark.parametrize(
    "command", [["--help"], ["cost", "--help"], ["approval", "--help"]]
)
def test_help_loads_no_heavy_library(command: list[str]) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['gpucost', *{command!r}]\n"
        "from bot.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as left:\n    assert not left.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert "Usage" in ran.stdout
    assert ran.stderr.strip() == "[]"
