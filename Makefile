# Everything runs in a virtual environment of its own; nothing but Python 3.11 to 3.13, make and PyPI is needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test long integration browser faults lint format bench reproduction schemas constraints clean help

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed  ## a simulated crowd ranks the systems of a WMT competition; no server needed
	@$(BIN)/judgestream demo

test: $(VENV)/.dev  ## the unit tests; no server needed
	$(PYTEST) -m "not integration and not long" -n auto

long: $(VENV)/.dev  ## the unit tests that take their time: whole logs, figures, the examples in the docs
	$(PYTEST) -m "long and not integration" -n auto

integration: $(VENV)/.dev  ## the tests on a real Kafka and a real Redis, which it starts and stops itself
	$(PYTEST) -m integration --ignore=tests/faults --ignore=tests/browser --timeout=300 -n 3

browser: $(VENV)/.dev  ## the live page in headless Chromium, on the real monitor and the real stack
	$(PYTEST) tests/browser -m integration --timeout=300

faults: $(VENV)/.dev  ## the fault suite: servers and workers killed, stopped, filled and cut off; the state must not show it
	$(PYTEST) tests/faults -m integration --timeout=300 -n 2

lint: $(VENV)/.dev  ## style, types and the directions of the imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev  ## put the code into the house's form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## the benchmarks; each prints ratios between variants in one run
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/profiles.py
	$(BIN)/python benchmarks/judges.py
	$(BIN)/python benchmarks/clusters.py
	$(BIN)/python benchmarks/matching.py
	$(BIN)/python benchmarks/stream.py
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/monitor.py --judgments 1000000
	$(BIN)/python benchmarks/fuzz_formats.py --seconds 60

reproduction: $(VENV)/.dev  ## the papers' tables and figures beside ours: reproduction/README.md, in half an hour
	$(BIN)/python -m reproduction

schemas: $(VENV)/.installed  ## write schemas/ anew from streams/wire/events.py
	$(BIN)/python -m streams.wire.schemas schemas

constraints: $(VENV)/.dev  ## pin the dependencies anew
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-header --no-annotate --quiet --upgrade -o constraints.txt

clean:  ## remove what was made, but not running servers
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Judgestream needs Python 3.11 to 3.13; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "$(PYTHON) can't make virtual environments; on Debian: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing into $(VENV), with the tools for development ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/.installed $@
