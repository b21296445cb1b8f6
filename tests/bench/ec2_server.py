"""An EC2 on loopback that answers with ready bytes: a fleet of tagged GPU instances.

``python -m tests.bench.ec2_server INSTANCES`` prints its port. The instances have no
volumes beside their root device, whose description is empty.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from urllib.parse import parse_qs

from tests.bench.loopback import ReadyAnswers, run

PAGE = 1_000
_NAMESPACE = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'
_TAGS = (
    ("job-id", "job-{job}"), ("team", "research"), ("owner", "ann@example.com"),
    ("env", "dev"), ("Name", "node-{n}"),
)  # fmt: skip
_INSTANCE = """
<item><reservationId>r-{n:017x}</reservationId><ownerId>123456789012</ownerId>
<groupSet/><instancesSet><item><instanceId>i-{n:017x}</instanceId>
<imageId>ami-0123456789abcdef0</imageId>
<instanceState><code>16</code><name>running</name></instanceState>
<privateDnsName>ip-10-0-0-1.ec2.internal</privateDnsName><dnsName/><reason/>
<keyName>training</keyName><amiLaunchIndex>0</amiLaunchIndex><productCodes/>
<instanceType>p5.48xlarge</instanceType>
<launchTime>2026-11-{day:02d}T08:00:00.000Z</launchTime>
<placement><availabilityZone>us-east-1a</availabilityZone><groupName/>
<tenancy>default</tenancy></placement><monitoring><state>disabled</state></monitoring>
<subnetId>subnet-0123456789abcdef0</subnetId><vpcId>vpc-0123456789abcdef0</vpcId>
<privateIpAddress>10.0.{high}.{low}</privateIpAddress>
<sourceDestCheck>true</sourceDestCheck>
<groupSet><item><groupId>sg-0123456789abcdef0</groupId><groupName>gpu</groupName></item>
</groupSet><architecture>x86_64</architecture><rootDeviceType>ebs</rootDeviceType>
<rootDeviceName>/dev/sda1</rootDeviceName><blockDeviceMapping><item>
<deviceName>/dev/sda1</deviceName><ebs><volumeId>vol-{n:017x}</volumeId>
<status>attached</status><attachTime>2026-11-20T08:00:01.000Z</attachTime>
<deleteOnTermination>true</deleteOnTermination></ebs></item></blockDeviceMapping>
<virtualizationType>hvm</virtualizationType><clientToken/><tagSet>{tags}</tagSet>
<hypervisor>xen</hypervisor><networkInterfaceSet><item>
<networkInterfaceId>eni-{n:017x}</networkInterfaceId>
<subnetId>subnet-0123456789abcdef0</subnetId><vpcId>vpc-0123456789abcdef0</vpcId>
<ownerId>123456789012</ownerId><status>in-use</status>
<macAddress>02:00:00:00:00:01</macAddress>
<privateIpAddress>10.0.{high}.{low}</privateIpAddress>
<sourceDestCheck>true</sourceDestCheck><groupSet><item>
<groupId>sg-0123456789abcdef0</groupId><groupName>gpu</groupName></item></groupSet>
<attachment><attachmentId>eni-attach-{n:017x}</attachmentId>
<deviceIndex>0</deviceIndex><status>attached</status>
<attachTime>2026-11-20T08:00:00.000Z</attachTime>
<deleteOnTermination>true</deleteOnTermination></attachment>
</item></networkInterfaceSet><ebsOptimized>true</ebsOptimized>
<cpuOptions><coreCount>96</coreCount><threadsPerCore>2</threadsPerCore></cpuOptions>
<metadataOptions><state>applied</state><httpTokens>required</httpTokens>
<httpEndpoint>enabled</httpEndpoint></metadataOptions>
<platformDetails>Linux/UNIX</platformDetails></item></instancesSet></item>"""


def instance_item(number: int) -> str:
    """Write one reservation of one instance."""
    tags = "".join(
        f"<item><key>{key}</key><value>{value}</value></item>" for key, value in _TAGS
    ).format(n=number, job=number // 8)
    return _INSTANCE.format(
        n=number, day=1 + number % 28, high=number // 250, low=number % 250, tags=tags
    )


def tag_item(number: int) -> str:
    """Write one instance's job tag as DescribeTags lists it."""
    return (
        f"<item><resourceId>i-{number:017x}</resourceId>"
        "<resourceType>instance</resourceType><key>job-id</key>"
        f"<value>job-{number // 8}</value></item>"
    )


def pages_of(
    operation: str, members: str, item: Callable[[int], str], count: int
) -> list[bytes]:
    """Write every page of an operation's answer."""
    pages: list[bytes] = []
    for start in range(0, max(count, 1), PAGE):
        items = "".join(item(n) for n in range(start, min(start + PAGE, count)))
        more = start + PAGE < count
        token = f"<nextToken>{len(pages) + 1}</nextToken>" if more else ""
        pages.append(
            f'<?xml version="1.0" encoding="UTF-8"?><{operation}Response {_NAMESPACE}>'
            f"<requestId>r</requestId><{members}>{items}</{members}>{token}"
            f"</{operation}Response>".encode()
        )
    return pages


class Handler(ReadyAnswers):
    """Answers three operations, whatever their filters."""

    pages: dict[str, list[bytes]]

    def answer(self) -> None:
        asked = parse_qs(self.body().decode())
        key = asked["Action"][0]
        if "volume" in asked.get("Filter.1.Value.1", ()):
            key = "DescribeTags of volumes"
        token = int(asked.get("NextToken", ["0"])[0])
        self.send(self.pages[key][token], "text/xml;charset=UTF-8")


def main() -> None:
    count = int(sys.argv[1])
    Handler.pages = {
        "DescribeInstances": pages_of(
            "DescribeInstances", "reservationSet", instance_item, count
        ),
        "DescribeTags": pages_of("DescribeTags", "tagSet", tag_item, count),
        "DescribeTags of volumes": pages_of("DescribeTags", "tagSet", tag_item, 0),
        "DescribeVolumes": pages_of("DescribeVolumes", "volumeSet", tag_item, 0),
    }
    run(Handler)


if __name__ == "__main__":
    main()
