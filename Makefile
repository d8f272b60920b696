# One entry for each thing that a person does. `make demo` and `make test` start from nothing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test live-offline check format lock clean

demo: $(VENV)/.runtime
	$(BIN)/farm run ops/examples/quickstart/sweep.yaml

test: $(VENV)/.dev
	-sh ops/agents.sh .farm/agents/    # without them their live tests are skipped at home, and fail in CI
	-sh ops/vitest.sh .farm/vitest      # likewise
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4

live-offline: $(VENV)/.dev
	$(BIN)/python ops/bench/live_offline.py $(LIVE)    # some minutes; LIVE="PROVEN --keep FOLDER" for one, and its files

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.runtime: requirements/runtime.lock pyproject.toml ops/bootstrap.sh
	PYTHON=$(PYTHON) sh ops/bootstrap.sh runtime
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml ops/bootstrap.sh
	PYTHON=$(PYTHON) sh ops/bootstrap.sh dev
	touch $@ $(VENV)/.runtime

lock:
	echo "setuptools>=77" | uv pip compile -q - -o requirements/build.lock
	uv pip compile -q --extra local --extra pytest pyproject.toml -o requirements/runtime.lock
	uv pip compile -q --extra attest --extra litellm --extra local --extra pytest --group dev pyproject.toml -o requirements/dev.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
