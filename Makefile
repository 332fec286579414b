# Everything that the README and CI call. Works with plain python3 and pip; uses uv when it is there.

PYTHON ?= python3
VENV   ?= $(CURDIR)/.venv
FUZZ_SECONDS ?= 60
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
# What tests and the demo need; `pip install florc` itself needs none of it.
NEEDS  := torch numpy scikit-learn tqdm xgboost-cpu lightgbm duckdb uniplot tensorboard pandas pytest pytest-xdist
# What builds and checks.
TOOLS  := maturin ruff==0.17.6 mypy==2.4.1
ifdef UV
INSTALL  := $(UV) pip install --quiet --python $(BIN)/python
COMPILED := --compile-bytecode
AGAIN    := --reinstall
else
INSTALL  := $(BIN)/python -m pip install --quiet --disable-pip-version-check
AGAIN    := --force-reinstall
endif
# Tests start processes and wait for them, for disks and for pipes: two more than cores keep the cores busy.
TEST_WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 2)

# `make` sets a variable that cargo would take for a jobserver which maturin does not pass on.
unexport MAKEFLAGS

.PHONY: demo test test-quick test-rest test-trainers test-trackers test-ui ui-pictures test-whole test-versions test-rust test-python setup wheel exactness corpus fuzz bench bench-compiler bench-calls bench-checkpoint bench-record bench-background bench-programs bench-materialize bench-replay bench-restore test-gpu bench-gpu test-all test-ray torture lint clean mutants programs

demo: ## record, add a log statement, replay
	@$(MAKE) --no-print-directory --question $(VENV)/.wheel || $(MAKE) --no-print-directory -j2 $(VENV)/.quick
	@$(BIN)/python tools/demo.py

test: test-rust test-quick ## what a change is tried with, in minutes: of each test one case, and what catches seeded bugs

test-rust:
	cargo test --workspace --quiet

test-quick: setup
	cd pyruntime && $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal --part quick

test-rest: setup ## the other cases: make test and this are what every change must pass
	cd pyruntime && $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal --part rest

test-python: setup ## both
	cd pyruntime && $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal

exactness: setup ## script x probe position: exact or not, and how much faster than re-running
	@$(BIN)/python tools/exactness.py

corpus: setup ## every Python file that is installed, through the compiler; CORPUS names folders
	@$(BIN)/python tools/corpus.py $(CORPUS)

fuzz: ## mutated inputs for FUZZ_SECONDS; what fails is kept in compiler/tests/found
	FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$$(date +%s) cargo test --quiet --package florc --test mutations -- --nocapture

bench: ## the compiler over the standard library, stage by stage
	cargo bench --quiet --package florc

bench-compiler: setup ## florc, ast.parse + ast.unparse, and LibCST on the same files
	cargo build --release --quiet --package florc
	$(INSTALL) libcst
	@$(BIN)/python tools/bench_compiler.py "$$(cargo metadata --format-version 1 --no-deps | $(BIN)/python -c \
	  'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release/florc"

bench-calls: setup ## what an iteration, a passed block and a printed line cost a script that is recorded
	@$(BIN)/python tools/bench_calls.py --write

bench-checkpoint: setup ## processor time of a checkpoint, all processes together: florc and others
	$(INSTALL) cloudpickle safetensors
	@$(BIN)/python tools/bench_checkpoint.py --write

bench-record: setup ## the example scripts alone and recorded: overhead, measured and printed; which blocks are kept
	@$(BIN)/python tools/bench_record.py --write

bench-background: setup ## histograms four times an epoch: no log, SummaryWriter, florc.background, a thread
	@$(BIN)/python tools/bench_background.py --write

bench-programs: setup ## programs whose training is in a library (make test-trainers installs them): what florc costs, and gains
	@$(BIN)/python tools/bench_programs.py --write

bench-materialize: setup ## stall, slowdown, time to durable, bytes and memory of a checkpoint: florc's engines and others
	$(INSTALL) cloudpickle safetensors
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python tools/bench_materialize.py --write

bench-replay: setup ## does replay time grow with the epochs; how it scales, from recorded times (RUNS names runs) and the real cut
	@$(BIN)/python tools/scaling.py $(RUNS)
	@$(BIN)/python tools/latency.py --write
	@$(BIN)/python tools/two_workers.py --write

bench-restore: setup ## what a restored epoch costs a replay, against reading what it needs; FLORC names another build (NAME=FOLDER)
	@$(BIN)/python tools/bench_restore.py --write $(if $(FLORC),--florc $(FLORC))

# These build and install nothing: GPU_PYTHON has torch and pytest, the wheel is in target/wheels (make wheel).
GPU_PYTHON ?= $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON))

test-gpu: ## what needs CUDA: staging, states, a training recorded and replayed
	@$(GPU_PYTHON) tools/on_gpu.py test

bench-gpu: ## stall and time to durable of 1 GB on the device: florc, torch.save, a thread over copies, DCP
	@$(GPU_PYTHON) tools/on_gpu.py bench --write

programs: setup ## programs made at random, what they answer and what florc calls it; PROGRAMS=0:2000
	@$(BIN)/python tools/programs.py $(PROGRAMS)

