"""Hostlists, friendly and hostile."""

from __future__ import annotations

import pytest

from billing.core.hostlist import expand_hosts


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("gpu1", ["gpu1"]),
        ("gpu[1-2]", ["gpu1", "gpu2"]),
        ("gpu[001-003,007],trn-2", ["gpu001", "gpu002", "gpu003", "gpu007", "trn-2"]),
        ("gpu[08-11]", ["gpu08", "gpu09", "gpu10", "gpu11"]),
        ("rack[1-2]n[01-02]", ["rack1n01", "rack1n02", "rack2n01", "rack2n02"]),
        ("a[1]b,c.example.com", ["a1b", "c.example.com"]),
        (" ip-10-0-1-[2-3] ", ["ip-10-0-1-2", "ip-10-0-1-3"]),
    ],
)
def test_a_hostlist_is_written_out_in_its_order(text: str, hosts: list[str]) -> None:
    assert expand_hosts(text) == tuple(hosts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpu[",
        "gpu]1[",
        "gpu[1",
        "gpu[[1]]",
        "gpu[]",
        "gpu[a-b]",
        "gpu[3-1]",
        "gpu[1-]",
        "gpu 1",
        "gpu;rm",
        "gpu1,,gpu2",
        "gpu1,gpu1",
        "a[1]b[1]c[1]d[1]e[1]",
        "gpu[0-999999999]",
        "a[1-9999]b[1-9999]c[1-9999]",
        "gpu[1-6000],gpu[6001-12000]",
        "gpu[99999999999999999999]",
    ],
)
def test_what_is_no_hostlist_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|bracket|number|range"):
        expand_hosts(text)
