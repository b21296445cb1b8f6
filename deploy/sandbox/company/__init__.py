"""A small company that trains on GPUs: its jobs, its bill, its people.

Everything follows from the list of jobs and a price table of its own, so the bill and
the fleet agree. Shares no code with the product, whose answers it must be able to check.
"""

from __future__ import annotations

from deploy.sandbox.company.jobs import ACCOUNT, REGIONS, STINTS, Stint
from deploy.sandbox.company.people import workspace
from deploy.sandbox.company.world import company_world

__all__ = ["ACCOUNT", "REGIONS", "STINTS", "Stint", "company_world", "workspace"]
