"""Read an HTTP request of any AWS protocol: service, operation, account, parameters.

It must not know what the services answer.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model

from deploy.sandbox.aws.model import protocol_of

SCOPE = re.compile(r"Credential=([^/,\s]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
CBOR_PATH = re.compile(r"^/service/[^/]+/operation/(\w+)$")
#: Signing names that differ from botocore's service names.
SIGNING_NAMES = {"monitoring": "cloudwatch", "s3express": "s3"}
SMALL_BYTES = 256
S3_OPERATIONS = {
    ("GET", False, ""): "ListObjects",
    ("GET", False, "list-type"): "ListObjectsV2",
    ("GET", False, "versions"): "ListObjectVersions",
    ("GET", False, "uploads"): "ListMultipartUploads",
    ("GET", False, "location"): "GetBucketLocation",
    ("GET", False, "tagging"): "GetBucketTagging",
    ("GET", False, "versioning"): "GetBucketVersioning",
    ("GET", False, "lifecycle"): "GetBucketLifecycleConfiguration",
    ("PUT", False, ""): "CreateBucket",
    ("PUT", False, "versioning"): "PutBucketVersioning",
    ("PUT", False, "tagging"): "PutBucketTagging",
    ("PUT", False, "lifecycle"): "PutBucketLifecycleConfiguration",
    ("GET", False, "object-lock"): "GetObjectLockConfiguration",
    ("HEAD", False, ""): "HeadBucket",
    ("DELETE", False, ""): "DeleteBucket",
    ("POST", False, "delete"): "DeleteObjects",
    ("GET", True, ""): "GetObject",
    ("GET", True, "tagging"): "GetObjectTagging",
    ("GET", True, "uploadId"): "ListParts",
    ("GET", True, "attributes"): "GetObjectAttributes",
    ("PUT", True, ""): "PutObject",
    ("PUT", True, "tagging"): "PutObjectTagging",
    ("PUT", True, "partNumber"): "UploadPart",
    ("HEAD", True, ""): "HeadObject",
    ("DELETE", True, ""): "DeleteObject",
    ("DELETE", True, "tagging"): "DeleteObjectTagging",
    ("DELETE", True, "uploadId"): "AbortMultipartUpload",
    ("POST", True, "uploads"): "CreateMultipartUpload",
    ("POST", True, "uploadId"): "CompleteMultipartUpload",
}
#: Query names that change what is listed or read, not which operation it is.
S3_PLAIN = {
    "prefix",
    "delimiter",
    "max-keys",
    "marker",
    "continuation-token",
    "start-after",
    "encoding-type",
    "fetch-owner",
    "key-marker",
    "version-id-marker",
    "versionId",
    "x-id",
    "part-number-marker",
    "max-parts",
}
#: Sub-resources that moto keeps; their operations are recorded by method and name.
S3_KEPT = {
    "acl",
    "cors",
    "encryption",
    "legal-hold",
    "logging",
    "notification",
    "object-lock",
    "ownershipControls",
    "policy",
    "publicAccessBlock",
    "replication",
    "retention",
    "uploadId",
    "website",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """An HTTP request as it came in; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    host: str = "127.0.0.1"

    def environ(self) -> dict[str, Any]:
        """Return the request as a WSGI environment."""
        parts = urlsplit(self.target)
        name, _, port = self.host.partition(":")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote(parts.path, "latin-1"),
            "QUERY_STRING": parts.query,
            "RAW_URI": self.target,
            "REQUEST_URI": self.target,
            "SERVER_NAME": name,
            "SERVER_PORT": port or "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_LENGTH": str(len(self.body)),
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(self.body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for key, value in self.headers.items():
            environ["HTTP_" + key.upper().replace("-", "_")] = value
        return environ


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """What one request asks of which service."""

    service: str
    operation: str
    protocol: str
    region: str
    access_key: str
    params: dict[str, Any]


def read(raw: Raw) -> Incoming:
    """Return what a request asks for."""
    access_key, region, service = _scope(raw)
    protocol = _protocol(raw, service)
    operation = _operation(raw, service, protocol)
    return Incoming(
        service=service,
        operation=operation,
        protocol=protocol,
        region=region,
        access_key=access_key,
        params=_params(raw, service, operation, protocol=protocol),
    )


def _scope(raw: Raw) -> tuple[str, str, str]:
    query = dict(parse_qsl(urlsplit(raw.target).query))
    text = raw.headers.get("authorization") or (
        f"Credential={query['X-Amz-Credential']}" if "X-Amz-Credential" in query else ""
    )
    match = SCOPE.search(text)
    if match is None:
        unsigned = "sts" if b"Action=AssumeRole" in raw.body else "s3"
        return "", "us-east-1", unsigned
    key, region, name = match.groups()
    return key, region, SIGNING_NAMES.get(name, name)


def _protocol(raw: Raw, service: str) -> str:
    if raw.headers.get("smithy-protocol") == "rpc-v2-cbor":
        return "smithy-rpc-v2-cbor"
    if "x-amz-target" in raw.headers:
        return "json"
    protocol = protocol_of(service)
    form = raw.headers.get("content-type", "").startswith("application/x-www-form")
    return "query" if form and protocol not in {"ec2", "query"} else protocol


def _operation(raw: Raw, service: str, protocol: str) -> str:
    target = raw.headers.get("x-amz-target")
    if target:
        return target.rpartition(".")[2]
    path = urlsplit(raw.target).path
    match = CBOR_PATH.match(path)
    if match:
        return match.group(1)
    if protocol in {"ec2", "query"}:
        return dict(parse_qsl(raw.body.decode("utf-8", "replace"))).get("Action", "?")
    if service == "s3":
        return _s3_operation(raw)
    try:
        operation, _ = get_service_router(service).match(Request(raw.environ()))
    except Exception:  # noqa: BLE001  # any path that the model does not have
        return f"{raw.method} {path}"
    return str(operation.name)


def _s3_operation(raw: Raw) -> str:
    parts = urlsplit(raw.target)
    bucket, _, key = parts.path.lstrip("/").partition("/")
    if not bucket:
        return "ListBuckets"
    if raw.method == "PUT" and "x-amz-copy-source" in raw.headers and key:
        return "CopyObject"
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    known = [
        name
        for method, of_key, name in S3_OPERATIONS
        if method == raw.method and of_key is bool(key) and name in query
    ]
    sub = known[0] if known else ""
    other = [name for name in query if not _is_plain(name) and name not in known]
    if not known and other:
        unknown = other[0] not in S3_KEPT
        return f"{raw.method} ?{other[0]}" if unknown else f"{raw.method}:{other[0]}"
    return S3_OPERATIONS.get((raw.method, bool(key), sub), f"{raw.method} {parts.path}")


def _is_plain(name: str) -> bool:
    return name in S3_PLAIN or name.lower().startswith(("x-amz-", "response-"))


def _params(raw: Raw, service: str, operation: str, *, protocol: str) -> dict[str, Any]:
    if protocol in {"json", "rest-json"} and service in {
        "ce",
        "pricing",
        "savingsplans",
    }:
        return _json_body(raw.body)
    if service == "s3":
        parts = urlsplit(raw.target)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return {"Bucket": bucket, "Key": key} | query
    try:
        return _parsed(raw, service, operation, protocol=protocol)
    except Exception:  # noqa: BLE001  # only the record is poorer for it
        return {}


def _json_body(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        return {"body": "not JSON"}
    return value if isinstance(value, dict) else {"body": value}


def _parsed(raw: Raw, service: str, operation: str, *, protocol: str) -> dict[str, Any]:
    model = get_service_model(service).operation_model(operation)
    request = Request(raw.environ())
    url_params: dict[str, Any] = {}
    if protocol.startswith("rest"):
        url_params = dict(get_service_router(service).match(request)[1])
    parsed = PROTOCOL_PARSERS[protocol](model).parse(
        {
            "method": raw.method,
            "values": request.values,
            "headers": request.headers,
            "body": raw.body,
            "url_path": urlsplit(raw.target).path,
            "url_params": url_params,
        }
    )
    return {
        key: value
        for key, value in dict(parsed).items()
        if not (isinstance(value, bytes) and len(value) > SMALL_BYTES)
    }
