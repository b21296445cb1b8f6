"""AWS Batch and SageMaker under a grant, and the Service Control Policy."""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from billing.core.gpus import gpu_types_known
from deploy.launchers.aws_launchers import create_training_job, submit_batch_job
from deploy.launchers.gpucost_client import Answer, Client, Plan, RefusedError
from tests.project import ROOT

#: The payload says ``{"sub": "apr-1f6d03a9c7"}``.
GRANT = "e30.eyJzdWIiOiAiYXByLTFmNmQwM2E5YzcifQ.x"
GRANT_ID = "apr-1f6d03a9c7"
SCP = json.loads((ROOT / "deploy" / "launchers" / "scp.json").read_text("utf-8"))


@dataclass(frozen=True)
class Judge(Client):
    """Answers for gpucost, and remembers what it was asked."""

    covers: bool = True
    asked: list[Plan] = field(default_factory=list)

    def may_start(self, plan: Plan, grant: str) -> Answer:
        assert grant == GRANT
        self.asked.append(plan)
        return Answer(covered=self.covers, reason="" if self.covers else "too large")


def _judge(*, covers: bool = True) -> Judge:
    return Judge(url="", token="", covers=covers)


def _aws(service: str) -> Any:
    return boto3.client(
        service, region_name="us-east-1", aws_access_key_id="x",
        aws_secret_access_key="x",
    )  # fmt: skip


def _batch(**values: Any) -> dict[str, Any]:
    return {
        "jobName": "llm-1", "jobQueue": "gpu", "jobDefinition": "train:3",
        "timeout": {"attemptDurationSeconds": 7200},
    } | values  # fmt: skip


def test_a_batch_job_is_checked_as_it_is_submitted_and_tagged() -> None:
    batch, judge = _aws("batch"), _judge()
    call = _batch(nodeOverrides={"numNodes": 4}, tags={"job-id": "job-9"})
    with Stubber(batch) as stub:
        tags = {"job-id": "job-9", "gpucost-grant-id": GRANT_ID}
        sent = call | {"tags": tags, "propagateTags": True}
        stub.add_response("submit_job", {"jobName": "llm-1", "jobId": "j"}, sent)
        done = submit_batch_job(
            batch, judge, GRANT, instance_type="p5.48xlarge", call=call
        )

    assert done["jobId"] == "j"
    assert judge.asked == [Plan("job-9", "p5.48xlarge", 4, 2.0)]


def test_every_job_of_an_array_counts() -> None:
    judge = _judge(covers=False)
    call = _batch(arrayProperties={"size": 50})

    with pytest.raises(RefusedError, match="too large"):
        submit_batch_job(None, judge, GRANT, instance_type="g5.xlarge", call=call)

    assert judge.asked[0].count == 50


def test_a_batch_job_without_a_timeout_is_not_submitted() -> None:
    with pytest.raises(RefusedError, match="timeout"):
        submit_batch_job(
            None, _judge(), GRANT, instance_type="g5.xlarge", call=_batch(timeout={})
        )


def _training(**resources: Any) -> dict[str, Any]:
    return {
        "TrainingJobName": "llm-1",
        "AlgorithmSpecification": {"TrainingImage": "i", "TrainingInputMode": "File"},
        "RoleArn": "arn:aws:iam::123456789012:role/training",
        "OutputDataConfig": {"S3OutputPath": "s3://b/o"},
        "ResourceConfig": {
            "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "VolumeSizeInGB": 9,
        } | resources,
        "StoppingCondition": {"MaxRuntimeInSeconds": 5400},
    }  # fmt: skip


def test_a_training_job_is_checked_as_it_is_started_and_tagged() -> None:
    sagemaker, judge = _aws("sagemaker"), _judge()
    call = _training() | {"EnableManagedSpotTraining": True}
    with Stubber(sagemaker) as stub:
        tags = [{"Key": "gpucost-grant-id", "Value": GRANT_ID}]
        stub.add_response(
            "create_training_job",
            {"TrainingJobArn": "arn:aws:sagemaker:us-east-1:1:training-job/llm-1"},
            call | {"Tags": tags, "TrainingJobName": ANY},
        )
        create_training_job(sagemaker, judge, GRANT, call=call)

    assert judge.asked == [Plan("llm-1", "ml.p5.48xlarge", 2, 1.5, "spot")]


def test_a_training_job_that_is_not_covered_or_not_one_type_is_not_started() -> None:
    with pytest.raises(RefusedError, match="too large"):
        create_training_job(None, _judge(covers=False), GRANT, call=_training())
    groups = _training(InstanceType="", InstanceGroups=[{}])
    with pytest.raises(RefusedError, match="one instance type"):
        create_training_job(None, _judge(), GRANT, call=groups)


# -------------------------------------------------------------- service control policy


def _statement(sid: str) -> dict[str, Any]:
    (found,) = [one for one in SCP["Statement"] if one["Sid"] == sid]
    statement: dict[str, Any] = found
    return statement


def test_the_policy_only_denies_and_fits_into_one() -> None:
    assert {one["Effect"] for one in SCP["Statement"]} == {"Deny"}
    assert all("Condition" in one for one in SCP["Statement"])
    # https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
    assert len(json.dumps(SCP)) < 5_120


def test_every_known_accelerator_needs_a_grant_and_no_other_type_does() -> None:
    condition = _statement("AcceleratorsNeedAGrant")["Condition"]
    patterns = condition["StringLike"]["ec2:InstanceType"]
    free = ["m7i.large", "c7g.xlarge", "r6i.2xlarge", "t3.micro", "hpc7a.96xlarge"]

    def is_held(name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, one) for one in patterns)

    plain = [one for one in gpu_types_known() if not one.startswith("ml.")]
    assert [one for one in plain if not is_held(one)] == []
    assert [one for one in free if is_held(one)] == []
    assert condition["Null"] == {"aws:RequestTag/gpucost-grant-id": "true"}


def test_sagemaker_s_accelerators_need_a_grant() -> None:
    statement = _statement("SageMakerAcceleratorsNeedAGrant")
    patterns = statement["Condition"]["ForAnyValue:StringLike"][
        "sagemaker:InstanceTypes"
    ]
    managed = [one for one in gpu_types_known() if one.startswith("ml.")]

    assert statement["Action"] == "sagemaker:Create*"
    missed = [
        one for one in managed if not any(fnmatch.fnmatchcase(one, p) for p in patterns)
    ]
    assert missed == []


def test_the_tag_of_a_grant_cannot_be_added_or_taken_later() -> None:
    keys = ["gpucost-grant-id", "gpucost-accelerators"]
    for sid in ("GrantTagsComeWithTheLaunchAlone", "GrantTagsStay"):
        condition = _statement(sid)["Condition"]
        assert condition["ForAnyValue:StringEquals"] == {"aws:TagKeys": keys}
    later = _statement("GrantTagsComeWithTheLaunchAlone")["Condition"]["Null"]
    assert later == {"ec2:CreateAction": "true"}
