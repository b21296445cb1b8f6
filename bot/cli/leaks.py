"""`gpucost cost [JOB] --by leak`: where the money went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.output import Format, emit

if TYPE_CHECKING:
    from bot.use_cases.parts import CostQuestion
    from bot.wiring.application import Application

#: What `--by` is called.
LEAK = "leak"


def tell_leaks(
    application: Application, question: CostQuestion, chosen: Format
) -> None:
    """Print where the money of a run went."""
    from bot.views.leaks import leaks_document, leaks_text
    from bot.wiring.runs import Runs

    answer = Runs(application).leaks(question)
    emit(chosen, leaks_document(answer), lambda: leaks_text(answer))
