"""Options of a planned run that stand apart from its shape, read from texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import TypeVar

from billing.core.break_even import Servers
from billing.core.checkpoints_size import CheckpointPlan, Optimizer
from billing.core.errors import GpucostError
from billing.core.money import Money, Rate
from billing.core.prices import Purchase
from policies.core.quantities import (
    QuantityError,
    parse_duration,
    parse_money,
    parse_percent,
)

MANAGED = "managed"
ON_PREMISES = "on-premises"
COMPARED = (ON_PREMISES, MANAGED)
RUNS_PER_YEAR_MAX = 10_000
PARAMS_MAX = 10**15
BYTES_MAX = 64
_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_HOUR = timedelta(hours=1)

T = TypeVar("T")


class BadPlanError(GpucostError, ValueError):
    """A planned run has parts that cannot be estimated; the message names each."""

    code = "bad_plan"
    exit_code = 2

    def __init__(self, message: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.suggestions = tuple(suggestions)


class Reading:
    """Collects what is wrong while texts are read."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.suggestions: list[str] = []

    def of(self, read: Callable[[str], T], text: str, default: T) -> T:
        """Read a text; what is wrong with it is kept, and the default stands in."""
        try:
            return read(text)
        except BadPlanError as error:
            self.problems.append(str(error))
            return default

    def finish(self) -> None:
        """Raise with everything that was wrong, if anything was."""
        if self.problems:
            raise BadPlanError("\n".join(self.problems), self.suggestions)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTexts:
    """A planned run as typed; "" where nothing was said.

    Attributes:
        deadline: A UTC day, whose first instant is meant, or an instant.
    """

    instance_type: str
    count: int
    hours: str
    region: str
    purchase: str = Purchase.ON_DEMAND.value
    job: str = ""
    is_time_limit: bool = False
    deadline: str = ""
    is_interruptible: bool = False
    stage: str = ""
    model_params: str = ""
    bytes_per_param: str = ""
    optimizer: str = ""
    checkpoint_every: str = ""
    keep: str = ""
    compare: str = ""
    on_premises: str = ""
    retrain_per_year: str = ""
    quoted_price: str = ""


def read_checkpoints(texts: PlanTexts, reading: Reading) -> CheckpointPlan | None:
    """Read what a run saves; None when nothing is said of it."""
    given = {
        "bytes-per-param": texts.bytes_per_param,
        "optimizer": texts.optimizer,
        "checkpoint-every": texts.checkpoint_every,
        "keep": texts.keep,
    }
    if not texts.model_params:
        named = ", ".join(f"--{name}" for name, text in given.items() if text)
        if named:
            reading.problems.append(f"{named} needs --model-params, such as 70B")
        return None
    return CheckpointPlan(
        params=reading.of(_params, texts.model_params, 1),
        bytes_per_param=reading.of(_bytes, texts.bytes_per_param or "2", Fraction(2)),
        optimizer=reading.of(_optimizer, texts.optimizer or "none", Optimizer.NONE),
        every=reading.of(
            lambda text: _span("checkpoint-every", text),
            texts.checkpoint_every or "30m",
            Fraction(1),
        ),
        keep=reading.of(
            lambda text: _span("keep", text), texts.keep or "7d", Fraction(1)
        ),
    )


def read_rate(text: str) -> Rate | None:
    """Read a quoted price of one instance and hour; None for ""."""
    if not text:
        return None
    money = _money("quoted-price", text)
    if money.nanos <= 0:
        raise BadPlanError(f"quoted-price must be more than $0, got {text!r}")
    return Rate(money.nanos, money.currency)


def read_per_year(text: str) -> int | None:
    """Read how often a run is done in a year; None for ""."""
    if not text:
        return None
    is_number = text.isascii() and text.isdigit()
    if not is_number or not 1 <= int(text) <= RUNS_PER_YEAR_MAX:
        raise BadPlanError(
            f"retrain-per-year must be 1 to {RUNS_PER_YEAR_MAX:,}, got {text!r}"
        )
    return int(text)


