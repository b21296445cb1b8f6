"""Policy files: every error at once, each at its key or value, or the whole set."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.core.kinds.approval import ApprovalPolicy
from policies.core.kinds.idle import IdlePolicy
from policies.core.kinds.ttl import TtlPolicy
from policies.load import load_policies, load_text

DESIGN = """\
# yaml-language-server: $schema=policy.schema.json
policies:
  - name: approve-large-runs
    kind: approval
    over: $10,000                     # predicted total, the high end
    approvers: ["@gpu-approvers"]
    tiers:                            # inside {} and [] quote amounts
      - {over: "$100,000", required: 2, approvers: ["@gpu-approvers", "@finance"]}
    expires_after: 24h
    drift: 20%
  - name: stop-idle-gpus
    kind: idle
    where: job.env != "prod"
    signals: {gpu_utilization: "< 5%", network: "< 1 MB/s"}
    for: 30m
    after_job_end: 10m
    steps: [warn, {after: 15m, do: stop}]
    mode: notify
    limits: {max_actions: 5, max_share: 20%}
  - name: cluster-ttl
    kind: ttl
    default: 24h
    max: 7d
    steps: [{before: 2h, do: warn}, {do: terminate}]
  - name: checkpoint-retention
    kind: checkpoint-retention
    location: "s3://models/{job}/checkpoints/step-{step}/"
    keep: {last: 3, best: {count: 2, metric: eval_loss, order: min}, \
every: 10000 steps, newer_than: 3d}
    do: quarantine
    hold: 7d
  - name: p5-coverage
    kind: commitment-coverage
    family: p5
    target: 60%..70%
    lookback: 30d
"""


WRONG = """\
policies:
  - name: a
    kind: idle
    wheer: 1
    for: 30
    signals: {gpu_utilisation: "< 5%", network: "1 MB/s"}
    limits: {max_actions: -1}
    mode: enfroce
    steps: [{do: stop}]
  - name: b
    kind: approval
    over: ten
    approvers: []
  - kind: tll
  - name: d
    kind: ttl
    where: 'job.evn != "prod"'
    ignore_activity: yes
    max:
  - name: e
    kind: commitment-coverage
    target: 60-70%
"""
SAID = """\
p.yaml:4:5: policy 'a': unknown key 'wheer'; did you mean 'where'?
p.yaml:5:10: policy 'a': for: expected a duration like 30m, 24h, 7d or 1h30m, got \
'30'; add a unit: 30m, 30h or 30d
p.yaml:6:15: policy 'a': unknown key 'gpu_utilisation'; did you mean \
'gpu_utilization'?
p.yaml:6:49: policy 'a': network: expected a comparison like '< 1 MB/s', got '1 \
MB/s'; start it with <, <=, > or >=
p.yaml:7:27: policy 'a': max_actions: expected a whole number of at least 0, got '-1'
p.yaml:8:11: policy 'a': mode: expected one of observe, notify, enforce, got \
'enfroce'; did you mean 'enforce'?
p.yaml:9:12: policy 'a': steps: expected a warn step first, and a delay before the \
one that acts, got 'stop'; add after: 15m to stop
p.yaml:12:11: policy 'b': over: expected an amount like $10,000, got 'ten'
p.yaml:13:16: policy 'b': approvers: expected at least one approver, got 'nobody'
p.yaml:14:11: unknown kind 'tll', expected one of approval, idle, ttl, \
checkpoint-retention, commitment-coverage, budget, job-spend, \
utilization, tagging, stalled, failed-launch, capacity, anomaly, efficiency, \
placement, custom; did you mean 'ttl'?
p.yaml:17:13: policy 'd': where: unknown field or function 'job.evn'; did you mean \
'job.env'?
p.yaml:18:22: policy 'd': ignore_activity: expected one of true, false, got 'yes'
p.yaml:19:5: policy 'd': key 'max' has no value; give it one, or remove the key for \
its default
p.yaml:20:5: policy 'e': missing key 'family'; add it
p.yaml:22:13: policy 'e': target: expected a range like 60%..70%, got '60-70%'; \
write two dots between
"""


def errors_of(text: str) -> list[str]:
    loaded, errors = load_text(text, "p.yaml")
    assert loaded == ()
    return [str(error) for error in errors]


def one(body: str) -> str:
    return f"policies:\n  - name: p\n    kind: ttl\n{body}"


def test_the_example_of_the_design_loads() -> None:
    loaded, errors = load_text(DESIGN)

    assert errors == ()
    assert [policy.name for policy in loaded] == [
        "approve-large-runs",
        "checkpoint-retention",
        "cluster-ttl",
        "p5-coverage",
        "stop-idle-gpus",
    ]
    approval = loaded[0]
    assert isinstance(approval, ApprovalPolicy)
    assert approval.over.text() == "10000.00"
    assert approval.tiers[0].over.text() == "100000.00"


def test_every_error_is_reported_at_once_at_its_place() -> None:
    assert errors_of(WRONG) == SAID.splitlines()


# C131
def test_a_misspelt_key_refuses_the_whole_file() -> None:
    (error,) = errors_of(one("    filter: {team: nlp}\n"))

    assert "unknown key 'filter'" in error


# C132
def test_every_duplicate_key_is_reported_with_both_lines() -> None:
    text = one("    default: 1h\n    default: 2h\n    max: 3h\n    default: 4h\n")

    assert errors_of(text) == [
        "p.yaml:5:5: key 'default' is set twice, first on line 4; remove one of them",
        "p.yaml:7:5: key 'default' is set twice, first on line 4; remove one of them",
    ]


# C132
def test_merge_keys_work_and_explicit_keys_win() -> None:
    text = """\
