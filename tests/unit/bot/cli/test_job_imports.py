"""`gpucost jobs import`: files in, the right job pays, what is wrong told by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builders import make_instance, make_observation
from tests.builders_use_cases import Company, costs

if TYPE_CHECKING:
    from tests.builders_cli import Office

HEADER = "JobID|JobName|Start|End|NodeList|AllocTRES"
FULL = f"""{HEADER}
7|bert|2026-11-28T01:00:00|2026-11-28T13:00:00|gpu-[1-2]|gres/gpu=16
7.batch|batch|2026-11-28T01:00:00|2026-11-28T13:00:00|gpu-1|gres/gpu=16
8|vit|2026-11-28T14:00:00|2026-11-28T15:00:00|gpu-9|gres/gpu=8
"""
SLURM = ("--slurm", "--timezone", "Europe/Berlin")


def fleet(company: Company, *names: str) -> None:
    seen = [
        make_instance(
            resource_id=f"i-{number}", launched="2026-11-27", tags={"Name": name}
        )
        for number, name in enumerate(names)
    ]
    with company.store.write() as unit:
        unit.ledger.apply_observation(
            make_observation(*seen, observed="2026-11-28T00:05Z")
        )


def write(office: Office, text: str, name: str = "sacct.txt") -> str:
    path = office.folder / name
    path.write_bytes(text.encode())
    return str(path)


def cost_by_job(office: Office) -> dict[str, str]:
    asked = ("cost", "--by", "job", "--since", "2026-11-28", "--until", "2026-11-29")
    return {one["key"]: one["total"] for one in office.json(*asked)["groups"]}


@pytest.fixture
def billed(fresh: Office, company: Company) -> Office:
    """A day of two untagged nodes, complete in the bill."""
    fleet(company, "gpu-1", "gpu-2")
    company.bills(
        costs("2026-11-28", "480", job="", quantity="48"), through="2026-11-29"
    )
    return fresh


def test_a_slurm_file_moves_the_bill_to_its_jobs(billed: Office) -> None:
    told = billed.json("jobs", "import", write(billed, FULL), *SLURM)

    assert told["imported"] == 1
    assert (told["changed"], told["ignored"], told["days_attributed"]) == (2, 1, 1)
    assert [one["line"] for one in told["skipped"]] == [4]
    assert "gpu-9" in told["skipped"][0]["reason"]
    assert cost_by_job(billed) == {"bucket:idle": "240.00", "slurm-7": "240.00"}


def test_the_same_file_again_changes_nothing(billed: Office) -> None:
    file = write(billed, FULL)
    billed.run("jobs", "import", file, *SLURM)
    before = cost_by_job(billed)

    told = billed.json("jobs", "import", file, *SLURM)

    assert (told["imported"], told["changed"], told["days_attributed"]) == (1, 0, 0)
    assert cost_by_job(billed) == before


def test_a_requeued_job_keeps_every_start_also_over_files(
    billed: Office, company: Company
) -> None:
    first = f"{HEADER}\n7|b|2026-11-28T01:00:00|2026-11-28T02:00:00|gpu-1|gres/gpu=8\n"
    again = f"{HEADER}\n7|b|2026-11-28T03:00:00|Unknown|gpu-2|gres/gpu=8\n"
    ended = again.replace("Unknown", "2026-11-28T05:00:00")

    for text in (first, again, ended):
        assert billed.run("jobs", "import", write(billed, text), *SLURM).code == 0

    with company.store.read() as unit:
        from tests.builders import period

        found = unit.ledger.placements(period("2026-11-01", "2026-11-30"))
    assert [
        (one.resource_id, one.attempt, one.ended_at and f"{one.ended_at:%H}")
        for one in found
    ] == [("i-0", 0, "01"), ("i-1", 1, "04")]


def test_our_csv_takes_instance_ids_that_nobody_saw(billed: Office) -> None:
    text = "job,resource_id,start,end,gpus\njob-1,i-0,2026-11-28,2026-11-29,4\n"

    told = billed.json(
        "jobs", "import", write(billed, text, "p.csv"), "--csv", "--timezone", "UTC"
    )

    assert told["imported"] == 1
    assert cost_by_job(billed)["job-1"] == "120.00"


def test_a_name_that_moved_on_belongs_to_who_had_it_then(
    fresh: Office, company: Company
) -> None:
    fleet(company, "gpu-1")
    late = f"{HEADER}\n7|b|2026-10-01T01:00:00|2026-10-01T02:00:00|gpu-1|gres/gpu=8\n"

    told = fresh.run("jobs", "import", write(fresh, late), *SLURM, "--format", "json")

    assert told.code == 1  # Nothing of the file could be used.
    assert "ran then" in told.json["skipped"][0]["reason"]


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (FULL, ("--slurm",), 2),
        (FULL, ("--slurm", "--timezone", "Mars/Base"), 2),
        (FULL, ("--timezone", "UTC"), 2),
        (FULL, ("--slurm", "--csv", "--timezone", "UTC"), 2),
        (FULL, (*SLURM, "--job-from", "user"), 2),
        ("no header\n", SLURM, 2),
        ("", SLURM, 2),
        (FULL, ("--csv", "--timezone", "UTC"), 2),
    ],
)
def test_what_is_not_said_or_not_such_a_file_stores_nothing(
    billed: Office, text: str, options: tuple[str, ...], code: int
) -> None:
    ran = billed.run("jobs", "import", write(billed, text), *options)

    assert ran.code == code
    assert cost_by_job(billed) == {"bucket:untagged": "480.00"}


def test_a_file_that_is_one_endless_line_is_told(billed: Office) -> None:
    endless = f"{HEADER}\n{'x' * 300_000}\n" + FULL.partition("\n")[2]

    told = billed.json("jobs", "import", write(billed, endless), *SLURM)

    assert [one["line"] for one in told["skipped"]] == [2, 5]
    assert told["imported"] == 1


def test_a_file_that_is_not_there_is_an_error(fresh: Office) -> None:
    ran = fresh.run("jobs", "import", str(fresh.folder / "nothing"), *SLURM)

    assert ran.code == 2
    assert "No such file" in ran.err


def test_jobs_without_a_command_still_lists(office: Office) -> None:
    assert [one["job"] for one in office.json("jobs")["jobs"]] == ["job-123"]


def test_the_text_names_lines_for_people(billed: Office) -> None:
    ran = billed.run("jobs", "import", write(billed, FULL), *SLURM)

    assert ran.out.splitlines()[:3] == [
        "1 line imported: 2 placements new or changed",
        "1 line ignored: steps, or never started",
        "1 stored day attributed anew",
    ]
