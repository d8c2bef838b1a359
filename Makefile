# One command for all checks: `make check`. CI runs the same one (.ci/run).
PYTHON ?= python
PYTEST = $(PYTHON) -m pytest -n 2 --dist loadfile

.PHONY: check check-slow format lint types layers test constraints paper

check: lint types layers test

format:
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

layers:
	lint-imports

test:
	$(PYTEST)

# What takes minutes or a large package: pip install -c constraints.txt -e '.[test-slow]' first.
check-slow:
	$(PYTEST) -m slow

# The whole paper, with its journal in build/paper: goes on where it was stopped.
paper:
	$(PYTHON) -m fairpatch.bench paper --out build/paper

# Pin what is installed now. torch is pinned without the suffix of its CPU build.
constraints:
	$(PYTHON) -m pip freeze --exclude-editable --exclude fairpatch | sed 's/+cpu$$//' > constraints.txt