policies:
  - &base
    name: a
    kind: ttl
    default: 12h
    max: 2d
  - <<: *base
    name: b
    default: 6h
"""

    (first, second), errors = load_text(text)

    assert errors == ()
    assert isinstance(first, TtlPolicy)
    assert isinstance(second, TtlPolicy)
    assert (second.default.total_seconds(), second.max) == (6 * 3600, first.max)


# C133
@pytest.mark.parametrize(
    "text", ["1e4", "1.0e4", "1.0e+4", "10_000", '"10,000"', "10,000", "10K", "$10000"]
)
def test_every_spelling_of_an_amount_is_the_same_amount(text: str) -> None:
    body = f"policies:\n  - name: p\n    kind: approval\n    over: {text}\n"
    (loaded,), errors = load_text(body + '    approvers: ["@a"]\n')

    assert errors == ()
    assert isinstance(loaded, ApprovalPolicy)
    assert loaded.over.text() == "10000.00"


# C136
def test_account_ids_keep_their_zeros() -> None:
    accounts = '[034512670123, 034512679801, "034512670124"]'
    (loaded,), errors = load_text(one(f"    accounts: {accounts}\n"))

    assert errors == ()
    assert isinstance(loaded, TtlPolicy)
    assert loaded.accounts == ("034512670123", "034512679801", "034512670124")


@pytest.mark.parametrize(
    ("tier", "whole"),
    [
        ("{over: $100,000, required: 2}", "$100,000"),
        ("{required: 2, over: $1,000,000}", "$1,000,000"),
        ("{over: 100,000}", "100,000"),
    ],
)
def test_an_amount_cut_by_a_comma_is_refused(tier: str, whole: str) -> None:
    text = (
        "policies:\n  - name: p\n    kind: approval\n    over: 10K\n"
        f'    approvers: ["@a"]\n    tiers:\n      - {tier}\n'
    )

    (error,) = errors_of(text)

    assert error == (
        f"p.yaml:7:{9 + tier.index(whole)}: a comma ends a value inside {{}} and [], "
        f'so {whole!r} was cut; quote the amount: "{whole}"'
    )


# C159
def test_limits_of_zero_load_as_zero() -> None:
    (loaded,), errors = load_text(one("    limits: {max_actions: 0, max_share: 0%}\n"))

    assert errors == ()
    assert (loaded.limits.max_actions, float(loaded.limits.max_share)) == (0, 0.0)


def test_a_folder_is_read_whole_and_one_bad_file_refuses_the_set(
    tmp_path: Path,
) -> None:
    (tmp_path / "b.yaml").write_text(DESIGN, encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text("nonsense", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("nonsense", encoding="utf-8")
    assert len(load_policies([tmp_path])[0]) == 5

    (tmp_path / "a.yml").write_text(one("    defautl: 1h\n"), encoding="utf-8")
    loaded, errors = load_policies([tmp_path])

    assert loaded == ()
    assert [Path(error.file).name for error in errors] == ["a.yml"]


def test_names_are_unique_over_all_files(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(one(""), encoding="utf-8")

    _, (error,) = load_policies([tmp_path])

    assert (Path(error.file).name, error.line, error.column) == ("b.yaml", 2, 11)
    assert f"{tmp_path / 'a.yaml'}:2:11" in error.message


def test_the_same_file_named_twice_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(one(""), encoding="utf-8")

    loaded, errors = load_policies([file, tmp_path])

    assert (len(loaded), errors) == (1, ())


def test_names_are_unique_even_beside_other_errors() -> None:
    text = one("    default: x\n") + "  - name: p\n    kind: ttl\n"

    assert "name is taken already, at p.yaml:2:11" in errors_of(text)[1]


@pytest.mark.parametrize("name", ["none.yaml", "nul\0.yaml", "x" * 300])
def test_a_path_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    _, (error,) = load_policies([f"{tmp_path}/{name}"])

    assert "cannot be read" in str(error)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    _, (error,) = load_policies([tmp_path])

    assert "no .yaml file" in str(error)


# H7
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(one(""), encoding="utf-8")
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(outside)

    loaded, (error,) = load_policies([folder])

    assert loaded == ()
    assert "leads out of its folder" in str(error)


def test_a_condition_over_several_lines_says_where_inside() -> None:
    text = one("    where: >\n      job.id == 3\n      && true\n")

    (error,) = errors_of(text)

    assert "line 1, column 8 of the condition" in error


def test_a_hostile_name_stays_on_one_line() -> None:
    text = 'policies:\n  - name: "a\\n<!channel>\\u202e"\n    kind: x\n'

    (error,) = errors_of(text)

    assert "\n" not in error
    assert "\u202e" not in error


def test_a_quoted_where_points_inside_the_quotes() -> None:
    text = one("    where: \"job.id == 'a' && job.evn == 'b'\"\n")

    (error,) = errors_of(text)

    assert error.startswith("p.yaml:4:30: ")


def test_a_default_signal_set_is_used_when_none_is_named() -> None:
    (loaded,), _ = load_text("policies:\n  - {name: p, kind: idle}\n")

    assert isinstance(loaded, IdlePolicy)
    assert {name: str(limit) for name, limit in loaded.signals.limits.items()} == {
        "gpu_utilization": "< 5%",
        "network": "< 1 MB/s",
    }
