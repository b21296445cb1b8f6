"""Policy files (and other YAML of gpucost) into models; every error at once.

A set of policies loads as a whole or not at all: one bad file refuses it, and the
caller keeps the set it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from policies.core.catalogue import KINDS, Policy
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
    found: list[tuple[Policy, LoadError]] = []
    for file in files:
        text, error = read_file(file)
        if text is None:
            errors += [error] if error else []
            continue
        loaded, more = _load(text, str(file))
        found += loaded
        errors += more
    errors += _name_clashes(found)
    if errors:
        return (), tuple(sorted(errors, key=LoadError.order))
    policies = (policy for policy, _ in found)
    return tuple(sorted(policies, key=lambda policy: policy.name)), ()


def load_text(
    text: str, file: str = "policies.yaml"
) -> tuple[tuple[Policy, ...], tuple[LoadError, ...]]:
    """Load policies from text, as if it were one file."""
    found, errors = _load(text, file)
    errors += _name_clashes(found)
    if errors:
        return (), tuple(sorted(errors, key=LoadError.order))
    return tuple(sorted((one for one, _ in found), key=lambda one: one.name)), ()


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
    document, more = _validated(file, root, (), model)
    errors += more
    errors.sort(key=LoadError.order)
    return (None if errors else document), tuple(errors)


def _load(
    text: str, file: str
) -> tuple[list[tuple[Policy, LoadError]], list[LoadError]]:
    """Return policies, each with the place of its name, and errors."""
    root, problems = read_tree(text)
    errors = [located(file, problem) for problem in problems]
    if root is None:
        if not errors:
            message = "the file is empty, expected the key 'policies'"
            errors = [located(file, Problem(line=1, column=1, message=message))]
        return [], errors
    listed = _listed(root)
    if isinstance(listed, list):
        return [], [*errors, *(located(file, problem) for problem in listed)]
    found: list[tuple[Policy, LoadError]] = []
    for index, node in enumerate(listed.items):
        policy, more = _policy(file, node)
        errors += more
        if policy is not None:
            place = find(root, (POLICIES_KEY, index, "name"))
            clash = Problem(line=place.line, column=place.column, message="")
            found.append((policy, located(file, clash, policy=policy.name)))
    return found, errors


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
    return _validated(file, node, (), model, policy=name)


def _text_of(node: Node, key: str) -> str:
    for name, value in node.entries:
        if name.text == key and value.kind == "scalar" and not value.is_null:
            return value.text
    return ""


def _validated(
    file: str,
    node: Node,
    path: tuple[str | int, ...],
    model: type[M],
    *,
    policy: str = "",
) -> tuple[M | None, list[LoadError]]:
    """Validate a subtree against a model, with places from the text."""
    empty = list(_empty_keys(node, path))
    errors = [located(file, problem, policy=policy) for problem in empty]
    try:
        value = model.model_validate(to_plain(node))
    except ValidationError as error:
        skip = {problem.path for problem in empty}
        problems = problems_of(error, node, model, skip=skip)
        errors += [located(file, one, policy=policy) for one in problems]
        return None, errors
    return (None if errors else value), errors


def _empty_keys(
    node: Node, path: tuple[str | int, ...]
) -> Iterable[Problem]:
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


def _name_clashes(found: Sequence[tuple[Policy, LoadError]]) -> list[LoadError]:
    first: dict[str, LoadError] = {}
    clashes: list[LoadError] = []
    for policy, place in found:
        earlier = first.setdefault(policy.name, place)
        if earlier is not place:
            clashes.append(
                LoadError(
                    file=place.file,
                    line=place.line,
                    column=place.column,
                    policy=policy.name,
                    message="name is taken already, "
                    f"at {earlier.file}:{earlier.line}:{earlier.column}",
                    suggestion="give every policy a name of its own",
                )
            )
    return clashes


__all__ = ["LoadError", "load_document", "load_policies", "load_text"]
