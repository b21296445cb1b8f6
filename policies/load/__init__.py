"""Policy files (and other YAML of gpucost) into models; every error at once.

A set of policies loads as a whole or not at all: one bad file refuses it, and the
caller keeps the set it had.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from policies.core.casebook import Casebook
from policies.core.catalogue import KINDS, Policy, json_schema
from policies.load.errors import LoadError, located, nearest, problems_of
from policies.load.files import read_file, yaml_files
from policies.load.tree import Node, Problem, find, read_tree, to_plain

M = TypeVar("M", bound=BaseModel)
POLICIES_KEY = "policies"


def load_policies(
    paths: Iterable[Path | str],
) -> tuple[tuple[Policy, ...], tuple[LoadError, ...]]:
    """Load files and folders; no policies when there is any error.

    Returns:
        The policies in order of name, and the errors in order of place.
    """
    files, errors = yaml_files(paths)
    loading = _Loading(errors=errors)
    for file in files:
        text, error = read_file(file)
        if text is not None:
            loading.take(text, str(file))
        elif error is not None:
            loading.errors.append(error)
    return loading.result()


def load_text(
    text: str, file: str = "policies.yaml"
) -> tuple[tuple[Policy, ...], tuple[LoadError, ...]]:
    """Load policies from text, as if it were one file."""
    loading = _Loading()
    loading.take(text, file)
    return loading.result()


def load_casebooks(
    paths: Iterable[Path | str],
) -> tuple[tuple[tuple[str, Casebook], ...], tuple[LoadError, ...]]:
    """Load the files of tests (``*.test.yaml``) that paths mean, by file."""
    files, errors = yaml_files(paths, tests=True)
    found = []
    for file in files:
        book, more = load_document(file, Casebook)
        errors += more
        if book is not None:
            found.append((str(file), book))
    if errors:
        return (), tuple(sorted(errors, key=LoadError.order))
    return tuple(found), ()


def load_document(
    path: Path | str, model: type[M]
) -> tuple[M | None, tuple[LoadError, ...]]:
    """Load a YAML file into one model, such as the configuration file."""
    text, error = read_file(Path(path))
    if text is None:
        return None, (error,) if error else ()
    file = str(path)
    root, problems = read_tree(text)
    errors = [located(file, problem) for problem in problems]
    if root is None:
        return (None, tuple(errors)) if errors else (model.model_validate({}), ())
    document, more = _validated(file, root, model)
    errors += more
    errors.sort(key=LoadError.order)
    return (None if errors else document), tuple(errors)


@dataclass(slots=True, kw_only=True)
class _Loading:
    """What was read so far of one set of policies."""

    policies: list[Policy] = field(default_factory=list)
    errors: list[LoadError] = field(default_factory=list)
    names: dict[str, LoadError] = field(default_factory=dict)

    def take(self, text: str, file: str) -> None:
        """Read one file's text."""
        root, problems = read_tree(text)
        if root is None and not problems:
            message = "the file is empty, expected the key 'policies'"
            problems = (Problem(line=1, column=1, message=message),)
        self.errors += [located(file, problem) for problem in problems]
        if root is None:
            return
        listed = _listed(root)
        if isinstance(listed, list):
            self.errors += [located(file, problem) for problem in listed]
            return
        for node in listed.items:
            policy, errors = _policy(file, node)
            self.errors += errors
            self.policies += [policy] if policy else []
            self._note_name(file, node)

    def _note_name(self, file: str, node: Node) -> None:
        """Refuse a name that another policy of the set has."""
        name = _text_of(node, "name")
        if not name:
            return
        place = find(node, ("name",))
        here = Problem(line=place.line, column=place.column, message="")
        first = self.names.setdefault(name, located(file, here, policy=name))
        if (first.file, first.line, first.column) == (file, place.line, place.column):
            return
        at = f"{first.file}:{first.line}:{first.column}"
        clash = replace(
            here,
            message=f"name is taken already, at {at}",
            fix="give every policy a name of its own",
        )
        self.errors.append(located(file, clash, policy=name))

    def result(self) -> tuple[tuple[Policy, ...], tuple[LoadError, ...]]:
        """Return all policies or all errors."""
        if self.errors:
            return (), tuple(sorted(self.errors, key=LoadError.order))
        return tuple(sorted(self.policies, key=lambda policy: policy.name)), ()


