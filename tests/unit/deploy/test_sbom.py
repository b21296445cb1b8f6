"""The bill of materials names every package of the lock, and who needs it."""

from __future__ import annotations

import re

from deploy.sbom import LOCK, bill_of_materials

PROJECT = {"name": "gpucost", "version": "0.1.0", "license": "Apache-2.0"}
HASHES = ["a" * 64, "b" * 64]
TEXT = f"""\
anyio==4.0.0 \\
    --hash=sha256:{HASHES[0]} \\
    --hash=sha256:{HASHES[1]}
    # via
    #   fastapi
    #   starlette
fastapi==0.9.0 ; python_version >= '3.11' \\
    --hash=sha256:{HASHES[0]}
    # via gpucost (pyproject.toml)
"""


def test_a_package_stands_with_version_hashes_and_who_needs_it() -> None:
    document = bill_of_materials(TEXT, PROJECT)

    anyio, fastapi = document["components"]
    assert anyio["purl"] == "pkg:pypi/anyio@4.0.0"
    assert [one["value"] for one in anyio["properties"]] == HASHES
    assert fastapi["version"] == "0.9.0"
    needs = {one["ref"]: one["dependsOn"] for one in document["dependencies"]}
    assert needs["pkg:pypi/gpucost@0.1.0"] == ["pkg:pypi/fastapi@0.9.0"]
    assert needs["pkg:pypi/fastapi@0.9.0"] == ["pkg:pypi/anyio@4.0.0"]


def test_every_package_of_the_lock_is_named_and_reached() -> None:
    text = LOCK.read_text("utf-8")
    document = bill_of_materials(text, PROJECT)

    names = {one["name"] for one in document["components"]}
    assert names == set(re.findall(r"^([a-z0-9][\w.-]*)==", text, re.MULTILINE))
    reached: set[str] = set()
    needs = {one["ref"]: one["dependsOn"] for one in document["dependencies"]}
    waiting = ["pkg:pypi/gpucost@0.1.0"]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs[ref]
    missing = {one["bom-ref"] for one in document["components"]} - reached
    assert {one.partition("@")[0] for one in missing} <= {"pkg:pypi/setuptools"}


def test_the_same_lock_gives_the_same_document() -> None:
    assert bill_of_materials(TEXT, PROJECT) == bill_of_materials(TEXT, PROJECT)
