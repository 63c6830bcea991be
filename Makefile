# Everything runs from .venv, which `make venv` builds. Nothing has to be activated.
PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.installed
PEERS := peers/node_modules/.installed
BENCH_ARGS ?=
PYTEST_ARGS ?=
SUITES_ARGS ?=
ROUNDS ?= 20
PROGRAMS ?= 1000

.DEFAULT_GOAL := help
.PHONY: help venv demo test check bench conformance everywhere peers chaos fuzz hostile suites services browser docs pictures wheel clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV) ## Build .venv with all that development needs (PYTHON=python3.13 chooses one)

demo: $(VENV) ## Show it: a game and a booking, answered in forms in your terminal
	$(BIN)/python -m midcall demo

test: $(VENV) ## Run the tests; what this machine lacks is skipped, with a reason
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

check: $(VENV) ## Lint, formatting, layers and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

bench: $(VENV) ## Measure (BENCH_ARGS=--short for a quick look)
	$(BIN)/python -m bench $(BENCH_ARGS)

conformance: $(PEERS) ## Run the official conformance suite against our server and our client
	$(BIN)/python -m scripts.conformance

everywhere: $(PEERS) ## Call one tool from every client there is, and write the table in docs/everywhere.md
	$(BIN)/python -m scripts.everywhere

peers: $(PEERS) ## Install the npm packages that we are tested against

chaos: $(VENV) ## Kill replicas at random while people and clients are at work (ROUNDS=20)
	MIDCALL_CHAOS_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/chaos tests/server/running/test_handover_model.py -s $(PYTEST_ARGS)

fuzz: $(VENV) ## Run random tools in every way there is to ask (PROGRAMS=1000), and draw all that is random anew
	MIDCALL_FUZZ=$(PROGRAMS) $(BIN)/python -m pytest -m hypothesis tests $(PYTEST_ARGS)

hostile: $(VENV) ## Attack the client side in every way there is (make test does it in one)
	MIDCALL_HOSTILE=full $(BIN)/python -m pytest -n auto --dist worksteal tests/client/test_hostile*.py $(PYTEST_ARGS)

suites: $(VENV) ## Run the suites of the SDK and FastMCP with midcall in every server (SUITES_ARGS="mcp -k trio")
	$(BIN)/python -m scripts.suites $(SUITES_ARGS)

services: ## Install and start PostgreSQL and Redis where they are missing
	scripts/services.sh

browser: ## Install Chromium and tmux where they are missing
	scripts/browser.sh

docs: $(VENV) ## Check the links of the docs, and their snippets against docs_src/
	$(BIN)/python -m scripts.check_docs

pictures: $(VENV) ## Draw the pictures of the docs anew: forms, line prompts, and pages (with Chromium)
	$(BIN)/python -m scripts.picture
	$(BIN)/python -m scripts.terminal_picture
	$(BIN)/python -m scripts.browser_picture

wheel: $(VENV) ## Build the sdist and the wheel into dist/
	$(BIN)/python -m build --no-isolation --outdir dist .

clean: ## Remove what was built or installed here
	rm -rf .venv .suites dist build peers/node_modules .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "midcall needs Python 3.11 or newer: make venv PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(PEERS): peers/package.json scripts/install_peers.sh $(VENV)
	scripts/install_peers.sh
	@touch $@
