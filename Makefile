# Two commands start everything, each from nothing: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
SLOW := .venv-slow
WHEEL := .venv-wheel
# What checks FOCUS tables and runs Spark needs Python 3.12: the first that starts, if any.
SLOW_PYTHON ?= $(shell for one in python3.12 $$HOME/.pyenv/versions/3.12.*/bin/python; do \
	$$one -c '' 2>/dev/null && { echo $$one; break; }; done)
BIN := $(VENV)/bin
RUN := $(VENV)/.ready-run
DEV := $(VENV)/.ready-dev
UV := $(BIN)/uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header
PYTEST := $(BIN)/pytest -q --inline-snapshot=disable
WORKERS ?= 2

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

.PHONY: help setup demo test lint types contracts docs-check check check-slow lowest slow bench wheel sbom lock clean

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV) ## create .venv with everything pinned (the other targets do it themselves)
	@echo "setup: ready; 'source $(BIN)/activate' puts gpucost on the path"

demo: $(RUN) ## run gpucost on a sandbox: no AWS, no Slack account (DEMO=once: once through, then stop)
	@$(BIN)/python -m deploy.sandbox.demo $(if $(filter once,$(DEMO)),--once)

test: $(DEV) ## run the tests (PostgreSQL too where GPUCOST_TEST_POSTGRES names a server; ARGS=… for pytest)
	@$(PYTEST) -n $(WORKERS) --dist loadfile --inline-snapshot=disable $(ARGS)

lint: $(DEV) ## ruff: rules and formatting
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check --output-format concise . || { echo "lint: '$(BIN)/ruff format .' mends the formatting"; exit 1; }

types: $(DEV) ## mypy, strict, tests included
	@$(BIN)/mypy --no-error-summary

contracts: $(DEV) ## who may import whom
	@$(BIN)/lint-imports --no-cache --no-logo

docs-check: $(DEV) ## the documentation and the examples in docstrings are true
	@$(PYTEST) tests/test_docs.py
	@$(PYTEST) --doctest-modules billing/core policies/core bot/views

check: lint types contracts docs-check test ## everything a change must pass

check-slow: check lowest slow ## check, then the long runs and the lowest versions
	@$(PYTEST) -m slow $(ARGS)

lowest: $(UV) ## run the tests with the lowest versions that pyproject.toml allows
	@$(PYTHON) -m venv --without-pip --clear $(LOWEST)
	@$(UV) pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
	  -r pyproject.toml --extra demo --group dev --group build
	@$(LOWEST)/bin/python -m pytest -q -n $(WORKERS) --dist loadfile -p no:cacheprovider \
	  tests/unit tests/contract tests/slack tests/cases

slow: $(UV) ## make the environment of the long runs, where Python 3.12 is
	@if [ -z "$(SLOW_PYTHON)" ]; then \
	  echo "slow: no Python 3.12, so what needs it is skipped (name it: SLOW_PYTHON=PATH)"; \
	else \
	  $(UV) venv --quiet --clear --python $(SLOW_PYTHON) $(SLOW) && \
	  $(UV) pip install --quiet --python $(SLOW)/bin/python --require-hashes -r requirements-slow.txt; \
	fi

bench: $(DEV) ## measure speed and memory
	@$(BIN)/python -m tests.bench

wheel: $(RUN) ## build the wheel, install it with what the image locks, and start it
	@rm -rf build dist $(WHEEL)
	@$(UV) build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir dist
	@$(PYTHON) -m venv --without-pip $(WHEEL)
	@$(UV) pip install --quiet --python $(WHEEL)/bin/python --require-hashes -r deploy/docker/requirements.txt
	@$(UV) pip install --quiet --python $(WHEEL)/bin/python --no-deps dist/gpucost-*.whl
	@cd $(WHEEL) && bin/gpucost --version && bin/gpucost policy schema >/dev/null \
	  && GPUCOST_DATABASE_URL=sqlite:///$(CURDIR)/$(WHEEL)/check.db XDG_DATA_HOME=$(CURDIR)/$(WHEEL) bin/gpucost db check
	@ls dist/*.whl

sbom: $(RUN) ## write what the image contains, as CycloneDX, to dist/
	@mkdir -p dist
	@$(BIN)/python -m deploy.sbom > dist/gpucost.cdx.json
	@echo dist/gpucost.cdx.json

lock: $(DEV) ## pin every dependency again, with hashes (UPGRADE=1: to the newest)
	@$(LOCK) $(if $(UPGRADE),--upgrade) pyproject.toml --extra demo --group build -o requirements.txt
	@$(LOCK) pyproject.toml --group build -c requirements.txt -o deploy/docker/requirements.txt
	@$(LOCK) $(if $(UPGRADE),--upgrade) --group dev -c requirements.txt -o requirements-dev.txt
	@printf 'focus-validator==2.2.1\npyarrow<22\npyspark\n' \
	  | $(subst 3.11,3.12,$(LOCK)) $(if $(UPGRADE),--upgrade) - -o requirements-slow.txt
	@echo 'uv' | $(LOCK) $(if $(UPGRADE),--upgrade) - -o requirements-uv.txt

clean: ## remove what make and the tools made
	@rm -rf $(VENV) $(LOWEST) $(SLOW) $(WHEEL) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV): requirements-uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || { \
	  echo "gpucost needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." \
	    "Install one of them and name it: make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot create virtual environments." \
	    "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "setup: creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt
	@touch $@

$(RUN): $(UV) requirements.txt pyproject.toml
	@echo "setup: installing gpucost and what it runs on"
	@$(INSTALL) --require-hashes -r requirements.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(RUN) requirements-dev.txt
	@echo "setup: installing the developer's tools"
	@$(INSTALL) --require-hashes -r requirements-dev.txt
	@touch $@
