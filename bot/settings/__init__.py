"""Settings: the environment and the configuration file; the only reader of either.

Order: command flag, environment, file, default. Knows nothing of what a setting does.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from billing.core.errors import GpucostError
from bot.settings.sections import Config

LOOPBACK_HOSTS = frozenset({"localhost", "::1"})
#: The default; a sandbox or proxy sets another, which must end in `/api/`.
SLACK_API_URL = "https://slack.com/api/"


class InvalidSettingsError(GpucostError, ValueError):
    """A setting or the configuration file is invalid; nothing was started."""

    code = "invalid_settings"
    exit_code = 2

    def __init__(self, errors: tuple[str, ...]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


class Environment(BaseSettings):
    """What the environment says; tokens never print."""

    model_config = SettingsConfigDict(extra="ignore", case_sensitive=True, frozen=True)

    slack_bot_token: SecretStr = Field(SecretStr(""), alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr = Field(SecretStr(""), alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr = Field(SecretStr(""), alias="SLACK_SIGNING_SECRET")
    slack_api_url: str = Field(SLACK_API_URL, alias="SLACK_API_URL")
    # May hold a password; the libraries that need it take text.
    database_url: str = Field("", alias="GPUCOST_DATABASE_URL", repr=False)
    config: str = Field("", alias="GPUCOST_CONFIG")
    policies: str = Field("", alias="GPUCOST_POLICIES")
    now: str = Field("", alias="GPUCOST_NOW")
    aws_region: str = Field("", alias="AWS_REGION")
    aws_default_region: str = Field("", alias="AWS_DEFAULT_REGION")

    @model_validator(mode="after")
    def _api_url(self) -> Self:
        if not self.slack_api_url.endswith("/api/"):
            message = f"SLACK_API_URL must end in /api/, got {self.slack_api_url!r}"
            raise ValueError(message)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything set, from every place.

    Attributes:
        config_path: The file that was read; None when there was none.
    """

    config: Config
    environment: Environment
    config_path: Path | None = None
    aws_endpoints: tuple[str, ...] = field(default_factory=tuple)

    @property
    def database_url(self) -> str:
        """Return the database to use; a SQLite file in ``data_dir`` by default."""
        if self.environment.database_url:
            return self.environment.database_url
        return f"sqlite:///{self.config.data_dir / 'gpucost.db'}"

    @property
    def policies_path(self) -> Path | None:
        """Return the file or folder of policies; None when none was named."""
        text = self.environment.policies
        return Path(text) if text else None

    @property
    def has_slack(self) -> bool:
        """Tell whether a bot token is set."""
        return bool(self.environment.slack_bot_token.get_secret_value())

    def check_clock(self, *, calls_aws: bool, calls_slack: bool) -> None:
        """Refuse a set clock when anything but a sandbox would be called.

        Raises:
            InvalidSettingsError: ``GPUCOST_NOW`` is set and an endpoint is not loopback.
        """
        if not self.environment.now:
            return
        endpoints = [*(self.aws_endpoints or ("",))] if calls_aws else []
        if calls_slack:
            endpoints.append(self.environment.slack_api_url)
        outside = [url or "AWS" for url in endpoints if not is_loopback(url)]
        if outside:
            message = (
                f"GPUCOST_NOW is set, but this command would call {outside[0]}: a set clock "
                "is for a sandbox on this machine only; unset it"
            )
            raise InvalidSettingsError((message,))


def is_loopback(url: str) -> bool:
    """Tell whether a URL stays on this machine.

    >>> is_loopback("http://127.0.0.1:5000"), is_loopback("https://slack.com/api/")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    return host in LOOPBACK_HOSTS or (
        host.startswith("127.") and host.replace(".", "").isdecimal()
    )


def aws_endpoints(environment: dict[str, str]) -> tuple[str, ...]:
    """Return every endpoint override; empty when AWS itself would be called."""
    general = environment.get("AWS_ENDPOINT_URL", "")
    special = sorted(
        value
        for key, value in environment.items()
        if key.startswith("AWS_ENDPOINT_URL_")
    )
    return (general, *special) if general else ()


def child_environment() -> dict[str, str]:
    """Return the environment for a child process of gpucost's own."""
    return dict(os.environ)


def load_settings(config_path: str | None = None) -> Settings:
    """Read the environment and the configuration file.

    Raises:
        InvalidSettingsError: With every error at once, each with its place.
    """
    environment = _environment()
    name = config_path or environment.config
    path = Path(name) if name else None
    document = _read_config(path) if path else Config()
    return Settings(
        config=document,
        environment=environment,
        config_path=path,
        aws_endpoints=aws_endpoints(dict(os.environ)),
    )


def _environment() -> Environment:
    try:
        return Environment()
    except ValueError as error:
        raise InvalidSettingsError((_first_line(error),)) from error


def _first_line(error: ValueError) -> str:
    details: Any = getattr(error, "errors", list)()
    return (
        str(details[0]["msg"]).removeprefix("Value error, ") if details else str(error)
    )


def _read_config(path: Path) -> Config:
    from policies.load import load_document  # noqa: PLC0415 - YAML only when there is a file

    document, errors = load_document(path, Config)
    if document is None:
        raise InvalidSettingsError(tuple(str(error) for error in errors))
    return document
