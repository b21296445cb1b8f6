"""The ticking of scheduled work: APScheduler beats, slots decide.

Its own cron and misfire rules lose runs (one second of grace, Monday is 0), so it
only beats; ``bot.use_cases.due`` knows when, ``Slots`` knows whether.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from billing.core.errors import GpucostError
from bot.clock import Now, system_now
from bot.ports import SlackFailedError, Store
from bot.use_cases.runner import Task, TaskStoppedError, run_due

log = structlog.get_logger()

BEAT = timedelta(seconds=2)


class Beat:
    """Beats every task of a list until stopped; each task runs at most once at a time."""

    def __init__(
        self, tasks: Sequence[Task], store: Store, now: Now, owner: str
    ) -> None:
        self._store = store
        self._now = now
        self._owner = owner
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(max(len(tasks), 1))},
            job_defaults={
                "coalesce": True,
                "max_instances": 1,
                "misfire_grace_time": None,
            },
            timezone="UTC",
        )
        for task in tasks:
            self._scheduler.add_job(
                self.beat, "interval", args=[task], id=task.name, name=task.name,
                seconds=BEAT.total_seconds(), next_run_time=system_now(),
            )  # fmt: skip

    def beat(self, task: Task) -> None:
        """Run a task if it is due; a failure is logged and waits for the next slot."""
        try:
            slot = run_due(
                task,
                self._store,
                now=self._now(),
                system_now=system_now(),
                owner=self._owner,
            )
        except TaskStoppedError:
            log.info("task_stopped", task=task.name)
            return
        except (GpucostError, SlackFailedError) as error:
            log.error("task_failed", task=task.name, error=str(error))  # noqa: TRY400 - named
            return
        except Exception:
            log.exception("task_failed", task=task.name)
            return
        if slot is not None:
            log.info("task_finished", task=task.name, slot=slot.isoformat())

    def start(self) -> None:
        """Begin to beat."""
        self._scheduler.start()

    def stop(self) -> None:
        """Stop beating and wait for what runs."""
        self._scheduler.shutdown(wait=True)
