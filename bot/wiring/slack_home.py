"""Somebody's own jobs, team and open ends, as the menu and the home tab show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from billing.core.money import Money
from billing.core.periods import day_of, month_start
from bot.ports import Directory, Json, Message
from bot.slack.handlers import Ask, Asker
from bot.use_cases.pricing import price_book
from bot.use_cases.team_months import team_months
from bot.use_cases.wishes import change_wishes
from bot.views.answers import JobLine
from bot.views.my_day import MENTIONS, QUIETS, MyDay, home_view, menu_message
from bot.views.slack_values import Wishes
from bot.wiring.application import Application
from bot.wiring.owners import Owners
from bot.wiring.parts import own_prices, tag_keys
from policies.core.approvals import ApprovalRequest, Person, RequestState, approvers_of
from policies.core.document import Mode
from policies.core.facts import TeamMonth
from policies.core.finding import Finding

COMMAND = "/gpucost"
NOBODY: Json = {
    "type": "home",
    "blocks": [
        {
            "type": "section",
            "text": {"type": "mrkdwn", "text": "Guests may not ask about cost here."},
        }
    ],
}


@dataclass(frozen=True)
class HomeDesk:
    """Gathers what is somebody's own, over one application."""

    application: Application
    directory: Directory

    def menu(self, ask: Ask) -> tuple[Message, ...]:
        """Show somebody's own for the bare command."""
        return (menu_message(self._day(ask.asker.user_id, ask.now), COMMAND),)

    def home(self, asker: Asker) -> Json:
        """Return somebody's home tab; guests see that they may not ask."""
        person = self.directory.person(asker.user_id)
        shows = self.application.settings.config.visibility.guests == "all"
        if person is None or not person.home_org or (person.is_guest and not shows):
            return NOBODY
        return home_view(self._day(asker.user_id, self.application.now()), COMMAND)

    def change(self, asker: Asker, action: str, value: str) -> None:
        """Keep a setting of the home tab; what is no choice of ours changes nothing."""
        person = self.directory.person(asker.user_id)
        if person is None:
            return
        mentions = value == "on" if action == MENTIONS else None
        quiet = None if action == MENTIONS else QUIETS.get(value)
        change_wishes(
            self.application.store, person.person_id, mentions=mentions, quiet=quiet
        )

    # --------------------------------------------------------------- gathering

    def _day(self, slack_id: str, now: datetime) -> MyDay:
        person = self.directory.person(slack_id)
        owners = Owners(settings=self.application.settings, directory=self.directory)
        lines = self.application.jobs(month_start(day_of(now)), None)
        mine = owners.of(slack_id, {one.owner for one in lines})
        jobs = [one for one in lines if one.owner in mine]
        findings = self._findings(owners, slack_id)
        return MyDay(
            now=now,
            running=tuple(sorted((one for one in jobs if one.instances), key=_dearest)),
            ends=_ends(findings),
            teams=self._teams(slack_id, {one.team for one in jobs if one.team}, now),
            approvals=self._approvals(person, now) if person else (),
            findings=findings,
            wishes=self._wishes(person),
        )

    def _wishes(self, person: Person | None) -> Wishes:
        if person is None:
            return Wishes()
        with self.application.store.read() as unit:
            return unit.wishes.of(person.person_id)

    def _findings(self, owners: Owners, slack_id: str) -> tuple[Finding, ...]:
        with self.application.store.read() as unit:
            opened = [one.finding for one in unit.journal.open_findings()]
        told = [one for one in opened if one.mode != Mode.OBSERVE and not one.waiver]
        mine = owners.of(slack_id, {one.owner for one in told})
        return tuple(one for one in told if one.owner in mine)

    def _approvals(self, person: Person, now: datetime) -> tuple[ApprovalRequest, ...]:
        with self.application.store.read() as unit:
            open_ = unit.journal.requests(state=RequestState.PENDING)
        return tuple(one for one in open_ if self._may_decide(person, one, now))

    def _may_decide(
        self, person: Person, request: ApprovalRequest, now: datetime
    ) -> bool:
        if person.person_id in {request.requester, request.caller, request.owner}:
            return False
        if any(vote.person_id == person.person_id for vote in request.votes):
            return False
        eligible, _ = self.directory.resolve(approvers_of(request, now))
        return person.slack_id in eligible

    def _teams(
        self, slack_id: str, teams: set[str], now: datetime
    ) -> tuple[TeamMonth, ...]:
        settings = self.application.settings
        budgets: dict[str, Money] = {}
        wanted = set(teams)
        for team, one in settings.config.teams.items():
            if one.budget is not None:
                budgets[team] = one.budget
            if one.leads and slack_id in self.directory.resolve(one.leads)[0]:
                wanted.add(team)
        if not wanted:
            return ()
        with self.application.store.read() as unit:
            months = team_months(
                unit.ledger, budgets,
                prices=price_book(unit.ledger, own_prices(settings)),
                keys=tag_keys(settings), now=now,
            )  # fmt: skip
        return tuple(one for one in months if one.team in wanted)


def _dearest(one: JobLine) -> tuple[int, str]:
    return (-(one.burn.nanos if one.burn else 0), one.job)


def _ends(findings: tuple[Finding, ...]) -> dict[str, datetime]:
    """Return when policies end jobs, as their warnings say; the earliest of each."""
    ends: dict[str, datetime] = {}
    for one in findings:
        steps = [step.at for step in one.actions if step.do != "warn"]
        if one.kind == "ttl" and one.job and steps:
            ends[one.job] = min(steps[0], ends.get(one.job, steps[0]))
    return ends