test-ray: setup ## replay on a Ray cluster that the test starts
	$(INSTALL) ray
	cd pyruntime && $(BIN)/python -m pytest tests/test_on_ray.py

test-trainers: setup ## programs whose training is in a library, or is called by one: transformers, Lightning, Keras, typer, hydra, …
	$(INSTALL) transformers accelerate trl datasets lightning keras stable-baselines3 gymnasium optuna timm
	$(INSTALL) typer fire click jsonargparse hydra-core absl-py sacred "ray[tune]" 'setuptools<81' nbclient ipykernel matplotlib
	cd pyruntime && $(BIN)/python -m pytest tests/replay/test_trainers.py tests/replay/test_split_loops.py tests/replay/test_entry_points.py tests/replay/test_ray_trials.py \
	  tests/replay/test_notebooks.py tests/replay/test_pages.py tests/replay/test_page_of_trainers.py

test-trackers: setup ## experiment trackers, each with its own package, offline; what they stored is read back
	$(INSTALL) tensorboardX mlflow sqlalchemy alembic wandb trackio lightning comet_ml neptune aim "setuptools<70" wheel
	$(INSTALL) --no-build-isolation visdom # whose build asks for pkg_resources
	cd pyruntime && $(BIN)/python -m pytest tests/test_trackers*.py tests/test_tracker_packages.py

test-ui: setup chromium ## the page of florc ui, its server and in a Chromium without a window
	$(INSTALL) selenium
	cd pyruntime && $(BIN)/python -m pytest tests/test_ui.py tests/test_ui_browser.py

ui-pictures: setup chromium ## docs/ui/*.png, drawn anew
	$(INSTALL) selenium pillow
	cd pyruntime && FLORC_PICTURES=$(CURDIR)/docs/ui $(BIN)/python -m pytest tests/test_ui_browser.py -k pictures

.PHONY: chromium
chromium: # Debian's, where apt may install it; without it the tests in a browser are skipped
	@{ command -v chromium && command -v chromedriver; } >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get install --yes --quiet chromium chromium-driver; } || \
	  echo "there is no Chromium here: apt install chromium chromium-driver"

torture: setup ## a fault at every single file operation of a recorded run, once and for good; 5,000 changes of a store
	cd pyruntime && FLORC_TORTURE=1 $(BIN)/python -m pytest tests/faults tests/store

test-all: lint test-rust test-whole test-trainers test-trackers test-ui corpus programs mutants ## every test, every installed file through the compiler, 2,000 programs made at random, every seeded bug

test-whole: setup ## every Python test, each process started anew, the example scripts in full length with each probe alone
	cd pyruntime && FLORC_COLD=1 FLORC_FULL=1 $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist worksteal

test-versions: setup ## the tests of commands with every Python from 3.10 on that is found here
	@$(BIN)/python tools/versions.py

mutants: setup ## seeded bugs, one after the other, that the tests must catch; MUTANTS names some
	@$(BIN)/python tools/mutants.py $(MUTANTS)

lint: $(VENV)/.tools ## format, lints, types, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	cd pyruntime && $(BIN)/mypy
	cd tools && $(BIN)/mypy --config-file mypy.ini .

# The two long halves side by side: torch is downloaded while the wheel is compiled.
setup: ## a virtual environment with torch, and florc built into it
	@$(MAKE) --no-print-directory -j2 $(VENV)/.wheel

wheel: $(VENV)/.wheel

$(VENV)/.tools: Makefile
ifdef UV
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif
	$(INSTALL) $(TOOLS)
	@touch $@

$(VENV)/.needs: $(VENV)/.tools
	$(INSTALL) $(COMPILED) $(NEEDS)
	@touch $@

SOURCES := $(shell find compiler/src pyruntime/src pyruntime/python Cargo.toml Cargo.lock compiler/Cargo.toml \
             pyruntime/Cargo.toml pyruntime/pyproject.toml -type f -not -name '*.pyc')

target/wheels/.built: $(VENV)/.tools $(SOURCES)
	rm -rf target/wheels
	$(BIN)/maturin build --release --quiet --manifest-path pyruntime/Cargo.toml --out target/wheels
	@touch $@

$(VENV)/.wheel: $(VENV)/.needs target/wheels/.built
	$(INSTALL) $(COMPILED) $(AGAIN) --no-deps target/wheels/florc-*.whl
	@rm -f $(VENV)/.quick
	@touch $@

# A first look does not wait for link-time optimization.
target/quick-wheels/.built: $(VENV)/.tools $(SOURCES)
	rm -rf target/quick-wheels
	$(BIN)/maturin build --profile quick --quiet --manifest-path pyruntime/Cargo.toml --out target/quick-wheels
	@touch $@

$(VENV)/.quick: $(VENV)/.needs target/quick-wheels/.built
	$(INSTALL) $(COMPILED) $(AGAIN) --no-deps target/quick-wheels/florc-*.whl
	@rm -f $(VENV)/.wheel
	@touch $@

clean:
	rm -rf target .venv .demo
