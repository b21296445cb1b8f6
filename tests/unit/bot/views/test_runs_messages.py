"""Leaks and comparisons as Slack messages: literal text, valid blocks, honest words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from billing.core.efficiency import RunFacts, efficiency, scaling
from billing.core.leaks import Leak, LeakFound, LeakReport
from billing.core.progress import Counter, ProgressReport, progress_of
from bot.views.answers import Message
from bot.views.efficiency import CompareAnswer, RunAnswer
from bot.views.leaks import LeakAnswer, avoidable_line
from bot.views.limits import fit
from bot.views.runs_messages import compare_message, leaks_message
from deploy.sandbox.slack.blocks import block_problems
from deploy.sandbox.slack.mentions import mentions_of
from tests.builders import NOW
from tests.builders_bot import make_group, make_job_answer, usd
from tests.hostile import hostile_strings

NAT = LeakFound(
    leak=Leak.NAT, amount=usd("24"), evidence=("NatGateway-Bytes",), missing=""
)
IDLE = LeakFound(
    leak=Leak.IDLE, amount=None, evidence=(), missing="GPU utilisation was not measured"
)


def _leaks(*found: LeakFound, job: str = "job-123", unused: str = "0") -> LeakAnswer:
    groups = (make_group("compute", "100"), make_group("NAT gateways", "24"))
    cost = replace(make_job_answer(job=job, total=usd("124")), by="leak", groups=groups)
    report = LeakReport(currency="USD", parts=(), leaks=found)
    return LeakAnswer(cost=cost, report=report, commitment_unused=usd(unused))


def _run(job: str, value: int, gpus: int) -> RunAnswer:
    reports = [
        ProgressReport(
            counter=Counter.TOKENS, at=NOW + timedelta(hours=at), value=count
        )
        for at, count in ((0, 0), (1, value))
    ]
    found = progress_of(reports)
    assert found is not None
    facts = RunFacts(
        job=job, total=usd("100"), is_at_least=False, compute=usd("90"),
        gpu_hours=Fraction(gpus), measured_gpu_hours=Fraction(gpus),
        busy_gpu_hours=Fraction(gpus, 2), progress={Counter.TOKENS: found},
        reported_gpu_hours={Counter.TOKENS: Fraction(gpus)},
        accelerators=frozenset({"H100"}),
    )  # fmt: skip
    report = LeakReport(currency="USD", parts=(), leaks=())
    return RunAnswer(efficiency=efficiency(facts), report=report, since=NOW, until=NOW)


def _compared(first: str = "job-1", second: str = "job-2") -> CompareAnswer:
    one, other = _run(first, 10**9, 8), _run(second, 16 * 10**8, 16)
    found, missing = scaling(one.efficiency, other.efficiency)
    return CompareAnswer(
        currency="USD", first=one, second=other, scaling=found, not_scaled=missing
    )


def _text(message: Message) -> str:
    return str(message.blocks)


def test_a_leak_is_told_with_its_evidence_and_its_fix() -> None:
    told = _text(leaks_message(_leaks(NAT)))

    assert "*Of which avoidable $24.00 (19 %)*" in told
    assert "*$24.00* NAT gateways: NatGateway-Bytes" in told
    assert "_Fix: add the free gateway endpoint for S3" in told


def test_what_is_not_known_is_said_and_makes_the_sum_a_lower_bound() -> None:
    told = _text(leaks_message(_leaks(NAT, IDLE)))

    assert "Of which avoidable at least $24.00" in told
    assert "idle and boot: GPU utilisation was not measured" in told


def test_nothing_known_is_not_nothing_avoidable() -> None:
    assert avoidable_line(_leaks(IDLE)) == "what of it was avoidable is not known"
    assert avoidable_line(_leaks()) == "of which nothing was avoidable"


def test_unused_commitments_stand_beside() -> None:
    assert "commitments nobody used cost $55.00" in _text(
        leaks_message(_leaks(NAT, unused="55"))
    )


def test_two_runs_stand_side_by_side() -> None:
    told = _text(compare_message(_compared()))

    assert "per million tokens" in told
    assert "scaling efficiency 80 %" in told
    assert "16 GPUs" in told


@pytest.mark.parametrize("part", range(4))
def test_whatever_a_job_is_called_is_shown_literally(part: int) -> None:
    for text in hostile_strings()[part::4]:
        strange = LeakFound(
            leak=Leak.NAT, amount=usd("1"), evidence=(text,), missing=text
        )
        messages = [
            leaks_message(_leaks(strange, job=text)),
            compare_message(_compared(text, f"{text}2")),
        ]
        for message in messages:
            for page in fit(message):
                post = {"text": page.text, "blocks": list(page.blocks)}
                assert mentions_of(post) == (), (text[:80], post)
                assert block_problems(post["blocks"]) == [], (text[:80], post)
                assert 0 < len(post["text"]) <= 3000
