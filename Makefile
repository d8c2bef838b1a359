# One command for all checks: `make check`. CI runs the same one (.ci/run).
PYTHON ?= python
# One thread each: two workers whose threads wait for each other took hours
PYTEST = OMP_NUM_THREADS=1 $(PYTHON) -m pytest -n 2 --dist loadfile --durations=15
# compiled modules are kept: hundreds of commands are started, and each would compile everything
unexport PYTHONDONTWRITEBYTECODE

.PHONY: attack check check-slow constraints docs faults figures format house installs layers links lint lock lowest mutants newest \
	paper prose quick release sbom scale schemas spelling static test timing types watch workflows

check: static test

# What runs no test, each on one core: `make -j2 static`, as CI does.
static: lint types layers spelling docs

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

spelling:
	codespell *.md docs src tests benchmarks

# The site in build/docs; its examples run, and warnings are errors.
docs:
	OMP_NUM_THREADS=1 MPLBACKEND=agg $(PYTHON) -m sphinx -W --keep-going -q -b html docs build/docs

# What is drawn from the code and from printed figures, after a change to either.
house:
	$(PYTHON) docs/house.py
	$(PYTHON) docs/figures/draw.py

# The pages as prose; the site's links (those to elsewhere are the nightly workflow's).
# pip install -c constraints.txt --group release first, for these and for what follows.
prose:
	$(PYTHON) docs/prose.py

links:
	linkchecker --no-status --no-warnings --ignore-url='^https?:' build/docs/index.html

# The workflows: their schemas, and what could be abused in them.
workflows:
	check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	zizmor --offline --quiet --config .github/zizmor.yml .github
	check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

# A release as a dry run: build, check, install in an empty environment, walk the three doors.
release:
	.ci/release

# Sizes and times of the documented installs, into docs/install-sizes.md.
installs:
	$(PYTHON) docs/installs.py

# The oldest versions that we say we support, and the newest there are; PYTHON=python3.13 make newest
lowest:
	.ci/versions lowest-direct

newest:
	.ci/versions highest

# The schemas of what we write, after a change to its types.
schemas:
	$(PYTHON) -c "from fairpatch.cli.config import schema; print(schema(), end='')" > docs/config.schema.json
	$(PYTHON) -c "from fairpatch.patch import schema; print(schema(), end='')" > docs/patch.schema.json
	$(PYTHON) -c "from fairpatch.report.summary import schema; print(schema(), end='')" > docs/review.schema.json

# Tables of 100 million rows, and Spark with executors that are killed: half an hour, 20 GB.
scale:
	$(PYTHON) -m benchmarks scale --out build/scale
	$(PYTEST) -m cluster

# What the pages print, where the code behind it has changed: hours, in parts. make figures ONLY="scale cost"
figures:
	$(PYTHON) docs/figures/made.py $(ONLY)

# For a contributor, after each change: below a minute of processor time.
quick: lint layers
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -q -m quick tests

# Every known fault, planted: a test must notice each of them.
faults:
	$(PYTHON) tests/faults.py

# The whole attack, about two hours: a million files, servers, kills, disclosure. Debian's packages
# postgresql and mariadb-server, and pip install -c constraints.txt -e . --group attack first.
attack:
	FAIRPATCH_ATTACK=1 FAIRPATCH_ATTACK_FILES=1000000 OMP_NUM_THREADS=1 $(PYTHON) -m pytest -n 2 --dist loadfile \
		--timeout=14400 -m "attack or not attack" tests/attack

# Faults made at random: draws 300, half an hour. pip install -c constraints.txt -e . --group mutants first.
mutants:
	$(PYTHON) tests/mutants.py

# Fifteen paths against the commit before, in the same run: fails where one is half as slow again.
watch:
	$(PYTHON) -m benchmarks watch

# Times compared in one run: alone on the machine.
timing:
	$(PYTHON) -m pytest -m timing

# What takes minutes or a large package: pip install -c constraints.txt -e . --group test-slow first.
check-slow:
	$(PYTEST) -m "slow and not cluster"

# The whole paper, with its journal in build/paper: goes on where it was stopped.
paper:
	$(PYTHON) -m benchmarks paper --out build/paper

# The pinned versions with their hashes, which CI installs from.
lock:
	.ci/lock

# What fairpatch is made with, as CycloneDX. pip install -c constraints.txt --group sbom first.
sbom:
	mkdir -p build
	$(PYTHON) -m cyclonedx_py requirements requirements.lock --pyproject pyproject.toml -o build/sbom.json

# Pin what is installed now. torch is pinned without the suffix of its CPU build.
constraints:
	$(PYTHON) -m pip freeze --exclude-editable --exclude fairpatch | sed 's/+cpu$$//' > constraints.txt
