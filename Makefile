# Everything runs in the virtual environment .venv. Needed: Python 3.11 to 3.13, make, and access to PyPI.
PYTHON ?= python3
VENV ?= .venv
# Tests start hundreds of processes. Without stored bytecode each of them would compile everything again.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
SERVERS := -m integration --timeout=1200
# Of `make soak`: how long faults happen, the seed, and more options (python -m tests.soak --help).
SECONDS ?= 600
SEED ?= 1
SOAK ?=
# Options of `make performance` (python benchmarks/performance.py --help).
PERFORMANCE ?=
KERNELS := tests/wire/scanner tests/core/kernels tests/core/models tests/core/ranking tests/compiler/test_arithmetic.py
QUICK := tests/wire tests/core/campaign tests/core/ranking tests/core/matching tests/pipeline tests/stores

.PHONY: demo quick test long bounds integration browser faults soak lint lint-js format performance bench reproduction sample schemas constraints clean help

# The test processes share the cores. Threads of a library would only wait for each other.
quick test long bounds: export OPENBLAS_NUM_THREADS = 1

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed  ## run the demo: a simulated crowd ranks the systems of WMT13 French-English; needs no server
	@$(BIN)/judgestream demo

quick: $(VENV)/.dev  ## run the unit tests of the core: events, campaign, ranking, pipeline, stores; under 20 s
	$(PYTEST) $(QUICK) -m "not integration and not long and not data" -n auto

test: $(VENV)/.dev  ## run the unit tests; needs no server
	$(PYTEST) -m "not integration and not long and not data" -n auto

long: $(VENV)/.dev  ## run the slow unit tests: the public logs, figures, the examples in the docs
	$(PYTEST) -m "(long or data) and not integration" -n auto

bounds: $(VENV)/.dev  ## run the tests of the compiled kernels while every index is checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) $(KERNELS) -m "not integration and not long and not data" -n auto

integration: $(VENV)/.dev  ## run the tests on a real Kafka and Redis, which are started and stopped for it
	$(PYTEST) $(SERVERS) --ignore=tests/faults --ignore=tests/browser -n 3

browser: $(VENV)/.dev  ## run the tests of the live page in headless Chromium, on a real Kafka and Redis
	$(PYTEST) $(SERVERS) tests/browser

faults: $(VENV)/.dev  ## run the fault tests: kill, stop, fill and cut off servers and workers, then compare the state
	$(PYTEST) $(SERVERS) tests/faults -n 2

soak: $(VENV)/.dev  ## mix faults at random for ten minutes, then compare with a calm replay; SECONDS=600 SEED=1
	$(BIN)/python -m tests.soak --seconds $(SECONDS) --seed $(SEED) $(SOAK)

lint: $(VENV)/.dev lint-js  ## check style, types and the directions of the imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

lint-js:  ## check the types of the page's JavaScript; skipped without node, except in CI
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.installed && node_modules/.bin/tsc; \
	elif [ -n "$$CI" ]; then echo "lint-js needs node and npm. On Debian: apt-get install nodejs npm" >&2; exit 1; \
	else echo "lint-js is skipped: it needs node and npm"; fi

node_modules/.installed: package.json package-lock.json
	@npm ci --silent --no-audit --no-fund
	@touch $@

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

performance: $(VENV)/.dev  ## run the benchmarks of docs/performance.md and write the page; about 20 minutes, PERFORMANCE=--quick for less
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/performance.py $(PERFORMANCE)

bench: $(VENV)/.dev  ## run the other benchmarks; each prints ratios between variants of one run
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/profiles.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/judges.py
	$(BIN)/python benchmarks/clusters.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/board.py
	$(BIN)/python benchmarks/matching.py
	$(BIN)/python benchmarks/grm_live.py
	$(BIN)/python benchmarks/grm_steps.py
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/monitor.py --judgments 1000000
	$(BIN)/python benchmarks/fuzz.py

reproduction: $(VENV)/.dev  ## compute the papers' tables and figures again: reproduction/README.md; takes half an hour
	$(BIN)/python -m reproduction

sample: $(VENV)/.installed  ## generate samples/arena.csv
	$(BIN)/python samples/generate.py > samples/arena.csv

schemas: $(VENV)/.installed  ## generate schemas/ from streams/wire/events.py
	$(BIN)/python -m streams.wire.schemas schemas

constraints: $(VENV)/.dev  ## update the pinned dependencies
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-header --no-annotate --quiet --upgrade -o constraints.txt

clean:  ## remove everything that make created, except running servers
	rm -rf $(VENV) node_modules build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Judgestream needs Python 3.11 to 3.13. Choose one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "$(PYTHON) can't create virtual environments. On Debian: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing into $(VENV), with the development tools ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/.installed $@
