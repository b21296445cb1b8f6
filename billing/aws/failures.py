"""Turn what boto3 raises into failures that gpucost can name.

Must not know what a caller does about them. Messages never hold credentials,
signatures or request bodies.
"""

from __future__ import annotations

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
    TokenRetrievalError,
)

from billing.core.fleet import ScopeFailure
from billing.ports import SourceUnavailableError

#: Everything that a call through boto3 may raise and a caller can live with.
AWS_ERRORS = (ClientError, BotoCoreError, HTTPClientError)

_MESSAGE_MAX = 300
_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    TokenRetrievalError,
)
_TIMEOUTS = (ConnectTimeoutError, ReadTimeoutError)
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "OptInRequired",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)


def cause_of(error: Exception) -> str:
    """Return AWS's own code of an error, or a name of ours where AWS said nothing."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code") or "Unknown")
    if isinstance(error, _TIMEOUTS):
        return "Timeout"
    if isinstance(error, _CREDENTIALS):
        return "NoCredentials"
    if isinstance(error, SourceUnavailableError):
        return error.cause or error.code
    return type(error).__name__


def is_denied(error: Exception) -> bool:
    """Tell whether AWS refused the call for want of permission."""
    return cause_of(error) in DENIED


def describe(error: Exception) -> str:
    """Return one sentence about an error for a person."""
    code = cause_of(error)
    if code in _EXPIRED:
        return f"credentials have expired ({code}): renew them"
    if code == "Timeout":
        return "no answer in time after every retry"
    if code == "NoCredentials":
        return "no AWS credentials were found: set a profile or the AWS_* variables"
    if isinstance(error, ClientError):
        text = str(error.response.get("Error", {}).get("Message") or "no reason given")
        return f"{code}: {text[:_MESSAGE_MAX]}"
    return f"{str(error)[:_MESSAGE_MAX]}"


def unavailable(
    source: str, what: str, error: Exception, *, account: str = "", region: str = ""
) -> SourceUnavailableError:
    """Wrap an error of one call into the failure that ports speak of."""
    if isinstance(error, SourceUnavailableError):
        return error
    return SourceUnavailableError(
        source,
        f"{what} failed: {describe(error)}",
        account=account,
        region=region,
        cause=cause_of(error),
    )


def scope_failure(
    source: str, account: str, region: str, error: Exception
) -> ScopeFailure:
    """Return an error as the failure of one account and region."""
    return ScopeFailure(
        source=source,
        account=account,
        region=region,
        code=cause_of(error),
        message=describe(error),
    )
