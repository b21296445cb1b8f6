"""AWS errors and how each wire protocol writes them.

It must not know which service raised the error, only the protocol of the answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from uuid import uuid4
from xml.sax.saxutils import escape

CBOR_SHORT_TEXT = 24
CBOR_BYTE_TEXT = 256


class AwsError(Exception):
    """An answer that a service documents as an error."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        """Hold the error's code, its text and the HTTP status."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


@dataclass(slots=True, kw_only=True)
class Reply:
    """One HTTP answer before it is written."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    error_code: str | None = None


def not_implemented(service: str, operation: str) -> AwsError:
    """Return the named failure of an operation that nobody wrote."""
    message = (
        f"the sandbox does not implement {service} {operation}: "
        "add it to deploy/sandbox/aws or do not call it"
    )
    return AwsError("NotImplementedInSandbox", message, status=501)


def render_error(error: AwsError, protocol: str) -> Reply:
    """Return the error as the service's own protocol writes it."""
    request_id = str(uuid4())
    body, content_type = _body(error, protocol, request_id)
    headers = {
        "Content-Type": content_type,
        "x-amzn-RequestId": request_id,
        "x-amzn-ErrorType": error.code,
    }
    if protocol == "smithy-rpc-v2-cbor":
        headers["smithy-protocol"] = "rpc-v2-cbor"
    return Reply(status=error.status, headers=headers, body=body, error_code=error.code)


def _body(error: AwsError, protocol: str, request_id: str) -> tuple[bytes, str]:
    code, message = escape(error.code), escape(error.message)
    inner = f"<Code>{code}</Code><Message>{message}</Message>"
    if protocol == "ec2":
        text = (
            f"<Response><Errors><Error>{inner}</Error></Errors>"
            f"<RequestID>{request_id}</RequestID></Response>"
        )
        return _xml(text)
    if protocol == "query":
        text = (
            f"<ErrorResponse><Error><Type>Sender</Type>{inner}</Error>"
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
        return _xml(text)
    if protocol == "rest-xml":
        return _xml(f"<Error>{inner}<RequestId>{request_id}</RequestId></Error>")
    if protocol == "smithy-rpc-v2-cbor":
        return _cbor(error), "application/cbor"
    payload = {"__type": error.code, "message": error.message, "Message": error.message}
    content_type = (
        "application/json" if protocol == "rest-json" else "application/x-amz-json-1.1"
    )
    return json.dumps(payload).encode(), content_type


def _xml(text: str) -> tuple[bytes, str]:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode(), "text/xml"


def _cbor(error: AwsError) -> bytes:
    pairs = (("__type", error.code), ("message", error.message))
    parts = [_cbor_text(key) + _cbor_text(value) for key, value in pairs]
    return bytes([0xA0 + len(parts)]) + b"".join(parts)


def _cbor_text(text: str) -> bytes:
    raw = text.encode()
    if len(raw) < CBOR_SHORT_TEXT:
        return bytes([0x60 + len(raw)]) + raw
    if len(raw) < CBOR_BYTE_TEXT:
        return bytes([0x78, len(raw)]) + raw
    return bytes([0x79]) + len(raw).to_bytes(2, "big") + raw
