# A fresh machine needs Python 3.11 or newer and make; everything else is fetched, pinned by hash.
# `make` alone lists the targets. ARGS is handed on: make test ARGS="-k ledger".

VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
ARGS ?=

# Stamps, so that nothing is installed twice. They live inside the environment and go with it.
RUNTIME := $(VENV)/.runtime
PROGRAM := $(VENV)/.program
EXAMPLE := $(VENV)/.example
DEV := $(VENV)/.dev
# What the benchmarks compare with has versions of its own, so it has an environment of its own.
PEERS := .venv-bench/.peers

# Modules are compiled once, and not by each process of each run.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help serve example test test-pages test-long mutants fuzz crash retries appends lint bench bench-quick \
	bench-parts dev lock clean

help: ## List the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '  %-12s %s\n' "$$name" "$$text"; done

serve: $(PROGRAM) ## Run the service on http://127.0.0.1:8420 (ARGS="--port 9000")
	@$(BIN)/turnkeep serve $(ARGS)

example: $(EXAMPLE) ## Run examples/agent_loop.py with a service and a fake provider of its own
	@$(BIN)/python -m examples.run

# Two more than there are processors: many tests wait for servers.
test: $(DEV) ## Run the tests on SQLite and PostgreSQL (ARGS="-k name")
	@$(BIN)/python -m pytest --dist worksteal \
		--numprocesses $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 2)') $(ARGS)

test-pages: $(DEV) ## Run the tests of the pages in Chromium, which root fetches where it is missing
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium" && \
		{ apt-get install -qq --yes chromium >/dev/null 2>&1 || { apt-get update -qq && \
		apt-get install -qq --yes chromium; } >/dev/null 2>&1; }; } || \
		{ echo "make test-pages needs Chromium (Debian: apt-get install chromium)." >&2; exit 1; }
	@TURNKEEP_BROWSER=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile tests/browser $(ARGS)

test-long: $(DEV) ## The laws on twenty thousand random histories (half an hour and more)
	@TURNKEEP_LAWS=long $(BIN)/python -m pytest --numprocesses auto --dist worksteal tests/laws tests/damage \
		tests/zoo tests/streams tests/edge/test_openapi_fuzzed.py tests/database/test_cost.py \
		tests/transfer/test_round_trip.py tests/migrations/test_releases.py tests/crash/test_appends.py $(ARGS)

mutants: $(DEV) ## Plant faults, one at a time; every one must be caught
	@$(BIN)/python -m tests.mutants.run $(ARGS)

fuzz: $(DEV) ## A million bodies with something wrong inside (ARGS="--bodies 20000")
	@$(BIN)/python -m tests.fuzz.run $(ARGS)

crash: $(DEV) ## Kill servers and PostgreSQL while 32 writers post; a minute (ARGS="--kills 200")
	@$(BIN)/python -m tests.crash.run $(ARGS)

retries: $(DEV) ## Send 10,000 posts one to five times, and cut responses off (ARGS="--posts 300")
	@$(BIN)/python -m tests.crash.retries $(ARGS)

appends: $(DEV) ## Let 64 writers race on 1 and on 50 conversations (ARGS="--each 2")
	@$(BIN)/python -m tests.crash.appends $(ARGS)

lint: $(DEV) ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV) $(PEERS) ## Measure everything, peers too (half an hour); writes docs/benchmarks.md
	@$(BIN)/python -m bench.run $(ARGS)

bench-quick: $(DEV) ## Measure against the floors, in about three minutes (ARGS="--only appends")
	@$(BIN)/python -m bench.run --quick $(ARGS)

bench-parts: $(DEV) ## Measure parts: the estimate of tokens, the search, the memory of long streams
	@$(BIN)/python -m bench.estimate
	@$(BIN)/python -m bench.search_size
	@$(BIN)/python -m bench.stream_memory

dev: $(DEV) ## Make the environment for development

# Existing pins are kept; ARGS=--upgrade moves them all, ARGS="--upgrade-package NAME" one.
# The lock files must install anywhere, so an index address or a path in them is a defect.
UV_COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" $(ARGS)

lock: $(DEV) ## Pin the dependencies of pyproject.toml again (ARGS=--upgrade)
	$(UV_COMPILE) pyproject.toml --group build -o requirements.lock >/dev/null
	$(UV_COMPILE) pyproject.toml --group build --group dev --constraints requirements.lock \
		-o requirements-dev.lock >/dev/null
	$(UV_COMPILE) --group pyproject.toml:example --constraints requirements-dev.lock \
		-o requirements-example.lock >/dev/null
	$(UV_COMPILE) --group pyproject.toml:bench -o requirements-bench.lock >/dev/null
	@if grep -nE '://|^-' requirements.lock requirements-dev.lock requirements-example.lock \
		requirements-bench.lock; then \
		echo 'make lock: the lines above name an address or a path.' >&2; exit 1; fi

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) .venv-bench build dist turnkeep.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find app alembic bench examples tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The first interpreter that is new enough and can make environments. PYTHON=… asks for one.
PYTHON ?= python3 python3.13 python3.12 python3.11 python3.14
define FIND_PYTHON
found=; old=; bare=; \
for python in $(PYTHON); do \
	command -v $$python >/dev/null 2>&1 || continue; \
	if ! $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		old="$$old $$python"; continue; fi; \
	if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
		bare="$$bare $$python"; continue; fi; \
	found=$$python; break; \
done; \
if [ -z "$$found" ]; then \
	if [ -n "$$bare" ]; then \
		echo "Turnkeep:$$bare cannot make virtual environments (no ensurepip)." >&2; \
		echo "Install the venv package (Debian and Ubuntu: python3-venv) or name another" >&2; \
		echo "interpreter: make PYTHON=/path/to/python3" >&2; \
	elif [ -n "$$old" ]; then \
		echo "Turnkeep needs Python 3.11 or newer;$$old is older." >&2; \
	else \
		echo "Turnkeep needs Python 3.11 or newer; none of these was found: $(PYTHON)." >&2; \
	fi; \
	exit 1; \
fi
endef

# A changed lock starts from an empty environment, so that nothing unpinned stays behind.
$(RUNTIME): requirements.lock
	@$(FIND_PYTHON); \
	echo "Making $(VENV) with $$($$found --version)"; \
	$$found -m venv --clear $(VENV)
	@$(PIP) install --quiet --require-hashes -r requirements.lock
	@touch $@

# Setuptools is pinned with the rest, hence no build isolation: it would fetch an unpinned one.
$(PROGRAM): $(RUNTIME) pyproject.toml setup.py
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(EXAMPLE): $(PROGRAM) requirements-example.lock
	@echo "Adding the SDKs of the example to $(VENV)"
	@$(PIP) install --quiet --require-hashes -r requirements-example.lock
	@touch $@

$(DEV): $(PROGRAM) requirements-dev.lock
	@echo "Adding the development tools to $(VENV)"
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

$(PEERS): requirements-bench.lock
	@$(FIND_PYTHON); \
	echo "Making .venv-bench, for the peers"; \
	$$found -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--require-hashes -r requirements-bench.lock
	@touch $@