def read_servers(text: str, reading: Reading) -> Servers | None:
    """Read ``price=$300,000 kw=10.2 kwh=$0.10 staff=$5,000 failures=5% …``."""
    found: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or name not in _SERVER:
            reading.problems.append(
                f"on-premises takes {', '.join(f'{one}=' for one in _SERVER)}, got {word!r}"
            )
        found[name] = value
    if "price" not in found:
        reading.problems.append(
            "comparing with on-premises needs the price of one server:"
            " --on-premises 'price=$300,000'"
        )
        return None
    values: dict[str, Fraction | Money] = {}
    for name, value in found.items():
        if name in _SERVER:
            field, read = _SERVER[name]
            got = _read_or_none(reading, read, value)
            if got is not None:
                values[field] = got
    return Servers(**values) if "price" in values else None  # type: ignore[arg-type]


def _read_or_none(
    reading: Reading, read: Callable[[str], Fraction | Money], text: str
) -> Fraction | Money | None:
    return reading.of(read, text, None)


def _params(text: str) -> int:
    digits, scale = text.strip().lower(), 1
    if digits[-1:] in _SCALES:
        scale, digits = _SCALES[digits[-1]], digits[:-1]
    number = _fraction(digits)
    params = None if number is None else number * scale
    if params is None or params.denominator != 1 or not 1 <= params <= PARAMS_MAX:
        raise BadPlanError(f"model-params must be a number such as 70B, got {text!r}")
    return int(params)


def _bytes(text: str) -> Fraction:
    number = _fraction(text)
    if number is None or not 0 < number <= BYTES_MAX:
        raise BadPlanError(
            f"bytes-per-param must be more than 0 and at most {BYTES_MAX}, got {text!r}"
        )
    return number


def _optimizer(text: str) -> Optimizer:
    try:
        return Optimizer(text.strip().lower())
    except ValueError as error:
        names = " or ".join(one.value for one in Optimizer)
        raise BadPlanError(f"optimizer must be {names}, got {text!r}") from error


def _span(name: str, text: str) -> Fraction:
    try:
        span = parse_duration(text)
    except QuantityError as error:
        raise BadPlanError(
            f"{name} must be a time such as 30m, got {text!r}"
        ) from error
    return Fraction(span // timedelta(seconds=1), 3600)


def _money(name: str, text: str) -> Money:
    try:
        return parse_money(text)
    except QuantityError as error:
        raise BadPlanError(
            f"{name} must be an amount such as $31.50, got {text!r}"
        ) from error


def _price(text: str) -> Money:
    money = _money("price", text)
    if money.nanos <= 0:
        raise BadPlanError(f"price must be more than $0, got {text!r}")
    return money


def _share(name: str) -> Callable[[str], Fraction]:
    def read(text: str) -> Fraction:
        try:
            share = parse_percent(text)
        except QuantityError as error:
            raise BadPlanError(f"{name} must be such as 60%, got {text!r}") from error
        if name == "utilisation" and not share:
            raise BadPlanError(f"{name} must be more than 0%, got {text!r}")
        return share

    return read


def _positive(name: str) -> Callable[[str], Fraction]:
    def read(text: str) -> Fraction:
        number = _fraction(text)
        if number is None or not 0 < number <= 10**6:
            raise BadPlanError(f"{name} must be a number above 0, got {text!r}")
        return number

    return read


def _fraction(text: str) -> Fraction | None:
    """Read a plain decimal; an exponent could stand for millions of digits."""
    plain = text.strip()
    is_plain = plain.isascii() and plain.replace(".", "", 1).isdigit()
    return Fraction(plain) if is_plain and len(plain) <= 20 else None  # noqa: PLR2004


_SERVER: dict[str, tuple[str, Callable[[str], Fraction | Money]]] = {
    "price": ("price", _price),
    "kw": ("power_kw", _positive("kw")),
    "cooling": ("cooling", _positive("cooling")),
    "kwh": ("per_kwh", lambda text: _money("kwh", text)),
    "staff": ("staff_per_month", lambda text: _money("staff", text)),
    "failures": ("failures", _share("failures")),
    "utilisation": ("utilisation", _share("utilisation")),
}
