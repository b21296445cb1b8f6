"""What every policy has in common: name, kind, mode, limits, steps.

One frozen model per kind builds on these (``policies.core.kinds``). Models are the
trust boundary of policy files: unknown keys are refused, text becomes values here.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
)

from policies.core.fields import (
    ChoiceError,
    Count,
    DurationOrZero,
    Name,
    Percent,
    Text,
    reader,
    words,
)

_words_do = words("warn", "stop", "terminate")


class Mode(StrEnum):
    """How far a policy may go."""

    OBSERVE = "observe"
    NOTIFY = "notify"
    ENFORCE = "enforce"


def _mode(text: str) -> Mode:
    if text not in set(Mode):
        raise ChoiceError(text, tuple(Mode))
    return Mode(text)


ModeWord = Annotated[
    Mode,
    PlainValidator(reader(Mode, _mode)),
    WithJsonSchema({"type": "string", "enum": list(Mode)}),
]


class Part(BaseModel):
    """A mapping inside a policy file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, populate_by_name=True
    )


class Limits(Part):
    """How much one evaluation may act on; zero means nothing at all."""

    max_actions: Count = Field(10, description="actions in one evaluation")
    max_share: Percent = Field(
        Fraction(1, 20),
        description="share of the subjects in scope; at least one unless 0%",
    )


def _step(value: object) -> object:
    """Let a bare word stand for a step without a delay."""
    return {"do": value} if isinstance(value, str) else value


class AfterStep(Part):
    """A step some time after the finding was reported."""

    do: Annotated[str, *_words_do] = Field(description="what to do")
    after: DurationOrZero = Field(
        timedelta(), description="how long after the warning was delivered"
    )


class BeforeStep(Part):
    """A step some time before the end."""

    do: Annotated[str, *_words_do] = Field(description="what to do")
    before: DurationOrZero = Field(timedelta(), description="how long before the end")


AfterSteps = tuple[Annotated[AfterStep, BeforeValidator(_step)], ...]
BeforeSteps = tuple[Annotated[BeforeStep, BeforeValidator(_step)], ...]
WARN = "warn"


class PolicyBase(Part):
    """Keys that every policy understands."""

    name: Name = Field(description="unique over all files")
    kind: Text = Field(description="what the policy is about")
    description: Text | None = Field(None, description="why this policy exists")
    mode: ModeWord = Field(
        Mode.OBSERVE, description="how far it may go: observe, notify or enforce"
    )
    limits: Limits = Field(
        default_factory=Limits, description="how much may be acted on"
    )

    @property
    def signals_window(self) -> timedelta | None:
        """Return how far back signals are looked at; None when none is needed."""
        return None

    @property
    def launches_window(self) -> timedelta | None:
        """Return how far back starts are looked at; None when they are not."""
        return None

    @property
    def work_window(self) -> timedelta | None:
        """Return how far back the cost of work is looked at; None when it is not."""
        return None

    @property
    def transfer_window(self) -> timedelta | None:
        """Return how far back the bill's traffic is looked at; None when it is not."""
        return None

    @property
    def needs_progress(self) -> bool:
        """Tell whether what jobs report is looked at."""
        return False

    @property
    def needs_reservations(self) -> bool:
        """Tell whether reserved capacity is looked at."""
        return False

    @property
    def needs_anomalies(self) -> bool:
        """Tell whether the cost of the days before is looked at."""
        return False
