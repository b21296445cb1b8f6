"""`gpucost doctor` and `gpucost db check`: what is wrong, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import text

from billing.aws.identity import (
    Trial,
    read_caller,
    try_payer_permissions,
    try_permissions,
)
from billing.core.errors import GpucostError
from billing.core.money import Money
from billing.core.periods import rfc3339
from bot.clock import system_now
from bot.migrations import current, head
from bot.ports import SlackFailedError
from bot.slack.app import BOT_SCOPES
from bot.slack.client import call, connect
from bot.use_cases.freshness import stale_sources
from bot.views.answers import Check
from bot.wiring.application import Application
from bot.wiring.desks import InvalidPoliciesError
from bot.wiring.people import slack_client, slack_directory

SKEW_S_MAX = 60


def doctor_checks(application: Application) -> Sequence[Check]:
    """Check everything gpucost depends on; one failing check hides no other."""
    groups: Sequence[tuple[str, Callable[[Application], Sequence[Check]]]] = (
        ("database", _database),
        ("AWS", _aws),
        ("accounts", _accounts),
        ("tags", _tags),
        ("Slack", _slack),
        ("policies", _policies),
        ("exports", _exports),
        ("event queue", _events),
        ("imports", _imports),
        ("configuration", _unused_settings),
    )
    checks: list[Check] = []
    for name, group in groups:
        try:
            checks += group(application)
        except (GpucostError, SlackFailedError) as error:
            hint = getattr(error, "hint", "")
            checks.append(Check(name=name, ok=False, message=str(error), fix=hint))
    return checks


def _database(application: Application) -> Sequence[Check]:
    found, wanted = current(application.store.database.engine), head()
    problems = application.verify_audit()[0]
    return [
        Check(
            name="database schema",
            ok=found == wanted,
            message=f"{found}",
            fix="" if found == wanted else "run `gpucost db upgrade`",
        ),
        Check(
            name="audit chain",
            ok=not problems,
            message=problems[0] if problems else "whole",
            fix="restore a backup, and find out who edited the database"
            if problems
            else "",
        ),
    ]


def _aws(application: Application) -> Sequence[Check]:
    caller = read_caller(application.aws.clients, system_now())
    skew = caller.skew_s
    in_time = skew is None or abs(skew) <= SKEW_S_MAX
    checks = [
        Check(
            name="AWS credentials", ok=True, message=f"{caller.arn} in {caller.account}"
        ),
        Check(
            name="clock",
            ok=None if skew is None else in_time,
            message="unknown" if skew is None else f"{skew:+.0f} s from AWS",
            fix=""
            if in_time
            else "set the clock by NTP; no action is taken until then",
        ),
    ]
    trials = try_payer_permissions(application.aws.clients)
    for account in application.aws.accounts:
        for region in application.aws.regions:
            trials += try_permissions(application.aws.clients, account, region)
    checks += [_permission(trial) for trial in trials]
    return checks


def _permission(trial: Trial) -> Check:
    place = " ".join(part for part in (trial.account, trial.region) if part)
    fix = f"allow {trial.permission}: deploy/aws/iam-read.json has the policy"
    return Check(
        name=f"permission {trial.permission}",
        ok=trial.is_allowed,
        message=f"{place}: {trial.message or 'allowed'}",
        fix="" if trial.is_allowed else fix,
    )


def _tags(application: Application) -> Sequence[Check]:
    checks = []
    for key in application.aws.costs().tag_keys():
        near = (
            f"; active keys like it: {', '.join(key.suggestions)}"
            if key.suggestions
            else ""
        )
        ok = {"active": True, "unchecked": None}.get(key.state, False)
        checks.append(
            Check(
                name=f"cost allocation tag {key.key}",
                ok=ok,
                message=f"{key.state}{near}",
                fix=""
                if ok
                else "activate it under Billing > Cost allocation tags, or correct tags.job",
            )
        )
    # One active key suffices: the others are aliases.
    if any(check.ok for check in checks):
        checks = [
            check
            if check.ok
            else Check(name=check.name, ok=None, message=check.message)
            for check in checks
        ]
    return checks


def _slack(application: Application) -> Sequence[Check]:
    settings = application.settings
    if not settings.has_slack:
        return [
            Check(
                name="Slack", ok=None, message="SLACK_BOT_TOKEN is not set",
                fix="install the app from deploy/slack/manifest.yaml and set its tokens",
            )
        ]  # fmt: skip
    client = slack_client(settings)
    answer = client.auth_test()
    home = connect(client)
    granted = {
        scope.strip()
        for scope in str(answer.headers.get("x-oauth-scopes", "")).split(",")
        if scope.strip()
    }
    missing = sorted(set(BOT_SCOPES) - granted) if granted else []
    checks = [
        Check(name="Slack token", ok=True, message=f"workspace {home.team_id}"),
        Check(
            name="Slack scopes",
            ok=None if not granted else not missing,
            message="unknown"
            if not granted
            else ("missing " + ", ".join(missing) if missing else "all granted"),
            fix="reinstall the app from deploy/slack/manifest.yaml" if missing else "",
        ),
    ]
    slack = settings.config.slack
    named = dict.fromkeys(one for one in (slack.alerts, slack.approvals) if one)
    checks += [_channel(application, channel) for channel in named]
    directory = slack_directory(client, home, application.store)
    _, unknown = directory.resolve(settings.config.slack.admins)
    checks.append(
        Check(
            name="Slack admins",
            ok=bool(settings.config.slack.admins) and not unknown,
            message=f"unknown: {', '.join(unknown)}"
            if unknown
            else f"{len(settings.config.slack.admins)} named",
            fix="name people under slack.admins by @user, @group, id or e-mail",
        )
    )
    return checks


def _channel(application: Application, channel: str) -> Check:
    from bot.slack.channels import Channels  # noqa: PLC0415 - one check's own

    client = slack_client(application.settings)
    try:
        channel_id = Channels(client).id_of(channel)
        info = call(client.conversations_info, channel=channel_id)["channel"]
    except SlackFailedError as error:
        return Check(
            name=f"channel {channel}", ok=False, message=error.code,
            fix="name an existing channel; invite the bot to a private one",
        )  # fmt: skip
    is_in = bool(info.get("is_member"))
    return Check(
        name=f"channel {channel}",
        ok=is_in and not info.get("is_archived"),
        message="the bot is a member" if is_in else "the bot is not a member",
        fix="" if is_in else f"type /invite @gpucost in {channel}",
    )


def _policies(application: Application) -> Sequence[Check]:
    try:
        policies = application.load_policies(None)
    except InvalidPoliciesError as error:
        return [
            Check(
                name="policies", ok=False, message=str(error).splitlines()[0],
                fix="run `gpucost policy validate` for every error",
            )
        ]  # fmt: skip
    message = (
        f"{len(policies)} loaded" if policies else "none: GPUCOST_POLICIES is not set"
    )
    return [Check(name="policies", ok=True if policies else None, message=message)]


def _exports(application: Application) -> Sequence[Check]:
    if not application.settings.config.exports:
        return []
    from bot.wiring.exports import export_checks  # noqa: PLC0415 - one check's own

    return export_checks(application.settings, application.aws.export_files)


def _accounts(application: Application) -> Sequence[Check]:
    from bot.wiring.accounts import account_checks  # noqa: PLC0415 - one check's own

    return account_checks(application)


def _events(application: Application) -> Sequence[Check]:
    from bot.wiring.events import event_checks  # noqa: PLC0415 - one check's own

    return event_checks(application)


def _unused_settings(application: Application) -> Sequence[Check]:
    """Name settings that this version accepts and does not use."""
    config = application.settings.config
    unused = {
        "owners.default": bool(config.owners.default),
    }
    named = [name for name, is_set in unused.items() if is_set]
    if not named:
        return []
    message = f"set, but not used by this version: {', '.join(named)}"
    return [Check(name="configuration", ok=None, message=message)]


def _imports(application: Application) -> Sequence[Check]:
    with application.store.read() as unit:
        known = unit.ledger.freshness()
    stale = {
        (one.source, one.account): one.reason
        for one in stale_sources(known, application.schedules, application.now())
    }
    if not known:
        return [
            Check(
                name="last imports", ok=None, message="nothing was read yet",
                fix="run `gpucost ingest`, or let `gpucost serve` do it",
            )
        ]  # fmt: skip
    return [
        Check(
            name=f"last {one.source.value} {one.account}".rstrip(),
            ok=(one.source, one.account) not in stale,
            message=stale.get((one.source, one.account))
            or (rfc3339(one.as_of) if one.as_of else "never"),
            fix=f"run `gpucost ingest --source {one.source.value}` and read its errors"
            if (one.source, one.account) in stale
            else "",
        )
        for one in known
    ]


#: Stored sums that must be equal, day by day; a row that comes back is a broken day.
_ROLLUP_SQL = """
SELECT c.account, c.day, c.billed, r.billed FROM
 (SELECT account, day, SUM(billed) AS billed, SUM(effective) AS effective
    FROM charge GROUP BY account, day) c
 LEFT JOIN
 (SELECT account, day, SUM(billed) AS billed, SUM(effective) AS effective
    FROM cost_rollup GROUP BY account, day) r
 ON c.account = r.account AND c.day = r.day
 WHERE r.day IS NULL OR c.billed <> r.billed OR c.effective <> r.effective
