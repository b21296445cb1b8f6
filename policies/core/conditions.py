"""The `where:` of a policy: a CEL expression over documented fields.

Expressions are type-checked when loaded: an unknown field or a comparison of unlike
types is an error with its place. A field whose value is unknown is left out when an
expression is evaluated, which makes the result unknown, never false. Money is a whole
number of nano-units in expressions, written ``usd("10000")``. Knows no subject types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from cel_expr_python import cel

from billing.core.errors import GpucostError
from policies.core.quantities import QuantityError, parse_money

TEXT_MAX = 2_000

#: Fields of a job: name -> (CEL type, meaning).
JOB_FIELDS = {
    "job.id": ("string", 'job id, lower case; "" for an untagged instance'),
    "job.team": ("string", "value of the team tag"),
    "job.owner": ("string", "value of the owner tag"),
    "job.env": ("string", "value of the environment tag"),
    "job.spent": ("int", 'cost so far before credits; compare with usd("10000")'),
    "job.predicted": ("int", "predicted total cost, the high end; compare with usd()"),
    "job.rate": ("int", "cost per hour of what runs now; compare with usd()"),
    "job.instances": ("int", "instances running now"),
    "job.gpus": ("int", "GPUs running now"),
    "job.instance_types": ("list", "instance types running now"),
    "job.approved": ("bool", "an approval covers it"),
}
#: Fields of an instance.
INSTANCE_FIELDS = {
    "instance.id": ("string", "instance id"),
    "instance.type": ("string", "instance type, such as p5.48xlarge"),
    "instance.family": ("string", "the part before the dot, such as p5"),
    "instance.gpus": ("int", "GPUs of the type"),
    "instance.rate": ("int", "price per hour; compare with usd()"),
    "instance.lifecycle": ("string", "on-demand, spot or capacity-block"),
    "instance.region": ("string", "region code"),
    "instance.zone": ("string", "availability zone"),
    "instance.account": ("string", "account id, 12 digits"),
    "instance.tags": ("map", 'tags; test with `"key" in instance.tags` first'),
}

_TYPES = {
    "string": cel.Type.STRING,
    "int": cel.Type.INT,
    "bool": cel.Type.BOOL,
    "list": cel.Type.List(cel.Type.STRING),
    "map": cel.Type.Map(cel.Type.STRING, cel.Type.STRING),
}
_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_UNDECLARED = re.compile(r"undeclared reference to '([^']*)'")
_OVERLOAD = re.compile(r"found no matching overload for '([^']*)' applied to '(.*)'")
_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_NAMES = re.compile(r"\b(?:job|instance)\.\w+")
_USD = re.compile(r"\busd\(\s*(\"[^\"]*\"|'[^']*')\s*\)")


class ConditionError(GpucostError, ValueError):
    """A `where:` expression cannot be used.

    Attributes:
        line / column: Place inside the expression, both from 1.
        wrong: The unknown name; "" when nothing is misspelt.
        choices: Names that would be known.
    """

    code = "invalid_condition"

    def __init__(
        self, message: str, *, line: int = 1, column: int = 1, wrong: str = ""
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.wrong = wrong
        self.choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled `where:` expression.

    Attributes:
        text: The expression as written.
        names: Fields it uses, sorted.
    """

    text: str
    names: tuple[str, ...]
    program: cel.Expression = field(repr=False, compare=False, hash=False)

    @property
    def is_about_job(self) -> bool:
        """Tell whether it is the same for every instance of a job."""
        return all(name in JOB_FIELDS for name in self.names)

    def holds(self, values: Mapping[str, object]) -> bool | None:
        """Evaluate over known values; None when a value it needs is unknown.

        CEL's own logic applies: ``false && unknown`` is false, ``true || unknown`` true.
        """
        result = self.program.eval(data=values).value()
        return result if isinstance(result, bool) else None

    def missing(self, values: Mapping[str, object]) -> str:
        """Name what made the result unknown, for a person."""
        absent = [name for name in self.names if name not in values]
        return ", ".join(absent) or f"a value that {self.text!r} needs"


def compile_condition(text: str, fields: tuple[str, ...]) -> Condition:
    """Compile and type-check an expression over the named fields.

    Raises:
        ConditionError: With the place inside the expression.
    """
    if len(text) > TEXT_MAX:
        message = f"expected at most {TEXT_MAX} characters, got {len(text)}"
        raise ConditionError(message)
    _check_amounts(text)
    try:
        program = _environment(fields).compile(text)
    except (RuntimeError, TypeError) as error:  # TypeError: text that is no Unicode
        raise _condition_error(text, str(error), fields) from None
    kind = program.return_type().name()
    if kind != "BOOL":
        message = f"expected a condition that is true or false, got a {kind.lower()}"
        raise ConditionError(message)
    names = sorted(set(_NAMES.findall(_STRINGS.sub("", text))))
    return Condition(text, tuple(names), program)


def nanos_of(text: str) -> int:
    """Return the nano-units of an amount of US dollars (``usd()`` in expressions)."""
    return parse_money(text).nanos


@cache
def _environment(fields: tuple[str, ...]) -> cel.Env:
    known = JOB_FIELDS | INSTANCE_FIELDS
    overload = cel.Overload(
        "usd(string)",
        return_type=cel.Type.INT,
        parameters=[cel.Type.STRING],
        impl=nanos_of,
    )
    return cel.NewEnv(
        variables={name: _TYPES[known[name][0]] for name in fields},
        functions=[cel.FunctionDecl("usd", [overload])],
    )


def _check_amounts(text: str) -> None:
    for match in _USD.finditer(text):
        try:
            parse_money(match[1][1:-1], currency="USD")
        except QuantityError as error:
            line, column = _place(text, match.start(1))
            raise ConditionError(str(error), line=line, column=column) from None


def _place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _condition_error(text: str, report: str, fields: tuple[str, ...]) -> ConditionError:
    """Turn the compiler's first complaint into ours."""
    match = _ERROR.search(report)
    if match is None:
        return ConditionError("expected a condition in CEL")
    line, column, said = int(match[1]), int(match[2]), match[3]
    undeclared = _UNDECLARED.search(said)
    if undeclared:
        name = undeclared[1]
        column = _start_of_name(text, line, column, name)
        error = ConditionError(
            f"unknown field or function {name!r}", line=line, column=column, wrong=name
        )
        error.choices = (*fields, "usd")
        return error
    overload = _OVERLOAD.search(said)
    if overload:
        message = f"{overload[1].strip('_')!r} cannot be applied to {overload[2]}"
        return ConditionError(message, line=line, column=column)
    if "=" in said and "token recognition" in said:
        message = "a comparison is written ==, not ="
        return ConditionError(message, line=line, column=column)
    return ConditionError("expected a condition in CEL", line=line, column=column)


def _start_of_name(text: str, line: int, column: int, name: str) -> int:
    """Return the column where a dotted name starts (the compiler points at a dot)."""
    shown = text.split("\n")[line - 1]
    start = shown.find(name)
    while start != -1:
        if start <= column - 1 <= start + len(name):
            return start + 1
        start = shown.find(name, start + 1)
    return column
