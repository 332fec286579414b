# Everything that the README and CI call. Works with plain python3 and pip; uses uv when it is there.

PYTHON ?= python3
VENV   ?= $(CURDIR)/.venv
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
# What tests and the demo need; `pip install florc` itself needs none of it.
NEEDS  := torch numpy scikit-learn tqdm pytest maturin

# `make` sets a variable that cargo would take for a jobserver which maturin does not pass on.
unexport MAKEFLAGS

.PHONY: demo test test-rust test-python setup wheel exactness lint clean

demo: setup ## record, add a log statement, replay
	@$(BIN)/python tools/demo.py

test: test-rust test-python ## every test

test-rust:
	cargo test --workspace --quiet

test-python: setup
	cd pyruntime && $(BIN)/python -m pytest

exactness: setup ## script x probe position: exact or not, and how much faster than re-running
	@$(BIN)/python tools/exactness.py

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

setup: $(VENV)/.needs $(VENV)/.wheel ## a virtual environment with torch, and florc built into it

wheel: $(VENV)/.wheel

$(VENV)/.needs: Makefile
ifdef UV
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python $(NEEDS)
else
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(NEEDS)
endif
	@touch $@

SOURCES := $(shell find compiler/src pyruntime/src pyruntime/python Cargo.toml Cargo.lock compiler/Cargo.toml \
             pyruntime/Cargo.toml pyruntime/pyproject.toml -type f -not -name '*.pyc')

$(VENV)/.wheel: $(VENV)/.needs $(SOURCES)
	rm -rf target/wheels
	$(BIN)/maturin build --release --quiet --manifest-path pyruntime/Cargo.toml --out target/wheels
ifdef UV
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --reinstall --no-deps target/wheels/florc-*.whl
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/florc-*.whl
endif
	@touch $@

clean:
	rm -rf target .venv .demo
