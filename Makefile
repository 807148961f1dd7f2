# Needs only python3 (3.11 or newer) with venv and pip. Everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
# Tests wait for sockets and clocks a quarter of their time: one worker more than cores.
WORKERS ?= $(shell expr $(JOBS) + 1)
COUNT ?= 300
DEMO_S ?= 3600
UV ?= uv

.PHONY: demo test test-other-processor quick nightly conformance bench bench-camera bench-rods bench-franka bench-startup bench-ros bench-softfoot bench-softfoot_robots audit mutants lint docs gallery scenes setup clean lock

setup: $(VENV)/.code

# install EXTRA into the environment, which is made if it is not there.
define install
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "pliant needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed: on Debian and Ubuntu run: apt-get install python3-venv"; exit 1; }
	@echo "installing pliant into $(VENV), which takes one to three minutes ..."
	@PLIANT_PRECOMPILE=none $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[$(1)]'
	@touch $@
endef

$(STAMP): pyproject.toml requirements.lock
	$(call install,test)

# Machine code that many tests need, on all cores and each function once; what changes later is compiled where it is used.
$(VENV)/.code: $(STAMP)
	@echo "compiling laws, arms and rods on $(JOBS) cores, which takes two to three minutes ..."
	@printf '%s\n' '2PR paths' 'fr3 models biped' 'tendons tubes' laws | xargs -P $(JOBS) -L 1 $(BIN)/python hatch_build.py
	@touch $@

# The demonstration needs 0.7 GB, the tests 2 GB.
$(VENV)/.reproduce: pyproject.toml requirements.lock
	$(call install,reproduce)

$(VENV)/.demo: $(VENV)/.reproduce
	@$(BIN)/pliant run fr3 --duration 0.01 --bridge fci:port=0,gripper_port=0 >/dev/null # compiles the arms' functions, with a bar
	@touch $@

# In a terminal the page is served until Ctrl-C. Elsewhere make ends, and the page stays for an hour.
demo: $(VENV)/.demo
	$(BIN)/pliant reproduce viactors-step --output demo
	@echo "report: file://$(CURDIR)/demo/index.html"
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/pliant view qbmove-5dof --tour --report demo --open; else \
	timeout $(DEMO_S) $(BIN)/pliant view qbmove-5dof --tour --report demo >demo/page.log 2>&1 </dev/null & page=$$!; \
	until sed -n 's/^\(view: http[^ ]*\).*/\1/p' demo/page.log | grep .; do kill -0 $$page 2>/dev/null || { cat demo/page.log; exit 1; }; sleep 0.2; done; \
	echo "the page is served by process $$page for $(DEMO_S) s; to end it earlier, type: kill $$page"; fi

# Tests start hundreds of processes: what Python compiles is kept for them, whatever the shell says.
test quick nightly conformance: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.code
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests

# The tests of the core, and of the rooms that differ from main.
quick: $(STAMP)
	$(BIN)/python tests/helpers/quick.py $(BASE) -- -n $(JOBS) --dist worksteal

# The tests as on a processor without AVX2 and FMA, where sums and sines end in other digits: none may depend on them.
test-other-processor: export GLIBC_TUNABLES = glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4
test-other-processor: export OPENBLAS_CORETYPE = Sandybridge
test-other-processor: export NPY_DISABLE_CPU_FEATURES = X86_V3
test-other-processor: export NUMBA_CPU_NAME = generic
test-other-processor: export NUMBA_CPU_FEATURES =
test-other-processor: test

# The cases of exhaustive tests that `make test` leaves out (CONTRIBUTING.md lists them).
nightly: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m nightly tests

# Breaks the source COUNT times and prints which share the mirrored tests notice; goes on where it ended. Not part of .ci/run.
mutants: $(STAMP)
	$(BIN)/python tests/helpers/mutants.py --count $(COUNT) --output build/mutants.jsonl

# The real clients of the robots against the simulation; each skips with a message where its parts are not there.
# Those that are marked `alone` compare counts of messages that two busy processes send each other: they come last.
conformance: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'not alone' conformance
	$(BIN)/python -m pytest -m alone conformance

# Needs the network; not a stage of .ci/run, since an audit that cannot be made must fail and not pass.
audit:
	$(PYTHON) .ci/audit.py

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

# The other rooms: cameras, parallel robots, Franka, ROS, the SoftFoot. Some need the real clients or middleware.
bench-camera bench-rods bench-franka bench-startup bench-ros bench-softfoot bench-softfoot_robots: bench-%: $(STAMP)
	$(BIN)/python benchmarks/$*.py

$(VENV)/.lint: $(STAMP) tests/helpers/mujoco_types.py
	$(call install,lint)
	@$(BIN)/python tests/helpers/mujoco_types.py typings # MuJoCo ships no types

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/helpers/check_types.py --threads $(JOBS)

$(VENV)/.docs: $(STAMP)
	$(call install,docs)

docs: $(VENV)/.docs docs/playable/scenes.json
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The playable 3D scenes of the gallery; two minutes of one core the first time.
scenes docs/playable/scenes.json: $(STAMP)
	$(BIN)/python tests/helpers/scenes.py

# Half an hour of one core, most of it for the experiments; needs a graphics library (EGL).
gallery: $(STAMP)
	$(BIN)/python tests/helpers/gallery.py robots
	$(BIN)/pliant reproduce all --quick --output build/gallery
	$(BIN)/python tests/helpers/gallery.py experiments build/gallery
	$(BIN)/python tests/helpers/gallery.py page
	$(BIN)/python tests/helpers/real_actuators.py
	$(BIN)/python tests/helpers/scenes.py

# Pins stay as they are; `make lock UPGRADE=1` takes the newest of all. pip refuses hashes in constraints of an
# editable install, so requirements.lock has none: requirements-hashed.lock is the same with the hashes of every file.
LOCK := $(UV) pip compile --quiet --universal --all-extras --python-version 3.11 --no-annotate --no-header --no-emit-index-url --no-emit-find-links

lock:
	$(LOCK) $(if $(UPGRADE),--upgrade) pyproject.toml --output-file requirements.lock
	$(LOCK) --generate-hashes --constraint requirements.lock pyproject.toml --output-file requirements-hashed.lock

clean:
	rm -rf $(VENV) demo site .ruff_cache build dist
