# Every target sets up what it needs; running one twice is quick.
SHELL := /bin/bash
PYTHON := .venv/bin/python
STAMP := .venv/.deskhand-setup

.PHONY: setup demo test unit system check cores bench soak format clean

setup: $(STAMP)

$(STAMP): pyproject.toml deploy/bootstrap
	./deploy/bootstrap
	@touch $@

demo: setup
	.venv/bin/deskhand demo $(DEMO_ARGS)

# The tests of a file share its desktop, so a file stays in one process.
test: setup
	$(PYTHON) -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile

unit: setup
	PYTHONASYNCIODEBUG=1 $(PYTHON) -m pytest --ignore=tests/system

system: setup
	$(PYTHON) -m pytest tests/system

check: setup
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

# Each pure module, branches too, by its own test file alone.
cores: setup
	$(PYTHON) -m scripts.cores

format: setup
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: setup
	$(PYTHON) -m bench

soak: setup
	@for script in bench/soak_*.py; do name=$$(basename $$script .py); echo "== $$name"; \
		$(PYTHON) -m bench.$$name || exit 1; done

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
