"""Dated snapshot of list prices, for use without a connection: plain data.

On demand, Linux, shared tenancy, US dollars per hour as decimal text, by region and
instance type (accelerator types only). China is left out: it is priced in CNY.

Sources:
    us-east-1 and GovCloud: the generated price tables of Karpenter's AWS provider
    (https://github.com/aws/karpenter-provider-aws, Apache-2.0, commit 1d927085dd81).
    us-west-2 and eu-west-1: AWS's offer file of 2026-09-10 as transcribed in
    https://github.com/scttfrdmn/substrate (Apache-2.0).
    Volumes: https://aws.amazon.com/ebs/pricing/, US East (N. Virginia).
    File systems: https://aws.amazon.com/fsx/lustre/pricing/, US East (N. Virginia).
    NAT gateways: https://aws.amazon.com/vpc/pricing/, NAT gateway.
"""

from __future__ import annotations

from typing import Final

#: Region -> when the prices of the region were published (RFC 3339).
PUBLISHED: Final[dict[str, str]] = {
    "us-east-1": "2026-07-20T13:44:30Z",
    "us-gov-east-1": "2026-07-20T13:44:38Z",
    "us-gov-west-1": "2026-07-20T13:44:38Z",
    "us-west-2": "2026-09-10T19:55:14Z",
    "eu-west-1": "2026-09-10T19:55:14Z",
}

#: Region -> instance type -> dollars per hour.
INSTANCES: Final[dict[str, dict[str, str]]] = {
    "us-east-1": {
        "dl1.24xlarge": "13.10904",
        "g3.4xlarge": "1.14",
        "g3.8xlarge": "2.28",
        "g3.16xlarge": "4.56",
        "g3s.xlarge": "0.75",
        "g4ad.xlarge": "0.37853",
        "g4ad.2xlarge": "0.54117",
        "g4ad.4xlarge": "0.867",
        "g4ad.8xlarge": "1.734",
        "g4ad.16xlarge": "3.468",
        "g4dn.xlarge": "0.526",
        "g4dn.2xlarge": "0.752",
        "g4dn.4xlarge": "1.204",
        "g4dn.8xlarge": "2.176",
        "g4dn.12xlarge": "3.912",
        "g4dn.16xlarge": "4.352",
        "g4dn.metal": "7.824",
        "g5.xlarge": "1.006",
        "g5.2xlarge": "1.212",
        "g5.4xlarge": "1.624",
        "g5.8xlarge": "2.448",
        "g5.12xlarge": "5.672",
        "g5.16xlarge": "4.096",
        "g5.24xlarge": "8.144",
        "g5.48xlarge": "16.288",
        "g5g.xlarge": "0.42",
        "g5g.2xlarge": "0.556",
        "g5g.4xlarge": "0.828",
        "g5g.8xlarge": "1.372",
        "g5g.16xlarge": "2.744",
        "g5g.metal": "2.744",
        "g6.xlarge": "0.8048",
        "g6.2xlarge": "0.9776",
        "g6.4xlarge": "1.3232",
        "g6.8xlarge": "2.0144",
        "g6.12xlarge": "4.6016",
        "g6.16xlarge": "3.3968",
        "g6.24xlarge": "6.6752",
        "g6.48xlarge": "13.3504",
        "g6e.xlarge": "1.861",
        "g6e.2xlarge": "2.24208",
        "g6e.4xlarge": "3.00424",
        "g6e.8xlarge": "4.52856",
        "g6e.12xlarge": "10.49264",
        "g6e.16xlarge": "7.57719",
        "g6e.24xlarge": "15.06559",
        "g6e.48xlarge": "30.13118",
        "g6f.large": "0.202",
        "g6f.xlarge": "0.2375",
        "g6f.2xlarge": "0.475",
        "g6f.4xlarge": "0.95",
        "g7.2xlarge": "2.52",
        "g7.4xlarge": "3.04208",
        "g7.8xlarge": "4.08624",
        "g7.12xlarge": "7.12832",
        "g7.24xlarge": "14.25664",
        "g7.48xlarge": "28.51328",
        "g7e.2xlarge": "3.36312",
        "g7e.4xlarge": "3.99816",
        "g7e.8xlarge": "5.26824",
        "g7e.12xlarge": "8.28608",
        "g7e.24xlarge": "16.57216",
        "g7e.48xlarge": "33.14432",
        "gr6.4xlarge": "1.5392",
        "gr6.8xlarge": "2.4464",
        "gr6f.4xlarge": "1.066",
        "inf1.xlarge": "0.228",
        "inf1.2xlarge": "0.362",
        "inf1.6xlarge": "1.18",
        "inf1.24xlarge": "4.721",
        "inf2.xlarge": "0.7582",
        "inf2.8xlarge": "1.96786",
        "inf2.24xlarge": "6.49063",
        "inf2.48xlarge": "12.98127",
        "p2.xlarge": "0.90",
        "p2.8xlarge": "7.20",
        "p2.16xlarge": "14.40",
        "p3.2xlarge": "3.06",
        "p3.8xlarge": "12.24",
        "p3.16xlarge": "24.48",
        "p3dn.24xlarge": "31.212",
        "p4d.24xlarge": "21.957642",
        "p4de.24xlarge": "27.44705",
        "p5.4xlarge": "6.88",
        "p5.48xlarge": "55.04",
        "p5en.48xlarge": "63.296",
        "p6-b200.48xlarge": "113.9328",
        "p6-b300.48xlarge": "142.416",
        "trn1.2xlarge": "1.34375",
        "trn1.32xlarge": "21.50",
        "trn1n.32xlarge": "24.78",
    },
    "us-gov-east-1": {
        "g4dn.xlarge": "0.663",
        "g4dn.2xlarge": "0.948",
        "g4dn.4xlarge": "1.518",
        "g4dn.8xlarge": "2.743",
        "g4dn.12xlarge": "4.931",
        "g4dn.16xlarge": "5.486",
        "g6.xlarge": "1.0144",
        "g6.2xlarge": "1.2322",
        "g6.4xlarge": "1.66781",
        "g6.8xlarge": "2.53903",
        "g6.12xlarge": "5.80003",
        "g6.16xlarge": "4.28145",
        "g6.24xlarge": "8.41367",
        "g6.48xlarge": "16.82734",
        "gr6.4xlarge": "1.9401",
        "gr6.8xlarge": "3.08359",
        "inf1.xlarge": "0.288",
        "inf1.2xlarge": "0.456",
        "inf1.6xlarge": "1.488",
        "inf1.24xlarge": "5.953",
        "p3dn.24xlarge": "37.454",
        "p6-b200.48xlarge": "136.71936",
        "p6-b300.48xlarge": "170.90",
    },
    "us-gov-west-1": {
        "g3.4xlarge": "1.32",
        "g3.8xlarge": "2.64",
        "g3.16xlarge": "5.28",
        "g3s.xlarge": "0.868",
        "g4dn.xlarge": "0.663",
        "g4dn.2xlarge": "0.948",
        "g4dn.4xlarge": "1.518",
        "g4dn.8xlarge": "2.743",
        "g4dn.12xlarge": "4.931",
        "g4dn.16xlarge": "5.486",
        "g4dn.metal": "9.862",
        "g6.xlarge": "1.0144",
        "g6.2xlarge": "1.2322",
        "g6.4xlarge": "1.66781",
        "g6.8xlarge": "2.53903",
        "g6.12xlarge": "5.80003",
        "g6.16xlarge": "4.28145",
        "g6.24xlarge": "8.41367",
        "g6.48xlarge": "16.82734",
        "gr6.4xlarge": "1.9401",
        "gr6.8xlarge": "3.08359",
        "inf1.xlarge": "0.288",
        "inf1.2xlarge": "0.456",
        "inf1.6xlarge": "1.488",
        "inf1.24xlarge": "5.953",
        "p2.xlarge": "1.08",
        "p2.8xlarge": "8.64",
        "p2.16xlarge": "17.28",
        "p3.2xlarge": "3.672",
        "p3.8xlarge": "14.688",
        "p3.16xlarge": "29.376",
        "p3dn.24xlarge": "37.454",
        "p4d.24xlarge": "26.3511",
        "p5.4xlarge": "8.256",
        "p5.48xlarge": "66.048",
        "p5en.48xlarge": "75.9552",
        "p6-b200.48xlarge": "136.71936",
    },
    "us-west-2": {
        "g4dn.xlarge": "0.526",
        "g5.2xlarge": "1.212",
        "g6.xlarge": "0.8048",
        "inf2.xlarge": "0.7582",
        "p4d.24xlarge": "21.95764",
        "p5.48xlarge": "55.04",
        "trn1.32xlarge": "21.50",
    },
    "eu-west-1": {
        "g4dn.xlarge": "0.587",
        "g5.2xlarge": "1.35296",
        "inf2.xlarge": "0.94775",
        "p4d.24xlarge": "23.71569",
    },
}

