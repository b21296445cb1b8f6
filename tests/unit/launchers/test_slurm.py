"""Slurm's job_submit script in a real Lua, over the file that the sidecar writes."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bot.use_cases.grants_cache import Entry, cache_text
from policies.core.approvals import RequestState
from policies.core.grants import grant_of
from tests.builders_policies import NOW, make_request
from tests.project import ROOT

LUA = next(
    (
        found
        for name in ("lua5.4", "lua5.3", "lua")
        if (found := shutil.which(os.environ.get("GPUCOST_TEST_LUA") or name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(
    LUA is None,
    reason="needs Lua: apt-get install lua5.4, or name one in GPUCOST_TEST_LUA",
)

SCRIPT = ROOT / "deploy" / "launchers" / "job_submit.lua"
HOST = Path(__file__).with_name("slurm_host.lua")
KEY = bytes(range(32))
ID = "apr-1f6d03a9c7"
NO_VAL = 4294967294
#: 8 nodes for 72 h are 576 node hours; 100 need no approval.
BIG: dict[str, Any] = {
    "name": "llm-1", "partition": "gpu", "min_nodes": 8, "time_limit": 72 * 60,
}  # fmt: skip
SMALL = BIG | {"min_nodes": 1, "time_limit": 60}
GRANTED = {"comment": f"gpucost={ID}"}


def _entry(**changes: Any) -> Entry:
    request = make_request(state=RequestState.APPROVED)
    envelope = replace(
        request.envelope, job="llm-1", count=8, hours=Fraction(72),
        **changes.pop("envelope", {}),
    )  # fmt: skip
    request = replace(request, request_id=ID, envelope=envelope, decided_at=NOW)
    grant = grant_of(request)
    assert grant is not None
    values = {"left": Fraction(576), "running": 0} | changes
    return Entry(grant=grant, **values)


@dataclass
class Cluster:
    """A controller with a cache; times are seconds after the decision."""

    folder: Path
    when_down: str = "over-limit"

    @property
    def cache(self) -> Path:
        return self.folder / "grants"

    def hears(self, *entries: Entry, written: float = 60) -> None:
        at = NOW + timedelta(seconds=written)
        text = cache_text(entries, key=KEY, written_at=at)
        self.cache.write_text(text, encoding="ascii")
        Path(f"{self.cache}.key").write_text(KEY.hex() + "\n", encoding="ascii")

    def submits(self, *jobs: dict[str, Any], at: float = 90) -> list[tuple[bool, str]]:
        """Return whether each job was taken, and what was said."""
        return [(took, said) for took, _, said in self.plays(*jobs, at=at)]

    def plays(
        self, *jobs: dict[str, Any], at: float = 90
    ) -> list[tuple[bool, str, str]]:
        config = self.folder / "config.lua"
        config.write_text(self._config(), encoding="ascii")
        cases = self.folder / "cases.lua"
        listed = (
            f"{{job={_lua(job)}, record={_lua(job.pop('record', None))}}}"
            if "record" not in job
            else f"{{record={_lua(job.pop('record'))}, job={_lua(job)}}}"
            for job in map(dict, jobs)
        )
        cases.write_text(f"return {{{', '.join(listed)}}}", encoding="utf-8")
        now = int(NOW.timestamp() + at)
        assert LUA is not None
        done = subprocess.run(
            [LUA, str(HOST), str(SCRIPT), str(cases), str(now)],
            env={"GPUCOST_SLURM_CONFIG": str(config)}, capture_output=True, text=True,
            check=True, timeout=30,
        )  # fmt: skip
        *lines, digest = done.stdout.splitlines()
        # RFC 4231, case 2.
        assert digest.startswith("5bdcc146bf60754e6a042426089575c7")
        told = [line.split("\t", 2) for line in lines]
        return [(code == "0", comment, said) for code, comment, said in told]

    def _config(self) -> str:
        return (
            f'return {{cache="{self.cache}", max_age_s=300, when_down="{self.when_down}",'
            ' partitions={gpu={instance_type="p5.48xlarge", purchase="on-demand",'
            ' region="us-east-1", free_node_hours=100}}}'
        )


def _lua(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}={_lua(one)}" for key, one in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    found = Cluster(tmp_path)
    found.hears(_entry())
    return found


def test_a_job_over_the_limit_needs_a_grant_and_is_told_how(cluster: Cluster) -> None:
    ((took, said),) = cluster.submits(BIG)

    assert not took
    assert "576 node hours are more than the 100" in said
    assert "--job llm-1 --instance-type p5.48xlarge --count 8 --hours 72" in said
    assert "--comment gpucost=ID" in said


def test_a_job_with_its_grant_is_taken_and_carries_its_id(cluster: Cluster) -> None:
    ((took, comment, said),) = cluster.plays(BIG | GRANTED)

    assert took
    assert comment == f"gpucost-grant-id={ID}"
    assert f"{ID} covers it" in said


def test_a_job_under_the_limit_or_elsewhere_is_not_judged(cluster: Cluster) -> None:
    other = BIG | {"partition": "cpu"}

    assert cluster.submits(SMALL, other, {"name": "bare"}) == [(True, "")] * 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "llm-2"}, "of job llm-1, not of llm-2"),
        ({"min_nodes": 9}, "9 nodes are more than the 8 approved"),
        ({"max_nodes": 16}, "16 nodes are more"),
        ({"time_limit": 73 * 60}, "73 h are more than the 72 h approved"),
        ({"array_inx": "0-9%2"}, "16 nodes are more"),
        ({"array_inx": "0-9%2", "min_nodes": 4}, ""),
        ({"time_limit": NO_VAL}, "say how long it runs with --time"),
        ({"comment": "gpucost=apr-0000000000"}, "has no live grant"),
        ({"name": "x", "comment": f"gpucost={ID} gpucost-job=LLM-1"}, ""),
    ],
)
def test_a_grant_covers_what_was_approved_and_nothing_else(
    cluster: Cluster, changes: dict[str, Any], said: str
) -> None:
    ((took, told),) = cluster.submits(BIG | GRANTED | changes)

    assert took is (not said)
    assert said in told


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (_entry(running=1), "of which 1 run"),
        (_entry(left=Fraction(0)), "instance hours are used"),
        (_entry(envelope={"region": "eu-west-1"}), "region us-east-1 was not approved"),
        (_entry(envelope={"instance_type": "p4d.24xlarge"}), "instance type"),
    ],
)
def test_what_is_left_of_a_grant_counts(
    cluster: Cluster, entry: Entry, said: str
) -> None:
    cluster.hears(entry)

    ((took, told),) = cluster.submits(BIG | GRANTED)

    assert not took
    assert said in told


def test_every_task_of_an_array_counts_against_the_limit(cluster: Cluster) -> None:
    tasks = SMALL | {"array_inx": "1-200%1"}

    assert not cluster.submits(tasks)[0][0]
    assert cluster.submits(SMALL | {"array_inx": "1-200:4"})[0][0]


def test_a_grant_that_is_over_covers_nothing(cluster: Cluster) -> None:
    end = (24 + 72) * 3600
    cluster.hears(_entry(), written=end)

    ((took, said),) = cluster.submits(BIG | GRANTED, at=end)

    assert not took
    assert "its time is over" in said


@pytest.mark.parametrize(
    ("when_down", "taken"),
    [
        ("over-limit", [False, False, True, True]),
        ("closed", [False, False, True, False]),
        ("open", [True, True, True, True]),
    ],
)
@pytest.mark.parametrize("broken", ["missing", "stale", "forged", "cut"])
def test_without_a_good_cache_it_is_as_configured(
    cluster: Cluster, when_down: str, taken: list[bool], broken: str
) -> None:
    cluster.when_down = when_down
    text = cluster.cache.read_text(encoding="ascii")
    if broken == "missing":
        cluster.cache.unlink()
    elif broken == "forged":
        cluster.cache.write_text(text.replace("\t8\t", "\t800\t"), encoding="ascii")
    elif broken == "cut":
        cluster.cache.write_text(text[:-20], encoding="ascii")
    at = 60 + 301 if broken == "stale" else 90

    told = cluster.submits(BIG, BIG | GRANTED, SMALL, SMALL | GRANTED, at=at)

    assert [took for took, _ in told] == taken
    assert all(f"when_down is {when_down}" in said for _, said in told if said)
    assert "unchecked" in told[3][1] or not told[3][0]


def test_a_change_that_makes_a_job_larger_is_judged_as_a_whole(
    cluster: Cluster,
) -> None:
    unset = {"min_nodes": NO_VAL, "max_nodes": NO_VAL, "time_limit": NO_VAL}
    longer = unset | {"time_limit": 72 * 60}

    told = cluster.submits(
        {"record": SMALL | {"min_nodes": 8}} | longer,
        {"record": SMALL} | unset,
        {"record": BIG | GRANTED} | longer,
    )

    assert [took for took, _ in told] == [False, True, True]


def test_the_signature_is_that_of_the_sidecar() -> None:
    text = cache_text([_entry()], key=KEY, written_at=NOW)
    body, _, signature = text.rpartition("hmac\t")

    good = hmac.new(KEY.hex().encode(), body.encode(), hashlib.sha256).hexdigest()
    assert signature == f"{good}\n"
    assert body.startswith(f"gpucost-grants\t1\t{int(NOW.timestamp())}\n")