def _listed(root: Node) -> Node | list[Problem]:
    """Return the list of policies, or what is wrong with the top of the file."""
    if root.kind != "mapping":
        message = "expected the key 'policies' with a list"
        return [Problem(line=root.line, column=root.column, message=message)]
    problems = [
        Problem(
            line=key.line,
            column=key.column,
            message=f"unknown key {key.text!r}",
            fix=nearest(key.text, [POLICIES_KEY]) or "only 'policies' stands here",
        )
        for key, _ in root.entries
        if key.text != POLICIES_KEY
    ]
    listed = find(root, (POLICIES_KEY,))
    if not any(key.text == POLICIES_KEY for key, _ in root.entries):
        if not problems:
            message = "missing key 'policies'"
            problems = [Problem(line=root.line, column=root.column, message=message)]
    elif listed.kind != "sequence" or not listed.items:
        message = "'policies' must be a list with at least one policy"
        fix = "start each policy with '- name:'"
        problems.append(
            Problem(line=listed.line, column=listed.column, message=message, fix=fix)
        )
    return problems or listed


def _policy(file: str, node: Node) -> tuple[Policy | None, list[LoadError]]:
    if node.kind != "mapping":
        message = "expected a policy with name and kind"
        problem = Problem(line=node.line, column=node.column, message=message)
        return None, [located(file, problem)]
    name = _text_of(node, "name")
    kind = _text_of(node, "kind")
    if kind not in KINDS:
        place = find(node, ("kind",))
        if kind:
            message = f"unknown kind {kind!r}, expected one of {', '.join(KINDS)}"
        else:
            message = f"missing key 'kind', expected one of {', '.join(KINDS)}"
        problem = Problem(
            line=place.line,
            column=place.column,
            message=message,
            fix=nearest(kind, KINDS),
        )
        return None, [located(file, problem, policy=name)]
    model: type[Policy] = KINDS[kind].model
    return _validated(file, node, model, policy=name)


def _text_of(node: Node, key: str) -> str:
    for name, value in node.entries:
        if name.text == key and value.kind == "scalar" and not value.is_null:
            return value.text
    return ""


def _validated(
    file: str,
    node: Node,
    model: type[M],
    *,
    policy: str = "",
) -> tuple[M | None, list[LoadError]]:
    """Validate a subtree against a model, with places from the text."""
    empty = list(_empty_keys(node, ()))
    errors = [located(file, problem, policy=policy) for problem in empty]
    try:
        value = model.model_validate(to_plain(node))
    except ValidationError as error:
        skip = {problem.path for problem in empty}
        problems = problems_of(error, node, model, skip=skip)
        errors += [located(file, one, policy=policy) for one in problems]
        return None, errors
    return (None if errors else value), errors


def _empty_keys(node: Node, path: tuple[str | int, ...]) -> Iterable[Problem]:
    """Find keys that say nothing; silence is not a value."""
    for key, value in node.entries:
        if value.is_null:
            yield Problem(
                line=key.line,
                column=key.column,
                message=f"key {key.text!r} has no value",
                fix="give it one, or remove the key for its default",
                path=(*path, key.text),
            )
        else:
            yield from _empty_keys(value, (*path, key.text))
    for index, item in enumerate(node.items):
        yield from _empty_keys(item, (*path, index))


__all__ = [
    "LoadError",
    "json_schema",
    "load_casebooks",
    "load_document",
    "load_policies",
    "load_text",
]
