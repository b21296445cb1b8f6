"""What `/v1` calls: bodies in, use cases asked, the documents of the commands out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from billing.core.charges import Metric
from billing.core.progress import Counter, ProgressReport
from billing.ledger.database import DatabaseBusyError
from bot.api.models import (
    ApprovalBody,
    CheckBody,
    CostQuery,
    EstimateBody,
    PlacementsBody,
    ProgressBody,
    ReportBody,
    RunBody,
)
from bot.api.v1 import Document, V1Handlers
from bot.clock import system_now
from bot.ports import ApiToken
from bot.use_cases.approvals_moving import UnknownRequestError
from bot.use_cases.estimate import PlanTexts, plan_of, read_plan, with_options
from bot.use_cases.parts import CostQuestion
from bot.use_cases.placements import record_placements
from bot.use_cases.progress import record_progress
from bot.use_cases.tokens import check_token, note_use
from bot.views import documents
from bot.views.estimate_document import estimate_document
from bot.views.leaks import leaks_document
from bot.wiring.admission import Admission
from bot.wiring.desk import ApprovalDesk
from bot.wiring.job_placements import placements_of
from bot.wiring.people import NoIdentityError, known_person
from bot.wiring.runs import Runs
from policies.core.approvals import ApprovalRequest

if TYPE_CHECKING:
    from datetime import datetime

    from billing.core.estimate import EstimateRequest
    from bot.ports import Directory
    from bot.wiring.application import Application
    from policies.core.catalogue import Policy


@dataclass(frozen=True)
class V1:
    """The answers of `/v1` over one application; called from several threads.

    Attributes:
        policies: Returns the policies in force: the last set that loaded.
        slack: Returns Slack's directory while it runs; None without Slack.
    """

    application: Application
    policies: Callable[[], Sequence[Policy]]
    slack: Callable[[], Directory | None] = lambda: None

    def handlers(self) -> V1Handlers:
        """Return what the routes call."""
        return V1Handlers(
            authenticate=self.authenticate,
            estimate=self.estimate,
            request_approval=self.request_approval,
            approval=self.approval,
            approval_state=self.approval_state,
            check_grant=self.check_grant,
            record_placements=self.record_placements,
            record_progress=self.record_progress,
            job_cost=self.job_cost,
            admit_skypilot=self._admission.skypilot,
            admit_dstack=self._admission.dstack,
            requests_per_minute=self.application.settings.config.http.requests_per_minute,
        )

    @cached_property
    def desk(self) -> ApprovalDesk:
        """Return where approvals are asked for, judged by the policies in force."""
        application = self.application
        return ApprovalDesk(
            settings=application.settings,
            store=application.store,
            now=application.now,
            policies=self.policies,
        )

    @cached_property
    def _admission(self) -> Admission:
        return Admission(self.application, self.desk, self.policies)

    def authenticate(self, text: str) -> ApiToken:
        """Return the token of a text."""
        now = system_now()
        token = check_token(self.application.store, text, now)
        with suppress(DatabaseBusyError):  # A long import must not shut callers out.
            note_use(self.application.store, token, now)
        return token

    # ----------------------------------------------------------------- approvals

    def estimate(self, body: EstimateBody) -> Document:
        """Answer as `gpucost estimate` does."""
        texts = PlanTexts(
            instance_type=body.instance_type, count=body.count, hours=body.hours,
            purchase=body.purchase, region=body.region or self.application.default_region,
            job=body.job, is_time_limit=body.time_limit,
        )  # fmt: skip
        plan = read_plan(with_options(texts, body.options()), self.application.now())
        answer = self.application.estimate(plan)
        return estimate_document(answer)

    def request_approval(self, body: ApprovalBody, token: ApiToken) -> Document:
        """File a request; the token's person is recorded beside the requester."""
        directory = self.slack() or self.desk.directory
        requester = known_person(directory, body.requester or self._email(token))
        filed = self.desk.file(
            self._plan(body), requester=requester, caller=token.person_id,
            reason=body.reason,
        )  # fmt: skip
        return self._shown(filed)

    def approval(self, request_id: str) -> Document:
        """Answer as `gpucost approval show` does."""
        return self._shown(self.application.approval(request_id))

    def approval_state(self, request_id: str) -> str:
        """Return the state of a request alone."""
        with self.application.store.read() as unit:
            found = unit.journal.request(request_id)
        if found is None:
            raise UnknownRequestError(request_id)
        return found.state.value

    def check_grant(self, body: CheckBody) -> Document:
        """Answer as `gpucost approval verify` does."""
        found = self.application.grants.verify(body.grant, self._plan(body))
        return documents.coverage_document(found.reason)

    # ---------------------------------------------------------------------- jobs

    def record_progress(
        self, job: str, body: ProgressBody, token: ApiToken
    ) -> Document:
        """Keep what a job reports of itself."""
        now = self.application.now()
        reports = [one for report in body.all for one in _reports(report, now)]
        is_known = record_progress(
            self.application.store, job, reports, by=token.person_id, now=now
        )
        return {"recorded": len(reports), "job_known": is_known}

    def record_placements(
        self, job: str, body: PlacementsBody, token: ApiToken
    ) -> Document:
        """Keep where a job held accelerators."""
        del token  # Whoever may write placements may write those of any job.
        placements = placements_of(job, body.placements)
        done = record_placements(
            self.application.store, placements, now=self.application.now()
        )
        return {"recorded": done.imported, "changed": done.changed}

    def job_cost(self, job: str, query: CostQuery) -> Document:
        """Answer as `gpucost cost JOB` does."""
        question = CostQuestion(
            job=job,
            by=query.by,
            since=query.since,
            until=query.until,
            metric=Metric(query.metric),
            is_net=query.net,
        )
        if query.by == "leak":
            return leaks_document(Runs(self.application).leaks(question))
        return documents.cost_document(self.application.cost(question))

    # ------------------------------------------------------------------- helpers

    def _plan(self, body: RunBody) -> EstimateRequest:
        return plan_of(
            instance_type=body.instance_type,
            count=body.count,
            hours=body.hours,
            purchase=body.purchase,
            region=body.region or self.application.default_region,
            job=body.job,
            is_time_limit=False,
        )

    def _email(self, token: ApiToken) -> str:
        with self.application.store.read() as unit:
            known = unit.people.lookup(token.person_id) or {}
        email = known.get("email", "")
        if not email:
            raise NoIdentityError(token.person_id)
        return email

    def _shown(self, request: ApprovalRequest) -> Document:
        application = self.application
        return documents.approval_document(
            request,
            application.names([request]),
            application.currency,
            grant=application.grant_token(request),
        )


def _reports(body: ReportBody, now: datetime) -> list[ProgressReport]:
    counts = (
        (Counter.STEPS, body.steps),
        (Counter.TOKENS, body.tokens),
        (Counter.SAMPLES, body.samples),
    )
    return [
        ProgressReport(
            counter=counter, at=body.at or now, value=value, attempt=body.attempt
        )
        for counter, value in counts
        if value is not None
    ]
