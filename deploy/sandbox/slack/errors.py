"""Why a Web API call is refused, as Slack says it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class SlackApiProblem(Exception):  # noqa: N818 - "Error" means SlackApiError to readers
    """A Web API call that Slack would refuse.

    Attributes:
        error: Slack's code, such as `channel_not_found`.
        messages: goes to `response_metadata.messages`.
        extra: further top-level fields of the answer.
        retry_after_s: set for `ratelimited`, which answers HTTP 429.
    """

    error: str
    messages: tuple[str, ...] = ()
    extra: dict[str, object] = field(default_factory=dict)
    retry_after_s: int | None = None

    def __post_init__(self) -> None:
        super().__init__(self.error)

    def body(self) -> dict[str, object]:
        """Return the JSON answer."""
        body: dict[str, object] = {"ok": False, "error": self.error, **self.extra}
        if self.messages:
            body["response_metadata"] = {"messages": list(self.messages)}
        return body
