"""Where events of AWS are heard; a section of the configuration file."""

from __future__ import annotations

import re
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

_QUEUE = re.compile(r"https?://[^\s/]+/[0-9]{12}/[A-Za-z0-9_.-]{1,80}")


class EventsSection(BaseModel):
    """The SQS queue that EventBridge rules put events on.

    Attributes:
        queue_url: "" hears nothing: only polls tell what changed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    queue_url: str = ""

    @model_validator(mode="after")
    def _is_a_queue(self) -> Self:
        if self.queue_url and _QUEUE.fullmatch(self.queue_url) is None:
            message = (
                "queue_url must be an SQS queue URL such as "
                "https://sqs.us-east-1.amazonaws.com/123456789012/gpucost-events, "
                f"got {self.queue_url!r}"
            )
            raise ValueError(message)
        return self
