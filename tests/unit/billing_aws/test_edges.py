"""Sessions, failures, prices of requests and signals, without any AWS."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError

from billing.aws.billable import Tally, billable_units
from billing.aws.calls import Call, ask, pages
from billing.aws.failures import cause_of, describe, unavailable
from billing.aws.metric_series import LISTED, combine, ec2_series, listed_series
from billing.aws.session import CONFIG, clock_skew_s
from billing.core.money import Money
from billing.ports import IncompleteAnswerError
from tests.builders import NOW, usd

CALL = Call(
    source="test",
    method="read",
    permission="test:Read",
    required=("Rows",),
    page_in="Token",
    page_out="Token",
)


class Pages:
    """A client that answers from a list, for ever from its last entry."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def read(self, **params: Any) -> dict[str, Any]:
        self.asked.append(params)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def client_error(code: str, message: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Op")


def test_calls_have_time_limits_and_at_most_five_tries() -> None:
    config: Any = CONFIG

    assert (config.connect_timeout, config.read_timeout) == (5, 30)
    assert config.retries == {"mode": "standard", "total_max_attempts": 5}


def test_a_missing_member_is_asked_for_once_more() -> None:
    client = Pages({}, {"Rows": [1]})

    assert ask(client, CALL, {}) == {"Rows": [1]}


def test_an_endless_token_stops_at_the_page_cap() -> None:
    client = Pages(*({"Rows": [], "Token": str(n)} for n in range(20)))

    with pytest.raises(IncompleteAnswerError, match="more than 4 pages"):
        list(pages(client, CALL, {}, pages_max=4))

    assert len(client.asked) == 4


def test_a_repeated_token_is_refused() -> None:
    client = Pages({"Rows": [], "Token": "a"})

    with pytest.raises(IncompleteAnswerError, match="twice"):
        list(pages(client, CALL, {}))


def test_an_empty_token_ends_the_pages() -> None:
    assert len(list(pages(Pages({"Rows": [], "Token": ""}), CALL, {}))) == 1


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (client_error("ThrottlingException", "slow"), "ThrottlingException"),
        (ReadTimeoutError(endpoint_url="http://127.0.0.1"), "Timeout"),
        (NoCredentialsError(), "NoCredentials"),
    ],
)
def test_causes_have_aws_names_or_ours(error: Exception, cause: str) -> None:
    assert cause_of(error) == cause
    assert unavailable("s", "test:Read", error).cause == cause


def test_a_long_message_of_aws_is_cut() -> None:
    assert len(describe(client_error("X", "y" * 5_000))) < 400


def test_expired_credentials_say_what_to_do() -> None:
    assert "renew" in describe(client_error("ExpiredToken", "token AbCdEf"))


def test_the_skew_is_read_from_the_date_header() -> None:
    header = {"date": "Mon, 30 Nov 2026 09:01:30 GMT"}
    answer = {"ResponseMetadata": {"HTTPHeaders": header}}

    assert clock_skew_s(answer, NOW) == 90
    assert clock_skew_s({}, NOW) is None


def test_metric_requests_are_priced_by_their_units() -> None:
    charged: list[tuple[str, Money]] = []
    tally = Tally(lambda what, cost: charged.append((what, cost)))

    with billable_units(500):
        tally._before_send("before-send.cloudwatch.GetMetricData")
    tally._before_send("before-send.cloudwatch.DescribeAlarms")

    assert charged == [("cloudwatch:GetMetricData", usd("0.005"))]
    assert tally.spent("cloudwatch") == (1, usd("0.005"))


def test_metrics_of_other_instances_are_left_out() -> None:
    listed = LISTED[0]
    found = [
        {
            "Dimensions": [
                {"Name": "InstanceId", "Value": one},
                {"Name": "index", "Value": "0"},
            ]
        }
        for one in ("i-1", "i-2")
    ] + [{"Dimensions": [{"Name": "host", "Value": "ip-10-0-0-7"}]}]

    series = listed_series(listed, found, frozenset({"i-1"}))

    assert [(one.resource_id, one.part) for one in series] == [("i-1", "0")]


def test_a_direction_without_data_leaves_the_signal_unknown() -> None:
    network_in = next(one for one in ec2_series("i-1") if one.name == "NetworkIn")

    assert combine([(network_in, {NOW: 300.0})]) == []


def test_points_are_in_time_order() -> None:
    cpu = ec2_series("i-1")[0]
    later = NOW + timedelta(minutes=5)

    (series,) = combine([(cpu, {later: 2.0, NOW: 1.0})])

    assert series.points == ((NOW, 1.0), (later, 2.0))
