# Needs Python 3.11+, make and gcc (for the compiled core, and wheels that a platform lacks). Everything else is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
COMPILED := EXPECTED_CORE=compiled PYTHONPATH=$(CURDIR)/build/compiled $(BIN)/python -m

.DEFAULT_GOAL := help
.PHONY: help demo test test-compiled test-full test-clients compatibility properties fuzz check requirements dialects bench comparison bench-decide bench-guard lock clean

help: ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

demo: $(VENV)/runtime ## three simulated providers behind a gateway, on :4000
	@$(BIN)/pointsman demo $(ARGS)

test: check clients test-compiled ## everything: checks, and end-to-end tests against real clients
	$(COMPILED) pytest -q --cases -n 2 tests/integration
	$(COMPILED) pytest -q --cases tests/e2e

test-full: build/compiled ## what takes longer than a run on every change may take (about 5 min)
	$(COMPILED) pytest -q --cases -m full tests/properties tests/integration tests/e2e

test-clients: all-clients build/compiled ## frameworks, JavaScript SDKs and coding agents over a real engine (needs Node 20, 1 GB of disk; about 6 min)
	$(COMPILED) pytest -q -m "clients or js or agents" tests/e2e

compatibility: all-clients ## run every client that there is, and write what came of it into docs/compatibility.md
	$(BIN)/python -m tests.compatibility

properties: build/compiled ## properties of routing, prices and signals, each with CASES cases (10,000: about 10 min)
	PROPERTY_CASES=$(or $(CASES),10000) $(COMPILED) pytest -q -n 2 --durations 5 \
	  $(addprefix tests/properties/test_,affinity.py expressions.py market.py prices.py routing.py scores.py signals.py)

FUZZED := request_head sse chat responses messages retry_after configuration
fuzz: $(VENV)/fuzz ## new inputs for each reader of foreign bytes, SECONDS=60 for each; stops at the first fault
	for target in $(FUZZED); do $(BIN)/python -m tests.fuzz $$target $(or $(SECONDS),60) || exit 1; done

# what a type checker believes, compiled code insists on: the tests of its packages run over both forms
test-compiled: build/compiled ## the tests of the request path, over its compiled form
	$(COMPILED) pytest -q -n 2 -m "not interpreted and not full" tests/properties tests/scenarios tests/simulation \
	  $(addprefix tests/unit/,dialects http1 observability proxy routing signals upstream)

check: $(VENV)/dev ## format, lint, types, import contracts, unit, property, scenario and docs tests (about 3 min)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q -n 2 tests --ignore=tests/integration --ignore=tests/e2e

requirements: $(VENV)/dev ## every id of the specification with its tests, and the ids that have none
	$(BIN)/python -m tests.requirements

dialects: $(VENV)/dev ## what reaches callers of each dialect from targets of each dialect, found by asking
	@$(BIN)/python -m tests.dialects

bench: build/compiled ## cost of a request beside a bare relay, in one run
	$(COMPILED) benchmarks.run $(ARGS)

# three tries: on a busy machine a ratio may come out a third too high once, but not three times
bench-guard: build/compiled ## fail if a request costs far more than what benchmarks/recorded.json says
	for try in 1 2 3; do \
	  $(COMPILED) benchmarks.run --only unary --only large --only sse --rounds 5 --guard benchmarks/recorded.json \
	  && exit 0; done; exit 1

comparison: build/compiled ## write docs/comparison.md: all policies in all scenarios (hours)
	$(COMPILED) benchmarks.comparison $(ARGS)

bench-decide: $(VENV)/dev ## cost of a decision by strategy and number of targets; ARGS=--guard fails above the limit
	$(BIN)/python -m benchmarks.decisions $(ARGS)

lock: ## resolve the dependencies anew (needs uv, and npm for clients)
	uv pip compile -q pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header -o requirements/runtime.txt
	uv pip compile -q pyproject.toml --group build --group dev --universal --python-version 3.11 --generate-hashes --no-header -o requirements/dev.txt
	uv pip compile -q --group pyproject.toml:build --universal --python-version 3.11 --generate-hashes --no-header -o requirements/build.txt
	for kind in js agents; do (cd requirements/$$kind && npm install --package-lock-only --omit-lockfile-registry-resolved); done

clean: ## remove the virtual environments and everything tests leave behind
	rm -rf $(VENV) build .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .coverage

# slower to make than to run from source; what is measured and what is deployed
build/compiled: $(VENV)/dev hatch_build.py $(shell find src -name '*.py')
	rm -rf $@
	POINTSMAN_COMPILE=1 $(PIP) install --no-deps --no-build-isolation --no-cache-dir --target $@ .

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit("Pointsman needs Python 3.11 or newer; set PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/runtime: $(VENV)/python requirements/runtime.txt requirements/build.txt pyproject.toml
	$(PIP) install --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	for kind in js agents; do (cd requirements/$$kind && npm install --package-lock-only --omit-lockfile-registry-resolved); done
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev: $(VENV)/runtime requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/fuzz: $(VENV)/dev requirements/fuzz.txt
	$(PIP) install --require-hashes -r requirements/fuzz.txt
	@touch $@

# one environment per client: what they depend on differs from release to release
.PHONY: clients
clients: $(addprefix $(VENV)/clients/,openai-2 openai-3 anthropic-0 anthropic-2 langchain-openai langchain-anthropic)
.PHONY: all-clients
all-clients: clients $(addprefix $(VENV)/clients/,pydantic-ai openai-agents litellm js agents)

$(VENV)/clients/%: requirements/client-%.txt $(VENV)/python
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r $<
	@touch $@

# nothing of theirs runs at installation: what they need is within the packages
$(VENV)/clients/js $(VENV)/clients/agents: $(VENV)/clients/%: requirements/%/package-lock.json
	rm -rf $@
	mkdir -p $(VENV)/clients
	cp -r requirements/$* $@
	cd $@ && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@
