# Two commands do all the set-up: `make demo` opens the panel on the sandbox cluster, `make test` runs the tests.
# Both make .venv from the hashed lock, with uv where it is installed, else with python3 -m venv and pip.
#   make VENV=folder ...    another environment         make PYTHON=python3.12 ...   another interpreter

VENV ?= .venv
BIN = $(VENV)/bin
SCENARIO ?= healthy
PYTEST ?=
# Three workers on two cores: the lanes of real machines wait most of the time. One after another takes twice as long.
WORKERS ?= -n 3 --dist loadgroup --no-loadscope-reorder
UV ?= $(firstword $(shell command -v uv 2>/dev/null) $(wildcard $(BIN)/uv))
LOCK = $(UV) pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url

.PHONY: help clean-venv demo test test-vm test-engine lint pytest bench lock wheel clean venv venv-dev
.DEFAULT_GOAL := help

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: venv ## Open the panel on the sandbox cluster (SCENARIO=nas-down for another scenario)
	@$(BIN)/dsv41-tui --demo=$(SCENARIO)

test: ## All checks and tests, at most 8 minutes; not on a GB10 (PYTEST="-k nfs" chooses)
	@sh .ci/not-on-gb10.sh "make test"
	@$(MAKE) --no-print-directory lint pytest

lint: venv-dev ## Lint, formatting, strict types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

pytest: venv-dev
	$(BIN)/pytest -rs $(WORKERS) $(PYTEST)

test-vm: ## Whole machines by QEMU: soft-RoCE and its faults; four minutes; root; not on a GB10
	@sh .ci/not-on-gb10.sh "make test-vm"
	@$(MAKE) --no-print-directory venv-dev
	$(BIN)/pytest -rs -m vm tests/vm $(PYTEST)

test-engine: ## A real vLLM of two ranks in docker, killed and stopped; root; 2.5 GB; not on a GB10
	@sh .ci/not-on-gb10.sh "make test-engine"
	@$(MAKE) --no-print-directory venv-dev
	$(BIN)/pytest -rs -m engine tests/engine $(PYTEST)

bench: ## Measure the budgets against a floor or a peer of the same run; not on a GB10 (BENCH=--quick for a look)
	@sh .ci/not-on-gb10.sh "make bench"
	@$(MAKE) --no-print-directory venv-dev
	$(BIN)/python -m tests.bench $(BENCH)

lock: ## Write the two locks anew from pyproject.toml (needs uv); UPGRADE=--upgrade takes newer versions
	@test -n "$(UV)" || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	$(LOCK) $(UPGRADE) --group build -o requirements.lock
	$(LOCK) $(UPGRADE) --group dev -c requirements.lock -o requirements-dev.lock

wheel: venv ## Build the wheel into dist/
	$(BIN)/python -m hatchling build -t wheel

clean: clean-venv ## Remove what make made: the environment, dist/, caches
	rm -rf dist build .bed .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

clean-venv:
	@if [ -f $(VENV)/made-from ]; then rm -rf $(VENV); elif [ -e $(VENV) ]; then echo "$(VENV) was not made by this Makefile; left alone"; fi

venv:
	@sh .ci/venv.sh $(VENV) runtime

venv-dev:
	@sh .ci/venv.sh $(VENV) dev
