"""The routes of `/v1`: who asks, how much, and the answers of the commands as JSON.

A request is let in by its token, counted, cut off at a size, read, and handled in a pool
of stated size; waiting for a decision holds no thread. Nothing of a body or token is
logged.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from traceback import extract_tb
from typing import Any, Literal, TypeVar

import structlog
from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import HTTPException
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException as RoutingError

from billing.core.errors import GpucostError
from bot.api.credentials import presented
from bot.api.dstack import DstackAsked, DstackRequest, answer
from bot.api.errors import HttpError, answer_of, bad_body, named_answer
from bot.api.limits import RateLimit, bounded_body
from bot.api.models import (
    ApprovalBody,
    CheckBody,
    CostQuery,
    EstimateBody,
    JobId,
    PlacementsBody,
    ProgressBody,
    WaitQuery,
)
from bot.api.skypilot import SkyAnswer, SkyRequest, read_request, unchanged
from bot.ports import ApiToken, SlackFailedError
from bot.use_cases.tokens import InvalidTokenError, MissingScopeError, Scope

log = structlog.get_logger()

BODY_BYTES_MAX = 64 * 1024
#: What a launcher sends may hold long scripts.
LAUNCHER_BYTES_MAX = 512 * 1024
#: Requests handled at once; others wait …
THREADS = 8
#: … but no more of them than this.
QUEUE_MAX = 128
#: Requests that may wait for a decision at once.
WAITS_MAX = 200
LOOK_AGAIN_S = 1.0
#: A request in these waits for somebody.
OPEN_STATES = frozenset({"pending", "needs-info"})
#: Wrong tokens from one address that are told so, a minute.
FAILURES_PER_MINUTE = 30

Document = dict[str, Any]
Model = TypeVar("Model", bound=BaseModel)
Result = TypeVar("Result")
_REQUEST_ID = re.compile(r"apr-[0-9a-z]{4,32}")
_JOB_ID: TypeAdapter[str] = TypeAdapter(JobId)
_BEARER = HTTPBearer(auto_error=False, description="From `gpucost token create`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class V1Handlers:
    """What `/v1` calls, from several threads; filled by the composition root.

    Attributes:
        authenticate: Returns the token of a text, or raises `InvalidTokenError`.
        approval_state: The cheap question that waiting asks.
        requests_per_minute: For each token.
    """

    authenticate: Callable[[str], ApiToken]
    estimate: Callable[[EstimateBody], Document]
    request_approval: Callable[[ApprovalBody, ApiToken], Document]
    approval: Callable[[str], Document]
    approval_state: Callable[[str], str]
    check_grant: Callable[[CheckBody], Document]
    record_placements: Callable[[str, PlacementsBody, ApiToken], Document]
    record_progress: Callable[[str, ProgressBody, ApiToken], Document]
    job_cost: Callable[[str, CostQuery], Document]
    admit_skypilot: Callable[[SkyRequest], SkyAnswer]
    admit_dstack: Callable[[DstackAsked], str]
    requests_per_minute: int = 120


@dataclass(slots=True)
class _Gate:
    """Lets requests in and hands their work to the pool."""

    handlers: V1Handlers
    pool: ThreadPoolExecutor
    rate: RateLimit
    failures: RateLimit
    look_again_s: float
    queued: int = 0
    waiting: int = 0

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Do blocking work in the pool; more than it can queue is refused."""
        if self.queued >= QUEUE_MAX:
            raise HttpError(503, "busy", "too much is asked at once", after_s=1)
        self.queued += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self.pool, work, *arguments)
        finally:
            self.queued -= 1

    async def admit(
        self, request: Request, scope: Scope, *, takes_basic: bool = False
    ) -> ApiToken:
        """Return the token of a request that may do what a scope names."""
        try:
            text = presented(request.headers, takes_basic=takes_basic)
            token = await self.run(self.handlers.authenticate, text)
        except InvalidTokenError:
            host = request.client.host if request.client else ""
            wait = self.failures.wait_s(host)
            if wait:
                raise _too_many(wait) from None
            raise
        wait = self.rate.wait_s(token.token_id)
        if wait:
            raise _too_many(wait)
        if scope.value not in token.scopes:
            raise MissingScopeError(scope)
        return token

    async def body(
        self, request: Request, model: type[Model], limit: int = BODY_BYTES_MAX
    ) -> Model:
        """Read a body."""
        return model.model_validate_json(await self.raw(request, limit))

    async def raw(self, request: Request, limit: int) -> bytes:
        """Read the bytes of a body."""
        body = await bounded_body(request, limit)
        if body is None:
            message = f"a body may have at most {limit // 1024} KiB"
            raise HttpError(413, "too_large", message)
        return body

    async def decided(self, request: Request, request_id: str, wait_s: int) -> None:
        """Wait until a request is decided, the time is up or the client has gone."""
        state = await self.run(self.handlers.approval_state, request_id)
        ends = time.monotonic() + wait_s
        if state not in OPEN_STATES or not wait_s:
            return
        if self.waiting >= WAITS_MAX:
            raise HttpError(429, "too_many_waits", "too many wait at once", after_s=5)
        self.waiting += 1
        try:
            while state in OPEN_STATES and time.monotonic() < ends:
                left = ends - time.monotonic()
                await asyncio.sleep(max(min(self.look_again_s, left), 0))
                if await request.is_disconnected():
                    return
                state = await self.run(self.handlers.approval_state, request_id)
        finally:
            self.waiting -= 1


