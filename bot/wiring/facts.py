"""What is known now, asked over one application: idle GPUs, commitments, checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from bot.use_cases.known_facts import Known
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys
from policies.core.kinds.checkpoint_retention import CheckpointRetentionPolicy
from policies.core.locations import Location, parse_location


def known_now(application: Application) -> Known:
    """Return what asks for facts, at this instant."""
    return Known(
        store=application.store,
        sources=application.aws.fact_sources,
        keys=tag_keys(application.settings),
        own=own_prices(application.settings),
        now=application.now(),
    )


def checkpoint_locations(
    application: Application, named: Sequence[str] = ()
) -> tuple[Location, ...]:
    """Return the named locations, else those of the retention policies."""
    if named:
        return tuple(parse_location(one) for one in named)
    found = {
        policy.location.text: policy.location
        for policy in application.load_policies(None)
        if isinstance(policy, CheckpointRetentionPolicy)
    }
    return tuple(found[text] for text in sorted(found))
