"""The IAM actions that adapters list are those they really call."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from billing.aws import permissions
from billing.aws.anomalies import CostAnomalyDetection
from billing.aws.commitments import CostExplorerCommitments
from billing.aws.events import SqsEventQueue
from billing.aws.export_files import S3ExportFiles
from billing.aws.identity import (
    read_caller,
    try_payer_permissions,
    try_permissions,
)
from billing.aws.inventory import Ec2FleetSource
from billing.aws.metrics import CloudWatchMetricSource
from billing.aws.objects import S3ObjectSource
from billing.aws.organizations import read_organisation
from billing.aws.prices import AwsPriceSource
from billing.aws.resources import AwsFleetSource, AwsResources
from billing.core.periods import Period
from billing.core.prices import PriceKey, Purchase
from deploy.sandbox.aws.builders import cost
from deploy.sandbox.aws.world import Account, CapacityReservationSeed, ObjectSeed
from deploy.sandbox.aws.world_services import (
    ClusterSeed,
    EndpointSeed,
    Services,
    StudioAppSeed,
    TrainingJobSeed,
)
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws, on

#: Operations whose IAM action has another name.
ACTIONS = {
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListParts": "s3:ListMultipartUploadParts",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
}
#: What the test itself asks.
OURS = {"s3:CreateMultipartUpload", "sqs:CreateQueue", "sqs:SendMessage"}
P5 = PriceKey(region="us-east-1", product="p5.48xlarge")


def read_objects(aws: Aws, source: S3ObjectSource) -> None:
    list(source.objects("models", ""))
    source.tags("models", ["a"])
    source.region("models")
    aws.sandbox.client("s3").create_multipart_upload(Bucket="models", Key="b")
    source.uploads("models", "")


def call_everything(aws: Aws) -> None:
    clients = aws.clients()
    bill = aws.bill()
    bill.controls(on("2026-04-01"), on("2026-04-02"))
    list(bill.charges(PAYER, on("2026-04-01"), on("2026-04-02")))
    scopes = [(PAYER, "us-east-1"), (MEMBER, "us-east-1")]
    instances = Ec2FleetSource(clients, scopes, job_tag_keys=["job-id"])
    others = AwsResources(clients, scopes, job_tag_keys=["job-id"])
    AwsFleetSource(instances, others).observe(NOW)
    spot = replace(P5, purchase=Purchase.SPOT)
    plan = replace(P5, purchase=Purchase.SAVINGS_PLAN)
    AwsPriceSource(clients).prices([P5, spot, plan], NOW)
    window = Period(NOW - timedelta(hours=1), NOW)
    CloudWatchMetricSource(clients).series([(PAYER, "us-east-1", "i-1")], window)
    CostAnomalyDetection(clients).anomalies(on("2026-04-01"), on("2026-04-10"))
    commitments = CostExplorerCommitments(clients, clock=lambda: NOW)
    commitments.facts(["p5"], on("2026-04-01"), on("2026-04-10"))
    commitments.plans()
    read_objects(aws, S3ObjectSource(clients))
    exports = S3ExportFiles(clients, "s3://models", spool=Path())
    exports.read(exports.files()[0])
    sqs = aws.sandbox.client("sqs")
    url = sqs.create_queue(QueueName="gpucost-events")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}")
    queue = SqsEventQueue(clients, url, wait_s=0)
    queue.delete(queue.receive())
    queue.state()
    read_caller(clients, NOW)
    read_organisation(clients)
    try_permissions(clients, PAYER, "us-east-1")
    try_payer_permissions(clients)


def test_listed_permissions_are_the_calls_that_are_made(aws: Aws) -> None:
    sandbox = aws.serve(
        accounts=[Account(id=MEMBER)],
        costs=[cost("2026-04-01", "5")],
        objects=[ObjectSeed(bucket="models", key="a", modified_at=NOW, text="x")],
        capacity_reservations=[
            CapacityReservationSeed(
                id="cr-00000000000000001",
                instance_type="p5.48xlarge",
                started_at=NOW,
                type="capacity-block",
            )
        ],
        services=Services(
            training_jobs=[TrainingJobSeed(name="a", created_at=NOW, started_at=NOW)],
            clusters=[ClusterSeed(name="a", created_at=NOW)],
            endpoints=[EndpointSeed(name="a", created_at=NOW)],
            studio_apps=[StudioAppSeed(name="a", created_at=NOW, user="mia")],
        ),
    )

    call_everything(aws)

    called = {ACTIONS.get(name, name) for name in sandbox.requests.counts()} - OURS
    assert called == set(permissions.READ_PERMISSIONS)


def test_every_adapter_lists_its_permissions() -> None:
    assert all(permissions.PERMISSIONS_BY_ADAPTER.values())