"""
_CONTROL_SQL = """
SELECT d.account, d.day, d.billed, COALESCE(c.billed, 0) FROM day_control d
 LEFT JOIN
 (SELECT account, day, source, SUM(billed) AS billed
    FROM charge GROUP BY account, day, source) c
 ON c.account = d.account AND c.day = d.day AND c.source = d.source
 WHERE ABS(d.billed - COALESCE(c.billed, 0)) >= :cent
"""
_CENT = Money.of("0.01").nanos


def database_checks(application: Application) -> Sequence[Check]:
    """Prove that rollups equal charges, charges equal controls, and the chain holds."""
    with application.store.database.read() as session:
        rollups = session.execute(text(_ROLLUP_SQL)).all()
        controls = session.execute(text(_CONTROL_SQL), {"cent": _CENT}).all()
    problems, count, _ = application.verify_audit()
    return [
        _days("rollups equal charges", rollups),
        _days("charges equal the source's control totals", controls),
        Check(
            name="audit chain", ok=not problems,
            message=problems[0] if problems else f"{count} events, whole",
            fix="restore a backup, and find out who edited the database" if problems else "",
        ),
    ]  # fmt: skip


def _days(name: str, broken: Sequence[object]) -> Check:
    if not broken:
        return Check(name=name, ok=True, message="every day")
    first = tuple(broken[0])[:2] if isinstance(broken[0], tuple) else broken[0]
    return Check(
        name=name,
        ok=False,
        message=f"{len(broken)} days differ, first {first}",
        fix="run `gpucost ingest --full`",
    )
