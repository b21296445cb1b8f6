"""The queue of events and the payer: read, or refused with what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from billing.core.resources import Service
from bot.settings import InvalidSettingsError, load_settings

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://sqs.us-east-1.amazonaws.com/123456789012/gpucost-events"


def test_a_queue_and_a_payer_are_read(tmp_path: Path) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text(f"aws: {{events: {{queue_url: '{URL}'}}, payer: '012345678901'}}")

    found = load_settings(str(path)).config.aws

    assert (found.events.queue_url, found.payer) == (URL, "012345678901")


def test_without_them_nothing_is_heard_and_the_caller_pays(tmp_path: Path) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text("aws: {}")

    found = load_settings(str(path)).config.aws

    assert (found.events.queue_url, found.payer) == ("", "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{events: {queue_url: 'arn:aws:sqs:us-east-1:123456789012:q'}}", "queue URL"),
        ("{events: {queue_url: 'https://example.com/queue'}}", "queue URL"),
        ("{events: {queue: 'x'}}", "unknown"),
        ("{payer: 'me'}", "12-digit account id"),
    ],
)
def test_what_is_no_queue_or_account_is_refused(
    tmp_path: Path, text: str, wanted: str
) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text(f"aws: {text}")

    with pytest.raises(InvalidSettingsError, match=wanted):
        load_settings(str(path))


@pytest.mark.parametrize(
    ("text", "services"),
    [
        ("{}", None),
        ("{services: [fsx]}", {Service.FILE_SYSTEMS}),
        (
            "{services: [snapshots, sagemaker-training]}",
            {Service.SNAPSHOTS, Service.TRAINING},
        ),
    ],
)
def test_services_that_are_used_are_named(
    tmp_path: Path, text: str, services: set[Service] | None
) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text(f"aws: {text}")

    found = load_settings(str(path)).config.aws.services

    assert (None if found is None else set(found)) == services


def test_sagemaker_stands_for_all_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text("aws: {services: [sagemaker]}")

    found = load_settings(str(path)).config.aws.services

    assert found is not None
    assert set(found) == {one for one in Service if one.value.startswith("SageMaker")}


@pytest.mark.parametrize("text", ["[]", "fsx", "[lambda]", "[[fsx]]"])
def test_what_names_no_service_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gpucost.yaml"
    path.write_text(f"aws: {{services: {text}}}")

    with pytest.raises(InvalidSettingsError, match="expected"):
        load_settings(str(path))
