"""Look at an instance as it is now, and stop or end it: the calls of the enforce role.

Made with the enforce role alone, also in the account of the credentials. The role that
ships allows these calls only on what carries ``gpucost-managed=true``. Must not know
why something is stopped; whoever calls has checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from billing.aws.calls import Call, Place, ask
from billing.aws.session import AwsClients, clock_skew_s
from policies.core.actions import Live
from policies.core.finding import Target

SOURCE = "enforce"

LOOK = Call(
    source=SOURCE,
    method="describe_instances",
    permission="ec2:DescribeInstances",
    required=("Reservations",),
)
PROTECTION = Call(
    source=SOURCE,
    method="describe_instance_attribute",
    permission="ec2:DescribeInstanceAttribute",
    required=("DisableApiTermination",),
)
#: verb -> the call that does it; both do nothing more when they come twice.
VERBS: Mapping[str, Call] = {
    "stop": Call(
        source=SOURCE,
        method="stop_instances",
        permission="ec2:StopInstances",
        required=("StoppingInstances",),
    ),
    "terminate": Call(
        source=SOURCE,
        method="terminate_instances",
        permission="ec2:TerminateInstances",
        required=("TerminatingInstances",),
    ),
}
#: Everything the enforce role must allow for instances, sorted.
INSTANCE_PERMISSIONS: tuple[str, ...] = tuple(
    sorted({LOOK.permission, PROTECTION.permission}
           | {call.permission for call in VERBS.values()})
)  # fmt: skip


class Ec2Enforcer:
    """Acts on EC2 instances through the enforce role.

    Args:
        clients: Clients that assume the enforce role in every account.
        clock: The system clock, to be held against AWS's.
    """

    def __init__(self, clients: AwsClients, clock: Callable[[], datetime]) -> None:
        self._clients = clients
        self._clock = clock

    def look(self, target: Target) -> Live:
        """Return the instance as AWS tells it now; state "" when it is not there.

        Raises:
            SourceUnavailableError: AWS could not be asked: nothing is known.
        """
        place = Place(account=target.account, region=target.region)
        client = self._client(target)
        wanted = {"Filters": [{"Name": "instance-id", "Values": [target.resource_id]}]}
        asked_at = self._clock()
        answer = ask(client, LOOK, wanted, place=place)
        skew = clock_skew_s(answer, asked_at)
        found = [one for group in answer["Reservations"] for one in group["Instances"]]
        if len(found) != 1:
            return Live(
                state="", skew=None if skew is None else timedelta(seconds=skew)
            )
        protection = ask(
            client,
            PROTECTION,
            {"InstanceId": target.resource_id, "Attribute": "disableApiTermination"},
            place=place,
        )
        return _live(found[0], protection, skew)

    def act(self, verb: str, target: Target) -> None:
        """Make the one call.

        Raises:
            SourceUnavailableError: AWS refused it or did not answer.
        """
        call = VERBS[verb]
        place = Place(account=target.account, region=target.region)
        ask(
            self._client(target),
            call,
            {"InstanceIds": [target.resource_id]},
            place=place,
        )

    def _client(self, target: Target) -> Any:
        return self._clients.client("ec2", account=target.account, region=target.region)


def _live(
    instance: Mapping[str, Any], protection: Mapping[str, Any], skew: float | None
) -> Live:
    started = instance.get("LaunchTime")
    return Live(
        state=str(instance.get("State", {}).get("Name", "")),
        tags=tuple(
            sorted(
                (str(tag["Key"]), str(tag["Value"])) for tag in instance.get("Tags", [])
            )
        ),
        started_at=started.astimezone(UTC) if started else None,
        is_protected=protection["DisableApiTermination"].get("Value"),
        skew=None if skew is None else timedelta(seconds=skew),
    )
