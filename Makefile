# Everything a person does here. Needs python3.11 or newer, make and git; setup fetches the rest.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCKS := requirements.lock requirements-dev.lock
COMPILE = $(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-emit-find-links --quiet

comma := ,
# One more than there are cores: a test that waits for a process or a page leaves its core to another.
WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# Loopback is never reached through a proxy.
export NO_PROXY := localhost,127.0.0.1,::1$(if $(NO_PROXY),$(comma)$(NO_PROXY))
export no_proxy := $(NO_PROXY)

.DEFAULT_GOAL := help
.PHONY: help setup demo run dashboard test lint bench lock clean browser moved

help: ## say what each of these does
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1 | \2/p' Makefile | while IFS='|' read -r name text; do \
		printf '%-18s%s\n' "$$name" "$$text"; done

setup: $(READY) ## make .venv from the locked packages; quick when nothing changed
	@:

demo: setup ## replay a Friday evening of double refunds against a local provider, and show what the hour finds
	@$(BIN)/recon demo $(ARGS)

run: setup ## reconcile once, as the hourly job does: one pass over every account
	@$(BIN)/recon run $(ARGS)

dashboard: setup ## open the operator's desk on this machine
	@$(BIN)/recon dashboard $(ARGS)

test: setup browser ## run every test, PostgreSQL and browser included (ARGS="-k words" for some)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: setup ## ruff, mypy --strict and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: setup ## measure the diff beside pandas, datacompy, fastrecon and DuckDB, in one run (ARGS="--only merge")
	@$(BIN)/python -m tests.bench $(ARGS)

lock: setup ## resolve pyproject.toml anew into both lock files (ARGS="--upgrade" for newer versions)
	$(COMPILE) $(ARGS) --output-file requirements.lock
	$(COMPILE) $(ARGS) --group dev --constraints requirements.lock --output-file requirements-dev.lock

clean: ## remove what make made: .venv, caches, builds, the demo's data; other data in var/ stays
	rm -rf $(VENV) build dist var/demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

browser:
	@sh .ci/setup browser

# A virtual environment knows its absolute path: after a move it is made again.
$(READY): $(LOCKS) pyproject.toml .ci/setup $(if $(filter-out $(CURDIR),$(shell cat $(READY) 2>/dev/null)),moved)
	@sh .ci/setup venv