def _too_many(wait_s: float) -> HttpError:
    return HttpError(
        429, "rate_limited", "too many requests with this token", after_s=wait_s
    )


def add_v1(api: FastAPI, handlers: V1Handlers) -> None:
    """Add the routes of `/v1` to an application."""
    gate = _Gate(
        handlers=handlers,
        pool=ThreadPoolExecutor(THREADS, thread_name_prefix="v1"),
        rate=RateLimit(handlers.requests_per_minute, time.monotonic),
        failures=RateLimit(FAILURES_PER_MINUTE, time.monotonic),
        look_again_s=LOOK_AGAIN_S,
    )
    _add_approvals(api, gate)
    _add_jobs(api, gate)
    _add_admission(api, gate)

    @api.exception_handler(RoutingError)
    async def not_there(request: Request, error: Exception) -> Response:
        """Answer what is no route: as `/v1` answers there, as ever elsewhere."""
        assert isinstance(error, RoutingError)
        if not request.url.path.startswith("/v1/"):
            return JSONResponse(
                {"detail": error.detail}, status_code=error.status_code,
                headers=error.headers,
            )  # fmt: skip
        code = "not_found" if error.status_code == 404 else "bad_request"  # noqa: PLR2004
        told = HttpError(error.status_code, code, str(error.detail).lower())
        return answer_of(told)


def _add_approvals(api: FastAPI, gate: _Gate) -> None:
    handlers = gate.handlers

    @_route(api, "POST", "/v1/estimates", Scope.ESTIMATES, EstimateBody)
    async def estimates(request: Request) -> Document:
        """Estimate a run: `gpucost estimate`."""
        await gate.admit(request, Scope.ESTIMATES)
        body = await gate.body(request, EstimateBody)
        return await gate.run(handlers.estimate, body)

    @_route(api, "POST", "/v1/approvals", Scope.APPROVALS_REQUEST, ApprovalBody)
    async def approvals(request: Request) -> Document:
        """Ask for approval of a run; equal requests are one."""
        token = await gate.admit(request, Scope.APPROVALS_REQUEST)
        body = await gate.body(request, ApprovalBody)
        return await gate.run(handlers.request_approval, body, token)

    @_route(api, "POST", "/v1/approvals/check", Scope.GRANTS_CHECK, CheckBody)
    async def check(request: Request) -> Document:
        """Tell whether a grant covers a launch, and if not, why."""
        await gate.admit(request, Scope.GRANTS_CHECK)
        body = await gate.body(request, CheckBody)
        return await gate.run(handlers.check_grant, body)

    @_route(api, "GET", "/v1/approvals/{id}", Scope.APPROVALS_READ, WaitQuery)
    async def approval(request: Request) -> Document:
        """Return a request; with `wait`, once it is decided or the time is up."""
        await gate.admit(request, Scope.APPROVALS_READ)
        query = WaitQuery.model_validate(dict(request.query_params))
        request_id = request.path_params["id"]
        if _REQUEST_ID.fullmatch(request_id) is None:
            raise HttpError(
                404, "unknown_request", "there is no approval request of this id"
            )
        await gate.decided(request, request_id, query.wait)
        return await gate.run(handlers.approval, request_id)


def _add_jobs(api: FastAPI, gate: _Gate) -> None:
    handlers = gate.handlers
    placements_path = "/v1/jobs/{job:path}/placements"
    progress_path = "/v1/jobs/{job:path}/progress"

    @_route(api, "POST", placements_path, Scope.PLACEMENTS_WRITE, PlacementsBody)
    async def placements(request: Request) -> Document:
        """Say which accelerators a job held, and when."""
        token = await gate.admit(request, Scope.PLACEMENTS_WRITE)
        body = await gate.body(request, PlacementsBody)
        return await gate.run(handlers.record_placements, _job(request), body, token)

    @_route(api, "POST", progress_path, Scope.PROGRESS_WRITE, ProgressBody)
    async def progress(request: Request) -> Document:
        """Say how far a job is: steps, tokens or samples."""
        token = await gate.admit(request, Scope.PROGRESS_WRITE)
        body = await gate.body(request, ProgressBody)
        return await gate.run(handlers.record_progress, _job(request), body, token)

    @_route(api, "GET", "/v1/costs/jobs/{job:path}", Scope.COSTS_READ, CostQuery)
    async def costs(request: Request) -> Document:
        """Return what a job has cost: `gpucost cost JOB`."""
        await gate.admit(request, Scope.COSTS_READ)
        query = CostQuery.model_validate(dict(request.query_params))
        return await gate.run(handlers.job_cost, _job(request), query)


