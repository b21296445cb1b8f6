"""What `/openapi.json` and the documentation say of `/v1` is what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.use_cases.tokens import Scope
from tests.project import ROOT

if TYPE_CHECKING:
    from tests.builders_http import Site

PAGE = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")


def test_every_route_is_described_with_its_body_and_its_token(site: Site) -> None:
    described = site.get("/openapi.json").json
    routes = {
        (method.upper(), path): route
        for path, methods in described["paths"].items()
        if path.startswith("/v1/")
        for method, route in methods.items()
    }

    assert len(routes) == len(Scope) + 1  # Two launchers share one scope.
    for (method, path), route in routes.items():
        assert route["security"] == [{"HTTPBearer": []}], path
        assert ("requestBody" in route) == (method == "POST"), path
        assert "$ref" not in str(route), path
    body = routes["POST", "/v1/estimates"]["requestBody"]["content"]["application/json"]
    assert body["schema"]["required"] == ["instance_type", "count", "hours"]


def test_every_route_and_scope_is_documented(site: Site) -> None:
    described = site.get("/openapi.json").json
    paths = [path for path in described["paths"] if path.startswith("/v1/")]

    assert [path for path in paths if path not in PAGE] == []
    assert [scope.value for scope in Scope if f"| `{scope.value}` |" not in PAGE] == []


def test_the_description_needs_no_token(site: Site) -> None:
    assert site.get("/docs").status == 200
