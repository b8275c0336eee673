# Needs Python 3.11 or newer, git and make; everything else is put into .venv.
#   make demo [REPO=/path]   the story, then this repository's (or that one's) own history
#   make test                lint, types and all tests        make quick   the tests that take no time
#   make train               the ranking models anew, with their figures (needs the public data: GRAPHMEM_DATA)
#   make coverage            all tests, and which branches they reach (takes half as long again)
# PYTHON=/path/to/python chooses the interpreter, PYTEST_ARGS="-k word" the tests.

VENV := .venv
BIN := $(VENV)/bin
REPO ?=
PYTEST_ARGS ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

# What is set for other projects must not reach into this one's environment.
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX

.PHONY: help demo test coverage quick lint types evaluate train clean
.DEFAULT_GOAL := help

help:
	@sed -n '2,6s/^# \{0,1\}//p' Makefile

demo: $(VENV)/runtime.stamp
	@$(BIN)/graphmem demo $(if $(REPO),"$(REPO)")
	@echo "(Here the program is $(BIN)/graphmem.)"

test: lint types
	@$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

coverage: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal --cov= --cov-report=term $(PYTEST_ARGS)

quick: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal -m "not slow" $(PYTEST_ARGS)

lint: $(VENV)/dev.stamp
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

types: $(VENV)/dev.stamp
	@$(BIN)/python -m mypy

evaluate: $(VENV)/runtime.stamp
	@$(BIN)/graphmem evaluate git "$(or $(REPO),.)"

train: $(VENV)/dev.stamp
	@$(BIN)/python -m bench.making build/training
	@$(BIN)/python -m bench.train --cache build/training

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis htmlcov .coverage .coverage.*

# The stamps say what is installed; a newer pyproject.toml, or an interpreter that is gone, installs again.
ifneq ($(shell $(BIN)/python -c "print(1)" 2>/dev/null),1)
$(shell rm -f $(VENV)/*.stamp)
endif

$(VENV)/runtime.stamp: pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(MAKE) --no-print-directory $(VENV)
	@echo "Installing GraphMem into $(VENV) (the first time: a minute or two)"
	@$(PIP) -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/runtime.stamp
	@echo "Adding what the tests need to $(VENV)"
	@$(PIP) -e ".[dev]"
	@touch $@

.PHONY: $(VENV)
$(VENV):
	@set -eu; found=; bare=; \
	for candidate in "$(PYTHON)" python3.13 python3.12 python3.11 python3.14 python3 python; do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  if "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$candidate; break; fi; \
	  bare=$${bare:-$$candidate}; \
	done; \
	if [ -z "$$found$$bare" ]; then \
	  echo "GraphMem needs Python 3.11 or newer and none was found: install one, or name it with PYTHON=/path/to/python." >&2; \
	  exit 1; \
	elif [ -z "$$found" ]; then \
	  echo "$$bare can't make a virtual environment, as its venv part is not installed:" \
	    "install the package python3-venv (or its like), then run make again." >&2; \
	  exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$found" -V)"; \
	"$$found" -m venv --clear $(VENV)
