"""SkyPilot's admin policy over REST: its request read, its answer written.

SkyPilot posts JSON that holds one string, and that string is the JSON object; the task
within is YAML. It takes the same shape back, unchanged or changed, and shows the text of
a 400 to its user (https://docs.skypilot.co/en/latest/cloud-setup/policy.html).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bot.api.errors import HttpError
from bot.use_cases.admission import Choice, Launch

_TEXT_MAX = 512 * 1024
_CHOICES_MAX = 50
_AWS = "aws"
_ANY = {"", "*"}

Text = Annotated[str, StringConstraints(max_length=_TEXT_MAX)]


class _Options(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    cluster_name: str | None = None
    dryrun: bool = False


class SkyRequest(BaseModel):
    """What SkyPilot sends about one launch; `task` and `skypilot_config` are YAML."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    task: Text
    skypilot_config: Text = ""
    request_name: str = ""
    request_options: _Options | None = None
    at_client_side: bool = False
    user: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkyAnswer:
    """What is told to SkyPilot.

    Attributes:
        refused: Why, in words for its user; "" lets the launch through.
        is_down: It could not be judged.
    """

    refused: str = ""
    is_down: bool = False


def read_request(body: bytes) -> SkyRequest:
    """Read a request, whether the object stands in a string or for itself."""
    try:
        outer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HttpError(422, "bad_request", "the body is no JSON") from error
    if isinstance(outer, str):
        return SkyRequest.model_validate_json(outer)
    return SkyRequest.model_validate(outer)


def unchanged(asked: SkyRequest) -> str:
    """Return the answer that changes nothing."""
    return json.dumps({"task": asked.task, "skypilot_config": asked.skypilot_config})


def launch_of(asked: SkyRequest, job_keys: tuple[str, ...]) -> Launch:
    """Return what a task would start, as far as it says.

    Raises:
        HttpError: The task is no YAML of a task.
    """
    task = _mapping(_yaml(asked.task))
    resources = _mapping(task.get("resources"))
    environment = {**_mapping(task.get("envs")), **_mapping(task.get("secrets"))}
    choices = tuple(_choices(resources))
    if len(choices) > _CHOICES_MAX:
        raise HttpError(422, "bad_request", "the task names too many resources")
    labels = _mapping(resources.get("labels"))
    return Launch(
        name=asked.request_name,
        job=_job(task, environment, labels, job_keys),
        nodes=_whole(task.get("num_nodes", 1)),
        choices=choices,
        grant=_text(environment.get("GPUCOST_GRANT")),
        hours=_text(environment.get("GPUCOST_HOURS")),
    )


def _yaml(text: str) -> Any:  # noqa: ANN401 - whatever stands there
    try:
        # The first document is the task; a pipeline comes as one request per task.
        return next(iter(YAML(typ="safe", pure=True).load_all(text)), None)
    except (YAMLError, RecursionError, ValueError, TypeError) as error:
        raise HttpError(422, "bad_request", "the task is no readable YAML") from error


def _mapping(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as above
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise HttpError(422, "bad_request", "the task is no task of SkyPilot")
    return value


def _choices(resources: Mapping[str, Any]) -> Iterator[Choice]:
    """Yield every way in which SkyPilot may place the task."""
    several = resources.get("any_of") or resources.get("ordered")
    if not isinstance(several, list):
        yield from _alternatives(resources)
        return
    for one in several:
        yield from _alternatives({**resources, **_mapping(one)})


def _alternatives(resources: Mapping[str, Any]) -> Iterator[Choice]:
    cloud, region = _place(resources)
    for model, count in _accelerators(resources.get("accelerators")):
        yield Choice(
            is_aws=cloud in {_AWS, *_ANY},
            region="" if region in _ANY else region,
            instance_type=_text(resources.get("instance_type")).lower(),
            accelerator=model,
            accelerators=count,
            is_spot=resources.get("use_spot") is True,
        )


def _place(resources: Mapping[str, Any]) -> tuple[str, str]:
    infra = _text(resources.get("infra")).lower()
    if infra:
        parts = [*infra.split("/"), "", ""]
        return parts[0], parts[1]
    cloud = _text(resources.get("cloud")).lower()
    return cloud, _text(resources.get("region")).lower()


def _accelerators(value: Any) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - as above
    """Yield model and count of every alternative; ("", 0) when none is named."""
    if value is None:
        yield "", 0
    elif isinstance(value, Mapping):
        for model, count in value.items():
            yield _text(model), _whole(1 if count is None else count)
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _accelerators(one)
    else:
        model, _, count = _text(value).partition(":")
        yield model.strip(), _whole(count.strip() or 1)


def _job(
    task: Mapping[str, Any],
    environment: Mapping[str, Any],
    labels: Mapping[str, Any],
    job_keys: tuple[str, ...],
) -> str:
    """Return the job: the variable, the label that becomes a tag, or the task's name."""
    held = {str(key).strip().lower(): value for key, value in labels.items()}
    tagged = [held.get(key.strip().lower()) for key in job_keys]
    named = (environment.get("GPUCOST_JOB"), *tagged, task.get("name"))
    return next((text for one in named if (text := _text(one).strip())), "")


def _text(value: Any) -> str:  # noqa: ANN401 - as above
    return "" if value is None or isinstance(value, list | dict) else str(value)


def _whole(value: Any) -> int:  # noqa: ANN401 - as above
    """Return a count; a part of an accelerator takes a whole one."""
    try:
        number = float(str(value))
        return max(-int(-number // 1), 0)
    except (ValueError, OverflowError) as error:
        raise HttpError(422, "bad_request", "the task holds no number") from error
