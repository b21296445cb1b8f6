"""The configuration and the policies of the demo's company: what a user would write."""

from __future__ import annotations

from pathlib import Path

from deploy.sandbox.company.jobs import ACCOUNT, MAIL, REGIONS
from deploy.sandbox.company.people import APPROVALS, COSTS, TEAM_CHANNELS
from deploy.sandbox.company.world import BUCKET

CONFIG = f"""\
data_dir: {{data_dir}}
aws:
  accounts: ["{ACCOUNT}"]
  regions: [{", ".join(REGIONS)}]
tags:
  job: [job-id, JobId]
slack:
  alerts: "#{COSTS}"
  approvals: "#{APPROVALS}"
  admins: [rae@{MAIL}]
teams:
  nlp: {{{{channel: "#{TEAM_CHANNELS["nlp"]}", budget: "$120,000/month"}}}}
  vision: {{{{channel: "#{TEAM_CHANNELS["vision"]}", budget: "$40,000/month"}}}}
  platform: {{{{channel: "#{TEAM_CHANNELS["platform"]}", budget: "$10,000/month"}}}}
digests:
  - {{{{channel: "#{COSTS}", every: week, at: "mon 09:00", timezone: UTC}}}}
http: {{{{port: 0}}}}
"""

POLICIES = f"""\
policies:
  - name: approve-large-runs
    kind: approval
    mode: notify
    where: job.env != "base"          # the base model's run was agreed for the year
    over: $10,000
    approvers: ["@gpu-approvers"]
    expires_after: 24h
  - name: idle-gpus
    kind: idle
    mode: notify
    signals: {{gpu_utilization: "< 5%", network: "< 1 MB/s"}}
    for: 30m
  - name: dev-ttl
    kind: ttl
    mode: notify
    where: job.env == "dev"
    default: 72h
    max: 14d
  - name: old-checkpoints
    kind: checkpoint-retention
    mode: notify
    location: "s3://{BUCKET}/{{job}}/checkpoints/step-{{step}}/"
    keep: {{last: 3, every: 5000 steps, newer_than: 3d}}
  - name: p5-coverage
    kind: commitment-coverage
    mode: notify
    family: p5
    target: 60%..70%
    lookback: 30d
"""


def write_files(folder: Path) -> tuple[Path, Path]:
    """Write both into a folder; return the paths of configuration and policies."""
    config, policies = folder / "gpucost.yaml", folder / "policies.yaml"
    config.write_text(CONFIG.format(data_dir=folder / "data"), encoding="utf-8")
    policies.write_text(POLICIES, encoding="utf-8")
    return config, policies