#: When the volume prices were last compared with the page above.
VOLUMES_PUBLISHED: Final = "2026-09-29T00:00:00Z"

#: Region -> product -> dollars per month: one GiB, one provisioned IOPS beyond what is
#: included, or one MiB/s beyond what is included (io2: the first tier, to 32,000 IOPS).
VOLUMES: Final[dict[str, dict[str, str]]] = {
    "us-east-1": {
        "ebs:gp3": "0.08",
        "ebs:gp3:iops": "0.005",
        "ebs:gp3:throughput": "0.04",
        "ebs:gp2": "0.10",
        "ebs:io1": "0.125",
        "ebs:io1:iops": "0.065",
        "ebs:io2": "0.125",
        "ebs:io2:iops": "0.065",
        "ebs:st1": "0.045",
        "ebs:sc1": "0.015",
        "fsx:lustre:persistent_2:ssd:125": "0.145",
        "fsx:lustre:scratch_1:ssd": "0.140",
        "fsx:lustre:scratch_2:ssd": "0.140",
    },
}

NAT_GATEWAY: Final = "nat-gateway"
NAT_GATEWAYS_PUBLISHED: Final = "2026-03-01T00:00:00Z"

#: Region -> dollars for an hour of one NAT gateway, without what it carries.
NAT_GATEWAYS: Final[dict[str, str]] = {
    "us-east-1": "0.045",
    "us-east-2": "0.045",
    "us-west-2": "0.045",
}
