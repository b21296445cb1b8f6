"""What a restore says in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from bot.views.words import plural


def restored_text(path: str, document: Mapping[str, object]) -> str:
    """Say what was restored, where the old content is and what to look at."""
    taken = document["taken_at"] or "an unknown time"
    lines = [f"{path}: restored, as of {taken}"]
    if document["schema_before"] != document["schema_after"]:
        lines.append(
            f"schema {document['schema_before']} -> {document['schema_after']}"
        )
    if document["kept"]:
        lines.append(f"what was there before: {document['kept']}")
    given_up = int(str(document["messages_given_up"]))
    if given_up:
        lines.append(f"{plural(given_up, 'waiting message')} will not be posted")
    if document["audit_problems"]:
        lines.append(
            "the audit chain does not verify: is audit.key the one of that database?"
        )
    lines.append(
        "actions are paused: look at what happened since, then `gpucost resume`"
    )
    return "\n".join(lines)