def _add_admission(api: FastAPI, gate: _Gate) -> None:
    @_route(
        api, "POST", "/v1/admission/skypilot", Scope.ADMISSION, SkyRequest,
        takes_basic=True,
    )  # fmt: skip
    async def skypilot(request: Request) -> Response:
        """Let a launch of SkyPilot through unchanged, or refuse it with the reason."""
        await gate.admit(request, Scope.ADMISSION, takes_basic=True)
        asked = read_request(await gate.raw(request, LAUNCHER_BYTES_MAX))
        answer = await gate.run(gate.handlers.admit_skypilot, asked)
        if answer.is_down:
            raise HttpError(503, "unavailable", answer.refused, after_s=5)
        if answer.refused:
            return Response(answer.refused, status_code=400, media_type="text/plain")
        return JSONResponse(unchanged(asked))

    @_route(
        api, "POST", "/v1/admission/dstack/apply_policies/{hook}", Scope.ADMISSION,
        DstackRequest, takes_basic=True,
    )  # fmt: skip
    async def dstack(request: Request) -> Response:
        """Let what dstack applies through unchanged, or refuse it with the reason."""
        await gate.admit(request, Scope.ADMISSION, takes_basic=True)
        body = await gate.body(request, DstackRequest, LAUNCHER_BYTES_MAX)
        asked = DstackAsked(hook=request.path_params["hook"], body=body)
        refused = await gate.run(gate.handlers.admit_dstack, asked)
        return JSONResponse(answer(body, refused))


def _job(request: Request) -> str:
    """Return the job of a path; its pattern is that of bodies."""
    return _JOB_ID.validate_python(request.path_params["job"])


def _route(
    api: FastAPI,
    method: Literal["GET", "POST"],
    path: str,
    scope: Scope,
    model: type[BaseModel],
    *,
    takes_basic: bool = False,
) -> Callable[[Callable[[Request], Awaitable[Any]]], None]:
    """Add a route whose failures are told as the contract says."""
    del takes_basic
    documented = _documented(method, model)

    def add(handle: Callable[[Request], Awaitable[Any]]) -> None:
        async def endpoint(request: Request) -> Response:
            answer = await _told(handle, request)
            if answer.status_code >= 400:  # noqa: PLR2004 - where errors begin
                log.info("v1_refused", path=path, status=answer.status_code)
            return answer

        api.add_api_route(
            path, endpoint, methods=[method], name=handle.__name__,
            summary=(handle.__doc__ or "").strip(), openapi_extra=documented,
            description=f"Scope: `{scope.value}`.", tags=["v1"],
            dependencies=[Security(_BEARER)], response_model=None,
        )  # fmt: skip

    return add


def _documented(method: str, model: type[BaseModel]) -> dict[str, Any]:
    """Return what OpenAPI says of a route's body or query."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    schema = _flat(schema, schema.pop("$defs", {}))
    if method == "POST":
        content = {"application/json": {"schema": schema}}
        return {"requestBody": {"required": True, "content": content}}
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "schema": part}
            for name, part in schema["properties"].items()
        ]
    }


def _flat(part: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Put definitions in the places that refer to them."""
    if isinstance(part, list):
        return [_flat(one, definitions) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _flat(definitions[part["$ref"].rpartition("/")[2]], definitions)
    return {key: _flat(value, definitions) for key, value in part.items()}


async def _told(
    handle: Callable[[Request], Awaitable[Any]], request: Request
) -> Response:
    """Answer a request; every failure is the contract's error JSON."""
    try:
        answer = await handle(request)
    except HttpError as error:
        return answer_of(error)
    except ValidationError as error:
        return answer_of(bad_body(error))
    except GpucostError as error:
        return named_answer(error)
    except SlackFailedError as error:
        message = f"Slack could not be asked: {error.code}"
        return answer_of(HttpError(503, "slack_failed", message, after_s=5))
    except HTTPException:
        raise
    except Exception as error:  # noqa: BLE001 - its text may hold what nobody may see
        place = extract_tb(error.__traceback__)[-1]
        log.error(  # noqa: TRY400 - as above
            "v1_failed", kind=type(error).__name__,
            place=f"{place.filename.rpartition('/')[2]}:{place.lineno}",
        )  # fmt: skip
        return answer_of(HttpError(500, "unexpected", "this failed unexpectedly"))
    if isinstance(answer, Response):
        return answer
    return JSONResponse({"schema": 1, **answer})
