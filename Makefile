# Everything runs from .venv, which `make venv` builds. You don't need to activate it.
PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.installed
PEERS := peers/node_modules/.installed
CLIENTS := peers/.venvs/.installed
HOSTS := scripts/hosts/node_modules/.installed
HOSTS_ARGS ?=
BENCH_ARGS ?=
PYTEST_ARGS ?=
SUITES_ARGS ?=
AUDIT_ARGS ?=
ROUNDS ?= 20
PROGRAMS ?= 1000
INPUTS ?= 1000000
FUZZ_ARGS ?=

# Tests start hundreds of processes, which all import what one of them has compiled.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help venv demo test quick shuffle proofs check bench conformance everywhere hosts peers chaos fuzz hostile suites messages settings services browser docs pictures wheel audit clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV) ## Build .venv for development (PYTHON=python3.13 picks an interpreter)

demo: $(VENV) ## Play the demo: a game and a booking, with forms in your terminal
	$(BIN)/python -m midcall demo

test: $(VENV) ## Run the tests; those that this machine can't run are skipped, with a reason
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not proof and not hostile" $(PYTEST_ARGS)

quick: $(VENV) ## Run the unit tests: no services, no browser, no other programs
	$(BIN)/python -m pytest -n auto --dist worksteal -m unit $(PYTEST_ARGS)

shuffle: $(VENV) ## Run the tests in a random order (PYTEST_ARGS=--randomly-seed=7 repeats one)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not proof and not hostile" -p randomly $(PYTEST_ARGS)

proofs: $(VENV) ## Run the slow proofs: browsers, other SDKs, replicas that are killed
	$(BIN)/python -m pytest -n auto --dist worksteal -m proof $(PYTEST_ARGS)

check: $(VENV) ## Lint, formatting, layers, strict types, and the catalog of sentences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright
	$(BIN)/python -m scripts.messages --check

bench: $(VENV) ## Run the benchmarks (BENCH_ARGS=--short for a quick look)
	$(BIN)/python -m bench $(BENCH_ARGS)

conformance: $(PEERS) ## Run the official conformance suite against our server and client
	$(BIN)/python -m scripts.conformance

everywhere: $(PEERS) $(CLIENTS) ## Call one tool from every client we test, and write the table in docs/everywhere.md
	$(BIN)/python -m scripts.everywhere

hosts: $(HOSTS) ## Run real agent hosts with a scripted model, and write the table in docs/hosts.md (HOSTS_ARGS="codex gemini")
	$(BIN)/python -m scripts.hosts $(HOSTS_ARGS)

peers: $(PEERS) ## Install the npm packages that we are tested against

chaos: $(VENV) ## Kill replicas at random while people and clients use them (ROUNDS=20)
	MIDCALL_CHAOS_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/chaos tests/server/running/test_handover_model.py -s $(PYTEST_ARGS)

fuzz: $(VENV) ## Send hostile inputs to everything that strangers reach (INPUTS=1000000), and run random tools (PROGRAMS=1000)
	$(BIN)/python -m tests.fuzz --inputs $(INPUTS) $(FUZZ_ARGS)
	MIDCALL_FUZZ=$(PROGRAMS) $(BIN)/python -m pytest -m hypothesis tests $(PYTEST_ARGS)

hostile: $(VENV) ## Attack the client in every way
	MIDCALL_HOSTILE=full $(BIN)/python -m pytest -n auto --dist worksteal tests/client/test_hostile*.py $(PYTEST_ARGS)

suites: $(VENV) ## Run the test suites of the SDK and FastMCP with midcall in every server (SUITES_ARGS="mcp -k trio")
	$(BIN)/python -m scripts.suites $(SUITES_ARGS)

services: ## Install and start PostgreSQL and Redis, if they are missing
	scripts/services.sh

browser: ## Install Chromium and tmux, if they are missing
	scripts/browser.sh

settings: $(VENV) ## Write docs/settings.md from src/midcall/settings/
	$(BIN)/python -m scripts.settings_page

docs: $(VENV) ## Check the docs: links, snippets against docs_src/, and a fresh settings.md
	$(BIN)/python -m scripts.check_docs
	$(BIN)/python -m scripts.settings_page --check

messages: $(VENV) ## Extract the sentences that people read into src/midcall/language/locale/midcall.pot
	$(BIN)/python -m scripts.messages

pictures: $(VENV) ## Redraw the pictures in the docs: forms, line prompts and pages (needs Chromium)
	$(BIN)/python -m scripts.picture
	$(BIN)/python -m scripts.terminal_picture
	$(BIN)/python -m scripts.browser_picture
	$(BIN)/python -m scripts.portal_pictures

wheel: $(VENV) ## Build the sdist and the wheel into dist/, with tools whose hashes are known
	$(BIN)/python -m scripts.audit --build

audit: $(VENV) ## Check dependencies for known vulnerabilities, the lowest versions, the build, and logs for secrets (AUDIT_ARGS=--short)
	$(BIN)/python -m scripts.audit $(AUDIT_ARGS)

clean: ## Remove everything that was built or installed here
	rm -rf .venv .suites .audit dist build peers/node_modules peers/.venvs scripts/hosts/node_modules scripts/hosts/.venv .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "midcall needs Python 3.11 or newer: make venv PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(PEERS): peers/package.json scripts/install_peers.sh $(VENV)
	scripts/install_peers.sh
	@touch $@

$(CLIENTS): peers/requirements/agents.txt peers/requirements/fastmcp2.txt peers/requirements/fastmcp3.txt $(VENV)
	scripts/install_clients.sh
	@touch $@

$(HOSTS): scripts/hosts/package.json scripts/hosts/requirements.txt scripts/hosts/install.sh $(VENV)
	scripts/hosts/install.sh
	@touch $@
