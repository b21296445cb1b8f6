"""dstack's REST plugin: its request read, its answer written.

dstack's server posts who applies what (a run, a fleet, a volume, a gateway) and takes the
same specification back; an `error` beside it refuses, and its user reads that text
(https://dstack.ai/docs/guides/plugins/, `dstack.plugins.builtin.rest_plugin`). Names are
those that dstack gives: a type of instance, or a model of GPU with its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from bot.api.errors import HttpError
from bot.use_cases.admission import Choice, Launch

#: What is applied; only the first two take machines.
Hook = Literal["on_run_apply", "on_fleet_apply", "on_volume_apply", "on_gateway_apply"]
_JUDGED = frozenset({"on_run_apply", "on_fleet_apply"})
_CHOICES_MAX = 50
_TEXT_MAX = 1024
_COUNT_MAX = 1_000_000
_AWS = "aws"

Text = Annotated[str, StringConstraints(max_length=_TEXT_MAX)]


class DstackRequest(BaseModel):
    """What dstack's server sends; the specification goes back as it came."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    user: Text = ""
    project: Text = ""
    spec: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DstackAsked:
    """One question of dstack's: what is applied, and its specification."""

    hook: str
    body: DstackRequest


def answer(asked: DstackRequest, refused: str) -> dict[str, Any]:
    """Return the answer: the specification unchanged, and why it is refused."""
    return {"spec": asked.spec, "error": refused or None}


def launch_of(asked: DstackAsked, job_keys: tuple[str, ...]) -> Launch | None:
    """Return what would be started, as far as it says; None when it takes no machine.

    Raises:
        HttpError: The specification is none of dstack.
    """
    if asked.hook not in _JUDGED:
        return None
    spec = asked.body.spec
    config = _mapping(spec.get("configuration"))
    profile = _mapping(spec.get("merged_profile") or spec.get("profile"))
    # What the configuration leaves open, the profile says.
    said = {**profile, **{key: one for key, one in config.items() if one is not None}}
    environment = _environment(config.get("env"))
    choices = tuple(_choices(said))
    if len(choices) > _CHOICES_MAX:
        raise HttpError(422, "bad_request", "the specification names too many places")
    name = _text(spec.get("run_name") or config.get("name"))
    tags = {
        str(key).strip().lower(): one for key, one in _mapping(said.get("tags")).items()
    }
    tagged = [tags.get(key.strip().lower()) for key in job_keys]
    jobs = (environment.get("GPUCOST_JOB"), *tagged, name)
    return Launch(
        name=name,
        job=next((text for one in jobs if (text := _text(one).strip())), ""),
        nodes=_nodes(said),
        choices=choices,
        grant=_text(environment.get("GPUCOST_GRANT")),
        hours=_text(environment.get("GPUCOST_HOURS"))
        or _hours(said.get("max_duration")),
    )


def _choices(said: Mapping[str, Any]) -> Iterator[Choice]:
    """Yield every way in which dstack may place one node."""
    backends = [_text(one).lower() for one in _list(said.get("backends"))]
    if said.get("ssh_config"):
        return  # Machines of one's own.
    is_aws = not backends or _AWS in backends
    regions = [_text(one).lower() for one in _list(said.get("regions"))] or [""]
    types = [_text(one).lower() for one in _list(said.get("instance_types"))]
    gpus = [("", 0)] if types else list(_gpus(_mapping(said.get("resources"))))
    for region in regions:
        for instance_type in types or [""]:
            for model, count in gpus:
                yield Choice(
                    is_aws=is_aws,
                    region=region,
                    instance_type=instance_type,
                    accelerator=model,
                    accelerators=count,
                    is_spot=_text(said.get("spot_policy")) == "spot",
                )


def _gpus(resources: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield model and count; the most that may be taken counts."""
    found = resources.get("gpu")
    if found is None:
        yield "", 0
        return
    if not isinstance(found, Mapping):
        raise HttpError(422, "bad_request", "resources.gpu is none of dstack")
    count = _most(found.get("count"), otherwise=1)
    memory = _mapping(found.get("memory")).get("min")
    size = f"-{_whole(memory)}GB" if memory is not None else ""
    names = [_text(one) for one in _list(found.get("name"))] or [""]
    for name in names:
        # Without a name nobody knows which GPU it will be: that has no price.
        yield (f"{name}{size if name else ''}", count)


def _nodes(said: Mapping[str, Any]) -> int:
    """Return how many machines may run at once: nodes of a task or fleet, replicas."""
    nodes = _most(said.get("nodes"), otherwise=1)
    return max(nodes, 1) * max(_most(said.get("replicas"), otherwise=1), 1)


def _most(value: Any, *, otherwise: int) -> int:  # noqa: ANN401 - whatever stands there
    if value is None:
        return otherwise
    if isinstance(value, Mapping):
        ends = [value.get(name) for name in ("max", "target", "min")]
        value = next((one for one in ends if one is not None), otherwise)
    return _whole(value)


def _hours(value: Any) -> str:  # noqa: ANN401 - as above
    """Return the hours of a duration in seconds; "" when there is no end."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return ""
    return f"{value / 3600:.4f}".rstrip("0").rstrip(".")


def _environment(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as above
    """Return variables, which dstack sends as a mapping or as ``NAME=value``."""
    if isinstance(value, Mapping) and "__root__" in value:
        value = value["__root__"]
    if isinstance(value, list):
        return dict(str(one).partition("=")[::2] for one in value)
    return _mapping(value)


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - as above
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _mapping(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as above
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise HttpError(422, "bad_request", "the specification is none of dstack")
    return value


def _text(value: Any) -> str:  # noqa: ANN401 - as above
    return "" if value is None or isinstance(value, list | dict) else str(value)


def _whole(value: Any) -> int:  # noqa: ANN401 - as above
    """Return a count; a part of one takes a whole one."""
    try:
        number = float(str(value))
        if not 0 <= number <= _COUNT_MAX:
            raise ValueError(value)  # noqa: TRY301 - told below
    except ValueError as error:
        raise HttpError(
            422, "bad_request", "the specification holds no number"
        ) from error
    return -int(-number // 1)
