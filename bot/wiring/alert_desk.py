"""Presses under alerts: who may, looked up at the press, and what they do."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import Directory, Message
from bot.slack.alert_clicks import AlertClick
from bot.slack.directory import SlackDirectory
from bot.use_cases.acting import Outcome
from bot.use_cases.alert_presses import Presses
from bot.use_cases.alerts import Routing, reply
from bot.use_cases.stopping import stop_now
from bot.views.alert_buttons import EXPLAIN, KEEP, NOT_IDLE, SNOOZE
from bot.views.alert_notes import (
    GUEST,
    NOT_MINE,
    ended,
    explained,
    kept,
    not_kept,
    not_stopped,
    not_yours,
    noted,
    snoozed,
    stopped_by,
)
from bot.views.errors import note
from bot.views.slack_values import Alert
from bot.wiring.application import Application
from bot.wiring.owners import Owners
from policies.core.approvals import Person
from policies.core.finding import Finding
from policies.ports import StoredFinding


@dataclass(frozen=True)
class AlertDesk:
    """Answers presses under alerts, over one application; from several threads."""

    application: Application
    directory: Directory

    def press(self, click: AlertClick) -> tuple[Message, ...]:
        """Do what a button says; return what the presser alone is shown."""
        directory = self.directory
        if isinstance(directory, SlackDirectory):
            directory = directory.fresh()
        person = directory.person(click.asker.user_id)
        if person is None or person.is_guest or not person.home_org:
            return (note(GUEST),)
        alert, stored, before = self._known(click)
        if alert is None:
            return (note(NOT_MINE),)
        if stored is None or stored.opened_at != click.press.opened_at:
            return (ended(before, alert.resolved_at),)
        finding = stored.finding
        if click.action == EXPLAIN:
            return (explained(finding, stored.updated_at),)
        owners = Owners(settings=self.application.settings, directory=directory)
        if not self._may(owners, person, finding):
            return (not_yours(finding, self._people(owners, finding)),)
        return (self._do(click, stored, alert, person, owners),)

    def _known(
        self, click: AlertClick
    ) -> tuple[Alert | None, StoredFinding | None, Finding | None]:
        with self.application.store.read() as unit:
            alert = unit.alerts.find(click.press.fingerprint)
            stored = unit.journal.open_finding(click.press.fingerprint)
        return alert, stored, stored.finding if stored else None

    def _may(self, owners: Owners, person: Person, finding: Finding) -> bool:
        """Tell whether somebody owns it, leads its team, or is an admin."""
        slack_id = person.slack_id
        if owners.is_owner(slack_id, finding.owner) or owners.is_admin(slack_id):
            return True
        team = self.application.settings.config.teams.get(finding.team)
        if team is None or not team.leads:
            return False
        leads, _ = owners.directory.resolve(team.leads)
        return slack_id in leads

    def _people(self, owners: Owners, finding: Finding) -> dict[str, str]:
        found = owners.slack_id(finding.owner)
        return {finding.owner: found} if found else {}

    def _do(
        self,
        click: AlertClick,
        stored: StoredFinding,
        alert: Alert,
        person: Person,
        owners: Owners,
    ) -> Message:
        finding, by, now = stored.finding, person.person_id, click.now
        presses = self._presses(owners, finding)
        if click.action == KEEP:
            done = presses.keep(stored, alert, by=by, now=now)
            if done.until is None:
                return not_kept(finding)
            return kept(finding, done.until, again=done.again)
        if click.action == NOT_IDLE:
            done = presses.not_idle(stored, alert, by=by, now=now)
            return noted(finding, done.until, again=done.again)
        if click.action == SNOOZE and click.press.snooze is not None:
            until = now + click.press.snooze
            presses.snooze(stored, alert, until, by=by, now=now)
            return snoozed(finding, until)
        return self._stop(stored, alert, person)

    def _presses(self, owners: Owners, finding: Finding) -> Presses:
        config = self.application.settings.config
        routing = Routing(
            alerts=config.slack.alerts,
            owners=self._people(owners, finding),
            can_stop=self.application.enforcing.can_act,
        )
        return Presses(
            store=self.application.store,
            routing=routing,
            policies=self.application.load_policies(None),
        )

    def _stop(self, stored: StoredFinding, alert: Alert, person: Person) -> Message:
        application = self.application
        hand = application.enforcing.hand(application.load_policies(None))
        outcome = stop_now(hand, stored, by=person.person_id)
        if isinstance(outcome, str):
            return not_stopped(stored.finding, outcome)
        return self._stopped(outcome, stored, alert, person)

    def _stopped(
        self, outcome: Outcome, stored: StoredFinding, alert: Alert, person: Person
    ) -> Message:
        """Tell in the thread, for everybody, what somebody's Stop came to."""
        told = stopped_by(
            outcome.action, outcome.state, outcome.reason, by=person.slack_id
        )
        with self.application.store.write() as unit:
            name = f"stop:{outcome.action.action_id}"
            reply(unit, alert, name, told, self.application.now())
        if outcome.reason:
            return not_stopped(stored.finding, outcome.reason)
        return told
