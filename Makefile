# Every target sets up what it needs; running one twice is quick.
SHELL := /bin/bash
PYTHON := .venv/bin/python
STAMP := .venv/.deskhand-setup
DEMO := .venv/.deskhand-demo
INTEROP := .venv-interop/.deskhand-setup
PROGRAMS := .venv-programs/.deskhand-setup
LONG_PROGRAMS := .venv-programs/.deskhand-setup-full
PAGES := scripts/pages
SITE_TOOLS := .venv-docs/.deskhand-setup
PAGE_TOOLS := $(PAGES)/node_modules/.deskhand-setup

# Tests without the marker of another target.
QUICK := not (soak or attack or interop or live or eval or cluster or faults or programs or full)

# Without cached bytecode every service and every test worker would compile all of its modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo container test unit system check cores bench soak attack executed cluster faults postgresql eval interop programs live soak-scripts distributions docs format clean environments shake long stored full lowest

setup: $(STAMP)

$(STAMP): pyproject.toml deploy/bootstrap
	./deploy/bootstrap
	@touch $@

# All that the targets of a landing install, and the bytecode of all tests, which otherwise each worker
# would compile.
environments: setup $(PAGE_TOOLS) $(SITE_TOOLS) $(INTEROP) $(PROGRAMS)
	$(PYTHON) -m pytest --collect-only --quiet --quiet > /dev/null

# Without the developers' tools; where they are installed, nothing is missing.
demo: $(DEMO)
	.venv/bin/deskhand demo $(DEMO_ARGS)

$(DEMO): pyproject.toml deploy/bootstrap
	@if [ $(STAMP) -nt pyproject.toml ] && [ $(STAMP) -nt deploy/bootstrap ]; \
		then echo "deskhand setup: nothing is missing"; else ./deploy/bootstrap demo; fi
	@touch $@

# Most tests wait for something, so there are more workers than cores. Each has its own desktop.
test: setup
	$(PYTHON) -m pytest --numprocesses=4 --dist=worksteal --durations=10 -m "$(QUICK)"

unit: setup
	PYTHONASYNCIODEBUG=1 $(PYTHON) -m pytest --ignore=tests/system -m "$(QUICK)"

system: setup
	$(PYTHON) -m pytest tests/system -m "$(QUICK)"

check: setup $(PAGE_TOOLS)
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/node $(PAGES)/node_modules/typescript/bin/tsc --project $(PAGES)

$(PAGE_TOOLS): $(PAGES)/package-lock.json | setup
	PATH="$(CURDIR)/.venv/bin:$$PATH" npm ci --prefix $(PAGES) --no-audit --no-fund
	@touch $@

# Each pure module, branches too, by its own test file alone.
cores: setup
	$(PYTHON) -m scripts.cores

# The site of the documentation, in `site/`. A warning is an error.
docs: $(SITE_TOOLS)
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict

$(SITE_TOOLS): pyproject.toml | setup
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check $$($(PYTHON) -c \
		"import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'])")
	@touch $@

format: setup
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: setup $(INTEROP)
	$(PYTHON) -m bench

# Tests that are long or run many processes; most of them wait.
soak: setup $(PAGE_TOOLS) $(SITE_TOOLS)
	$(PYTHON) -m pytest --numprocesses=4 --dist=worksteal --durations=10 -m "soak and not full"

# Attacks by an agent on real desktops, as root.
attack: setup
	$(PYTHON) -m pytest --numprocesses=4 --dist=worksteal --durations=10 -m "attack and not full"

# Tests that other targets run on forked desktops, on executed ones: `deskhand desktop` is executed.
executed: setup
	DESKHAND_TEST_EXECUTED=1 $(PYTHON) -m pytest --numprocesses=3 --dist=worksteal --durations=10 \
		-m "x11 and not attack" \
		$(patsubst %,tests/system/test_desktop_%.py,isolation leaks release supervision)

# Several control planes on one PostgreSQL, whole deployments with Ray and nodes, and their faults.
# Most of them wait. A group of tests shares what one worker has started (tests/cluster/groups.py).
cluster: setup
	$(PYTHON) -m pytest --numprocesses=3 --dist=loadgroup --durations=10 \
		-m "(cluster or faults) and not full"

# The faults alone.
faults: setup
	$(PYTHON) -m pytest --durations=10 -m "faults and not full"

# The tests of the store on PostgreSQL.
postgresql: setup
	$(PYTHON) -m pytest --postgresql --numprocesses=4 --dist=worksteal --durations=10 -m "not soak and not full" \
		tests/tools/store

# Those of all that is stored, on PostgreSQL.
stored: setup
	$(PYTHON) -m pytest --postgresql --numprocesses=4 --dist=worksteal --durations=10 -m "not soak"

# `deskhand eval`, and a packaged task of each kind by its oracle and its wrong script. One test at a
# time for each worker, as two of them take most of the time and must not wait for each other.
eval: setup
	$(PYTHON) -m pytest --numprocesses=3 --dist=load --maxschedchunk=1 --durations=10 -m "eval and not full"

# Clients of other makers, in a virtual environment of their own. Writes docs/clients.md.
interop: setup $(INTEROP)
	DESKHAND_INTEROP_REPORT=docs/clients.md $(PYTHON) -m pytest --numprocesses=3 --dist=loadscope \
		--durations=10 -m "interop and not full" tests/interop

$(INTEROP): pyproject.toml scripts/make_interop_environment.py | setup
	$(PYTHON) -m scripts.make_interop_environment

# Programs of other makers on one desktop, which all tests share.
programs: setup $(PROGRAMS)
	$(PYTHON) -m pytest --durations=10 -m "programs and not full" tests/programs

$(PROGRAMS) $(LONG_PROGRAMS): pyproject.toml scripts/install_programs.py tests/programs/sources/Editor.java | setup
	$(PYTHON) -m scripts.install_programs $(if $(findstring full,$@),--full)
	@touch $@

# The tests that a change adds or touches since BASE, 20 times in random order beside busy loops;
# or those of SHAKE.
shake: setup
	$(PYTHON) -m scripts.shake $(if $(BASE),--base $(BASE)) $(SHAKE)

# What is long and not needed for each landing, of all markers. Writes the suites of docs/clients.md.
long: environments $(LONG_PROGRAMS)
	DESKHAND_SUITE_REPORT=docs/clients.md $(PYTHON) -m pytest --numprocesses=3 --dist=worksteal --durations=10 -m "full and not live"

# What a release needs: the targets of a landing and the long ones. Writes docs/release-run.md.
full: environments
	$(PYTHON) -m scripts.run_targets landing
	$(PYTHON) -m scripts.run_targets release --write docs/release-run.md

# The quick tests with the lowest versions of all packages that pyproject.toml permits.
lowest: setup
	$(PYTHON) -m scripts.lowest $(LOWEST)

# Ten steps with each real provider whose key is set; costs a few cents.
live: setup
	$(PYTHON) -m pytest -m live tests/live

# The image of deploy/container with the demo in it, where a Docker daemon answers.
container: setup
	$(PYTHON) -m scripts.container

# Measurements that run for minutes each.
soak-scripts: setup
	@for script in bench/soak_*.py; do name=$$(basename $$script .py); echo "== $$name"; \
		$(PYTHON) -m bench.$$name || exit 1; done

# Set-up, demo and unit tests in fresh systems of Debian 12 and 13. Needs root and debootstrap.
distributions: setup
	$(PYTHON) -m scripts.distributions

clean:
	rm -rf .venv .venv-interop .venv-programs .venv-lowest .venv-docs site .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
