"""Ways that somebody else runs: managed services, other counts, servers of one's own.

They stand apart from the cheaper ways, since some cost more and give something for it.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from billing.core.break_even import Servers, break_even
from billing.core.estimate_request import number
from billing.core.estimate_scaling import Scaling
from billing.core.estimate_ways import Alternative, Basis, is_cheaper
from billing.core.gpus import bare_type
from billing.core.money import Rate

#: What a managed service costs over the same hours on EC2, in percent: quoted at 20 to
#: 40 by people who compared (a price of the ``ml.`` type, where known, replaces it).
MANAGED_PCT = 30
MANAGED_RANGE = "20-40 %"
#: A count whose run would be this much slower is of no use to anybody.
SLOWER_MOST = 4


def managed_way(basis: Basis, rate: Rate | None) -> Alternative | None:
    """Return the run on SageMaker or HyperPod; ``rate``: of the ml. type, if known."""
    request = basis.request
    if bare_type(request.instance_type) != request.instance_type:
        return None
    own = basis.on_demand
    if rate is None and own is None:
        return None
    factor = basis.overheads.of(request).expected
    if rate is None and own is not None:
        rate = own.scaled(Fraction(100 + MANAGED_PCT, 100))
        source = f"at about {MANAGED_PCT} % over EC2 (rule of thumb, {MANAGED_RANGE})"
    else:
        source = f"at {rate}"
    assert rate is not None
    cost = basis.cost_of(rate, request.count, factor)
    more = cost - basis.expected
    change = f"{more} more" if more.nanos > 0 else f"{-more} less"
    why = (
        f"{change}, {source}; nodes that fail are replaced and a job's capacity ends"
        " with it"
    )
    return Alternative(what="sagemaker or hyperpod", expected=cost, why=why)


def count_ways(basis: Basis, scaling: Scaling | None) -> Iterator[Alternative]:
    """Yield other counts as measured: fewer that cost less, more that are done sooner."""
    if scaling is None:
        return
    request = basis.request
    mine = scaling.hours(request.count)
    factor = basis.overheads.of(request).expected
    names = ", ".join(sorted({run.job for run in scaling.runs})[:5])
    for count in scaling.counts_near(request.count):
        stretch = scaling.hours(count) / mine
        hours = request.hours * stretch
        run = replace(basis, request=replace(request, hours=hours))
        cost = run.cost_of(basis.rate, count, factor)
        is_sooner = stretch < 1
        if stretch > SLOWER_MOST or not (is_sooner or is_cheaper(cost, basis.expected)):
            continue
        more = cost - basis.expected
        change = f"{more} more" if more.nanos > 0 else f"{-more} less"
        why = (
            f"{change}, {float(hours):.4g} h instead of {number(request.hours)} h,"
            f" {round(scaling.efficiency(count) * 100)} % scaling efficiency,"
            f" measured on {names}"
        )
        yield Alternative(what=f"{count} instances", expected=cost, why=why)


def owned_way(basis: Basis, servers: Servers) -> Alternative | None:
    """Return buying the servers: when it has paid, with everything that was assumed."""
    rate = basis.on_demand
    if rate is None:
        return None
    request = basis.request
    found = break_even(servers, rate, request.count)
    month = (
        f"has paid after month {found.month}"
        if found.month is not None
        else "does not pay within 10 years"
    )
    why = (
        f"{month} if used {round(servers.utilisation * 100)} % of the time:"
        f" {found.capital} at once and {found.owned_per_month} a month against"
        f" {found.rented_per_month} rented (power {number(servers.power_kw)} kW each"
        f" x {number(servers.cooling)} for cooling at {servers.per_kwh}/kWh,"
        f" staff {servers.staff_per_month} a month,"
        f" {round(servers.failures * 100)} % of the price a year replaced)"
    )
    return Alternative(what="on-premises", expected=None, why=why)
