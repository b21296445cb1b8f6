"""Judge what another launcher is about to start: covered, under every limit, or refused.

Nothing is recorded: a launcher that only asks never says when its run ends. What is not
on AWS, or holds no accelerators, is none of gpucost's business.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from billing.core.estimate import EstimateRequest
from billing.core.gpus import accelerators, gpu_types_known, is_gpu_type
from billing.core.money import Money
from bot.use_cases.estimate import BadPlanError, plan_of
from bot.use_cases.grants import Coverage
from policies.core.grants import Grant

#: Families that hold accelerators, so that a type of tomorrow is not taken for a CPU.
_ACCELERATED = re.compile(r"(?:p|g|gr|trn|inf|dl|vt|f)\d")
_MEMORY = re.compile(r"^(?P<model>.+)-(?P<gb>\d+)GB$", re.IGNORECASE)
_MIB_PER_GB = 1000
_NOT_ALNUM = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One place where a launcher may put each node of a task.

    Attributes:
        instance_type: "" when only accelerators are named.
        accelerator: Model as the launcher names it, such as ``A100-80GB``; "" for none.
        accelerators: How many of them a node has.
    """

    is_aws: bool
    region: str
    instance_type: str
    accelerator: str
    accelerators: int
    is_spot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a launcher is about to start.

    Attributes:
        name: The launcher's name of the request.
        grant / hours: As the task's environment tells them; "" when it does not.
    """

    name: str
    job: str
    nodes: int
    choices: tuple[Choice, ...]
    grant: str = ""
    hours: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A policy that wants approval of a plan; ``high`` None when no price is known."""

    policy: str
    high: Money | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What is taken where a task does not say."""

    region: str
    hours: timedelta


class Judge(Protocol):
    """What knows grants and limits."""

    def read(self, token: str) -> Grant | Coverage:
        """Return the grant of a token, or why it is none."""

    def verify(self, token: str, plan: EstimateRequest) -> Coverage:
        """Tell whether a token covers a plan."""

    def need(self, plan: EstimateRequest) -> Need | None:
        """Return the policy that wants approval of a plan; None when none does."""


def admit(launch: Launch, judge: Judge, assumed: Assumed) -> str:
    """Return why a launch is refused; "" lets it through."""
    mine = [one for one in launch.choices if one.is_aws and _is_accelerated(one)]
    if not mine:
        return ""
    try:
        if launch.grant:
            return _by_grant(launch, mine, judge, assumed)
        return _by_limit(launch, mine, judge, assumed)
    except BadPlanError as error:
        return f"gpucost cannot judge this launch: {error}"


def _is_accelerated(choice: Choice) -> bool:
    named = choice.instance_type
    is_named = is_gpu_type(named) or _ACCELERATED.match(named) is not None
    return is_named or (not named and choice.accelerators > 0)


def _by_grant(
    launch: Launch, choices: Sequence[Choice], judge: Judge, assumed: Assumed
) -> str:
    grant = judge.read(launch.grant)
    if isinstance(grant, Coverage):
        return f"gpucost: not covered: {grant.reason}"
    envelope = grant.envelope
    for choice in choices:
        types = types_of(choice)
        named = envelope.instance_type if envelope.instance_type in types else types[0]
        plan = _plan(launch, choice, named, assumed)
        if not launch.hours:
            plan = replace(plan, hours=envelope.hours)
        found = judge.verify(launch.grant, plan)
        if not found.is_covered:
            return f"gpucost: not covered: {found.reason}"
    return ""


def _by_limit(
    launch: Launch, choices: Sequence[Choice], judge: Judge, assumed: Assumed
) -> str:
    """Judge by the dearest thing that the launcher may pick."""
    needed: list[tuple[EstimateRequest, Need]] = []
    for choice in choices:
        for instance_type in types_of(choice):
            plan = _plan(launch, choice, instance_type, assumed)
            need = judge.need(plan)
            if need is not None:
                needed.append((plan, need))
    if not needed:
        return ""
    return _told(*max(needed, key=_dearest), says_hours=bool(launch.hours))


def _dearest(pair: tuple[EstimateRequest, Need]) -> tuple[bool, int]:
    high = pair[1].high
    return (high is None, 0 if high is None else high.nanos)


def _told(plan: EstimateRequest, need: Need, *, says_hours: bool) -> str:
    hours = f"{float(plan.hours):g}"
    cost = (
        "costs nobody knows what"
        if need.high is None
        else f"may cost up to {need.high}"
    )
    command = shlex.join(
        (
            "gpucost", "approval", "request", "--job", plan.job or "JOB",
            "--instance-type", plan.instance_type, "--count", str(plan.count),
            "--hours", hours, "--purchase", plan.purchase.value,
            "--region", plan.region, "--requester", "YOU@EXAMPLE.COM",
            "--reason", "WHY",
        )
    )  # fmt: skip
    guess = "" if says_hours else " (hours assumed; set GPUCOST_HOURS to say how many)"
    return (
        f"gpucost: {plan.count} x {plan.instance_type} for {hours} h{guess} {cost},"
        f" and policy {need.policy} wants that approved. Ask with: {command}"
        " -- then launch again with the grant in GPUCOST_GRANT."
    )


def _plan(
    launch: Launch, choice: Choice, instance_type: str, assumed: Assumed
) -> EstimateRequest:
    return plan_of(
        instance_type=instance_type,
        count=max(launch.nodes, 1),
        hours=launch.hours or str(assumed.hours / timedelta(hours=1)),
        purchase="spot" if choice.is_spot else "on-demand",
        region=choice.region or assumed.region,
        job=launch.job,
        is_time_limit=False,
    )


def types_of(choice: Choice) -> tuple[str, ...]:
    """Return the instance types that a choice may become; never none.

    Of those with the accelerators the ones with the fewest: a launcher takes no more
    than it needs. What no type has keeps its name, which has no price.
    """
    if choice.instance_type:
        return (choice.instance_type,)
    fitting = [
        (found.physical, name)
        for name in gpu_types_known()
        if (found := accelerators(name)) is not None
        and _is_model(choice.accelerator, found.model, found.memory_mib)
        and found.physical >= choice.accelerators
    ]
    if not fitting:
        return (f"{choice.accelerator}:{choice.accelerators}".lower(),)
    fewest = min(fitting)[0]
    return tuple(name for count, name in fitting if count == fewest)


def _is_model(wanted: str, model: str, memory_mib: int) -> bool:
    """Tell whether a model is meant; ``-80GB`` says which of two sizes."""
    sized = _MEMORY.match(wanted)
    if sized is None:
        return _folded(wanted) == _folded(model)
    is_size = memory_mib >= int(sized["gb"]) * _MIB_PER_GB
    return _folded(sized["model"]) == _folded(model) and is_size


def _folded(model: str) -> str:
    return _NOT_ALNUM.sub("", model.lower())
