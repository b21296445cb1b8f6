"""A question asked as a sentence, as the command that asks it; pure.

``how much did team nlp spend last week?`` is ``team nlp last week``. Only words that
are sure to be filling are left out: what is not understood stays a question nobody
can read, and is said to be one.
"""

from __future__ import annotations

import re

#: Words before which (or after which) nothing is lost when they go.
_FILLING = frozenset(
    (
        *("a", "about", "an", "any", "anything", "are", "as", "at", "be", "been"),
        *("by", "can", "could", "cost", "costs", "costing", "did", "do", "does"),
        *("doing", "expensive", "far", "feel", "for", "from", "gave", "get", "give"),
        *("gone", "got", "had", "has", "have", "hello", "hey", "hi", "how", "i"),
        *("in", "is", "it", "its", "list", "many", "me", "money", "much", "my"),
        *("now", "of", "on", "our", "over", "please", "price", "run", "running"),
        *("say", "see", "seen", "should", "show", "so", "spend", "spending", "spent"),
        *("tell", "thanks", "than", "thank", "that", "the", "their", "there"),
        *("these", "they", "thing", "this", "to", "today", "total", "used", "using"),
        *("was", "we", "were", "what", "whats", "when", "where", "which", "who"),
        *("will", "with", "would", "you"),
    )
) - {"this", "today", "me", "my", "i"}
_OPENERS = frozenset(
    (
        *("and", "are", "can", "could", "did", "do", "does", "get", "give", "hello"),
        *("hey", "hi", "how", "is", "list", "please", "show", "so", "tell", "what"),
        *("whats", "when", "where", "which", "who", "why", "will", "would"),
    )
)
_MENTION = re.compile(r"<@[^<>]*>")
_NO_NAMES = (
    _FILLING
    | _OPENERS
    | {
        *("each", "every", "me", "my", "i", "last", "which", "most", "top", "spends"),
    }
)
_WINDOW = re.compile(
    r"\b(?:today|yesterday|(?:this|last) (?:week|month)"
    r"|(?:last|past) \d{1,3} (?:day|week)s?|past week|past month"
    r"|since (?:yesterday|mon|tue|wed|thu|fri|sat|sun"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|\d{4}-\d{2}(?:-\d{2})?)"
    r"|\d{4}-\d{2}-\d{2}\.\.\d{4}-\d{2}-\d{2}|\d{4}-\d{2}-\d{2}"
    r"|\d{4}-\d{2}|\d{4}-[w]\d{2}|\d{1,3}[dw])(?![\w-])"
)
_PAST = {"past week": "7d", "past month": "30d"}
_DIMENSIONS = re.compile(r"\b(job|team|account|category|categories|service|region)s?\b")
_MOST = re.compile(
    r"\b(?:most|top|biggest|largest|highest|dearest|costliest|expensive)\b"
)
_TEAM_NAMES = (
    re.compile(r"\bteam(?:'s)? ([\w.-]+)"),
    re.compile(r"\b([\w.-]+)(?:'s)? team\b"),
)
_ACCOUNT = re.compile(r"\b(?:account )?(\d{12})\b")
_JOB = re.compile(r"\bjob ([\w.:-]+)")
#: A word with a letter and a digit, or a dash inside: what jobs are called.
_JOB_LIKE = re.compile(r"(?=.*[a-z])(?=.*\d)[\w.:-]+|[a-z]+(?:-[\w]+)+")
_SHAPE = re.compile(r"\b(?:ml\.)?[a-z]\w*\.(?:\d*xlarge|large|metal)\b")
_TOPICS = (
    (
        re.compile(r"\b(?:untagged|without (?:a )?(?:job )?tags?|no tags?)\b"),
        "untagged",
    ),
    (re.compile(r"\b(?:idle|idling|unused gpus?|doing nothing)\b"), "idle"),
    (re.compile(r"\bcheckpoints?\b"), "checkpoints"),
    (re.compile(r"\b(?:coverage|covered|savings plans?|commitments?)\b"), "coverage"),
    (re.compile(r"\b(?:approvals?|approve)\b"), "approvals"),
    (re.compile(r"\bdigest\b"), "digest"),
    (re.compile(r"\bhelp\b"), "help"),
)


def command_of(text: str) -> str:
    """Return the command that a sentence means; "" when it is no sentence of ours.

    >>> command_of("how much did team nlp spend last week?")
    'team nlp last week'
    >>> command_of("what are the most expensive teams this month")
    'top team this month'
    >>> command_of("why is job-123 so expensive?"), command_of("rm -rf")
    ('why job-123', '')
    """
    said = _MENTION.sub(" ", text).strip().lower().rstrip("?!. ")
    words = " ".join(said.replace("\u2019", "'").replace(",", " ").split())
    if len(words.split()) < 2 or words.split()[0] not in _OPENERS | {"my", "i"}:  # noqa: PLR2004
        return ""
    when = _WINDOW.search(words)
    window = when[0] if when else ""
    rest = words[: when.start()] + words[when.end() :] if when else words
    window = _PAST.get(window, window.replace("past ", "last "))
    return f"{_asked(rest)} {window}".strip() if _asked(rest) else ""


def _asked(words: str) -> str:
    """Return the command without its window."""
    named = _named(words)
    if words.startswith("why "):
        figure = named.removeprefix("cost ").replace("team ", "team:", 1)
        return f"why {figure.replace('account ', 'account:', 1)}" if named else ""
    if _SHAPE.search(words):
        return ""  # A plan has too many words to guess at: `estimate` is typed.
    if "budget" in words.split():
        return f"budget {named.removeprefix('team ')}".strip()
    for pattern, verb in _TOPICS:
        if pattern.search(words):
            return verb
    if _MOST.search(words) and not named:
        by = _DIMENSIONS.search(words)
        return f"top {by[1].replace('categories', 'category') if by else 'job'}"
    if named:
        return named
    return (
        "me" if {"i", "my", "me"} & set(words.split()) and _is_about_me(words) else ""
    )


def _is_about_me(words: str) -> bool:
    left = [word for word in words.split() if word not in _FILLING | _OPENERS]
    return set(left) <= {"i", "my", "me", "job", "jobs", "runs", "own", "i've"}


def _named(words: str) -> str:
    """Return the team, account or job that a sentence names; "" for none."""
    for pattern in _TEAM_NAMES:
        for found in pattern.finditer(words):
            if found[1] not in _NO_NAMES:
                return f"team {found[1]}"
    account = _ACCOUNT.search(words)
    if account:
        return f"account {account[1]}"
    job = _JOB.search(words)
    if job and job[1] not in _FILLING:
        return f"cost {job[1]}"
    jobs = [word for word in words.split() if _JOB_LIKE.fullmatch(word)]
    return f"cost {jobs[0]}" if len(jobs) == 1 else ""
