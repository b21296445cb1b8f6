"""Write what is shipped, as CycloneDX: ``python -m deploy.sbom > gpucost.cdx.json``.

Read from the lock of the image alone, so it is the same on every machine. Licences are
not in a lock, and so not in here.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "deploy" / "docker" / "requirements.txt"
_PIN = re.compile(r"^([a-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VIA = re.compile(r"^    # +(?:via )?([a-z0-9][\w.-]*)(?: \(.*\))?$", re.MULTILINE)


def bill_of_materials(lock: str, project: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a lock's text and the project's own name and version."""
    name, version = str(project["name"]), str(project["version"])
    root = f"pkg:pypi/{name}@{version}"
    parts = _parts(lock)
    refs = {part: f"pkg:pypi/{part}@{pinned}" for part, (pinned, _) in parts.items()}
    needs: dict[str, list[str]] = {root: [], **{ref: [] for ref in refs.values()}}
    for part, (_, text) in parts.items():
        for parent in sorted(set(_VIA.findall(text))):
            ref = refs.get(parent, root if parent == name else "")
            if ref:
                needs[ref].append(refs[part])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, root + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": root, "name": name,
                "version": version, "purl": root,
                "licenses": [{"license": {"id": str(project["license"])}}],
            }
        },
        "components": [
            {
                "type": "library", "bom-ref": refs[part], "name": part,
                "version": pinned, "purl": refs[part],
                "properties": [
                    {"name": "gpucost:sha256", "value": digest}
                    for digest in _HASH.findall(text)
                ],
            }
            for part, (pinned, text) in parts.items()
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(wanted)}
            for ref, wanted in sorted(needs.items())
        ],
    }  # fmt: skip


def _parts(lock: str) -> dict[str, tuple[str, str]]:
    """Return each pinned package with its version and its lines."""
    found = list(_PIN.finditer(lock))
    ends = [one.start() for one in found[1:]] + [len(lock)]
    return {
        one[1]: (one[2], lock[one.start() : end])
        for one, end in zip(found, ends, strict=True)
    }


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    document = bill_of_materials(LOCK.read_text("utf-8"), project)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
