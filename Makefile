# Two commands do everything: `make serve` and `make test`. Both set up .venv and node_modules first, once.
PORT ?= 8000
PYTHON := .venv/bin/python
SET_UP := .venv/.installed node_modules/.installed

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help serve build test test-unit test-js test-build test-page lint bench browser lock clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

serve: build ## build the site and serve it (PORT=8000)
	@$(PYTHON) -m building.serve dist $(PORT)

build: $(SET_UP) ## build dist/
	@$(PYTHON) build.py

test: lint test-unit test-js test-build test-page ## every check and test

test-unit: $(SET_UP) ## the package
	$(PYTHON) -m pytest -q -n 2 tests/unit

test-js: $(SET_UP) ## the page's JavaScript, without a browser
	node --test "tests/js/**/*.test.js"

test-build: build ## the build and what it made
	$(PYTHON) -m pytest -q tests/build

test-page: build browser ## the built page, in a browser
	$(PYTHON) -m pytest -q -n 2 --dist loadfile tests/page

lint: $(SET_UP) ## style and types, Python and JavaScript
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m mypy
	node_modules/.bin/tsc
	node_modules/.bin/biome ci

bench: .venv-bench/.installed build browser ## time gradients side by side with other ways to have them
	.venv-bench/bin/python -m benchmarks.gradients
	$(PYTHON) -m benchmarks.page

browser: $(SET_UP) ## the Chromium for the tests, if there is none
	@$(PYTHON) -m building.browser

lock: $(SET_UP) ## refresh requirements.lock and package-lock.json from pyproject.toml and package.json
	@tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && "$$tools/bin/pip" install -q uv && \
	"$$tools/bin/uv" pip compile pyproject.toml --extra build --extra test --universal --python-version 3.12 --upgrade \
	  --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links -q -o requirements.lock
	npm install --package-lock-only

clean: ## remove what the build and the set-up made; .cache/ stays, for it holds only verified downloads
	rm -rf dist .venv .venv-bench node_modules test-results .mypy_cache .pytest_cache .ruff_cache .hypothesis

# A stamp is newer than what it was made from; a changed lock makes it stale.
.venv/.installed: requirements.lock pyproject.toml
	@test -x $(PYTHON) || { $(find_python); "$$found" -m venv .venv; }
	@$(PYTHON) -m pip install -q --require-hashes -r requirements.lock
	@$(PYTHON) -m pip install -q --no-deps --no-build-isolation --no-index -e .
	@touch $@

.venv-bench/.installed: pyproject.toml
	@test -x .venv-bench/bin/python || { $(find_python); "$$found" -m venv .venv-bench; }
	@.venv-bench/bin/python -m pip install -q -e '.[bench]'
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc | .venv/.installed
	@npm ci --loglevel=error
	@touch $@

# Each candidate is run, because a pyenv shim may be on the path and yet refuse to start.
define find_python
found=; pyenv="$${PYENV_ROOT:-$$(pyenv root 2>/dev/null || echo ~/.pyenv)}"; \
for python in python3.14 python3.13 python3.12 python3 \
    "$$pyenv"/versions/*/bin/python3.14 "$$pyenv"/versions/*/bin/python3.13 "$$pyenv"/versions/*/bin/python3.12; do \
  if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; \
  then found="$$python"; break; fi; \
done; \
test -n "$$found" || { \
  echo 'No Python 3.12 or newer (with its venv module) was found: install one and run make again.' >&2; exit 1; }
endef
