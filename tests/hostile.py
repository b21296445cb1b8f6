"""Two hundred strings that names, tags and reasons may hold, seeded and therefore the same."""

from __future__ import annotations

import random

PIECES = (
    *("<!channel>", "<!here>", "<!everyone>", "<@U0MIA>", "<@W0MIA|mia>", "<#C0COSTS>"),
    *("<!subteam^S0APPROVE>", "<!subteam^S0APPROVE|@ops>", "<!date^1^{date}|x>"),
    *(
        "<http://evil.example|invoice>",
        "https://evil.example/?a=1&b=2",
        "<mailto:a@b.c>",
    ),
    *("@channel", "@here", "@everyone", "@mia", "[invoice](http://evil.example)"),
    *("*bold*", "_it_", "~gone~", "`code`", "```", "> quote", "&lt;!channel&gt;"),
    *("&amp;", "&", "<", ">", "|", "\\", '"', "'", "\u201c", ":bomb:", "\u2022"),
    *("\u202e", "\u200f", "\u2066", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"),
    *("\n", "\r\n", "\t", "\x00", "\x1b[31m", "\x85", "\u2028", "\ue000", "\ud800"),
    *(
        "e\u0301" * 5,
        "Z\u0351\u0343\u035c" * 20,
        "\u3164",
        "",
        " ",
        "job-123",
        "\U0001f4b8",
    ),
)
COUNT = 200
LONG = 10_000


def hostile_strings() -> list[str]:
    """Return every piece alone, two giants, and random mixtures of pieces."""
    chosen = random.Random(20261130)
    strings = [*PIECES, "x" * LONG, "<!channel> " * (LONG // 11), "&" * LONG]
    while len(strings) < COUNT:
        count = chosen.randint(2, 12)
        strings.append("".join(chosen.choices(PIECES, k=count)))
    return strings[:COUNT]
