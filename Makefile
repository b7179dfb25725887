# All tasks of the project. `make` lists the targets; each creates .venv and installs what it needs.
#
# Settings, each with its default:
#   PYTHON=python3       the interpreter that .venv is made from, 3.11 or later
#   PYTEST_ARGS=         more arguments for pytest, such as PYTEST_ARGS="-k framing -x"
#   BENCH_ARGS=          more arguments for the benchmark
#   FUZZ_SECONDS=600     how long `make fuzz` takes, all targets together
#   FUZZ_CC, FUZZ_CXX    the clang that has libFuzzer

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
WHEELS_ARGS ?=
FUZZ_SECONDS ?= 600
FUZZ_CC ?= clang
FUZZ_CXX ?= clang++

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# Only errors are shown, not which index lacks a package or how old pip is.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
# cmake, ninja and the linters come from the virtual environment, whatever the machine has.
export PATH := $(CURDIR)/$(BIN):$(PATH)

CPP_FILES := $(shell find cpp -name '*.h' -o -name '*.cc')
CORE_SOURCES := CMakeLists.txt cpp/CMakeLists.txt third_party/zlib-ng/CMakeLists.txt \
  $(filter-out cpp/tests/% cpp/fuzz/%,$(CPP_FILES))
# Neither the C++ tests nor the fuzzers need Python or nanobind. They are compiled with -O1, which takes two thirds of
# the time of -O3. The Python tests use the core as compiled with -O3.
CMAKE_WITHOUT_PYTHON := cmake --log-level=WARNING -S . -G Ninja -DRECORDSMITH_BINDINGS=OFF \
  -DRECORDSMITH_WARNINGS_AS_ERRORS=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1'

##@ Using it

demo: $(STAMPS)/core $(STAMPS)/demo  ## Make, check, repair, train and explain, on a small dataset with deliberate errors
	rm -rf build/demo
	$(BIN)/recordsmith demo build/demo

bench: $(STAMPS)/core $(STAMPS)/bench $(STAMPS)/peers  ## Compare with TensorFlow and others: table, JSON and chart
	$(BIN)/python -m bench $(BENCH_ARGS)

##@ Working on it

build: $(STAMPS)/core  ## Build the native core and install the package, editable, into .venv

# A worker that crashes is not replaced: pytest-xdist would lose track of its files, and hide which test it was.
test: $(STAMPS)/core $(STAMPS)/test test-cpp  ## Run all tests: C++, Python, docstrings and documents
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --max-worker-restart 0 $(PYTEST_ARGS)

# What takes too long for every change: sweeps and random chains by the hundred thousand. Run before an issue is closed.
proof: $(STAMPS)/core $(STAMPS)/test  ## Run the slow proofs, which `make test` leaves out
	$(BIN)/python -m pytest -m proof -o faulthandler_timeout=7200 --numprocesses auto --maxprocesses 4 $(PYTEST_ARGS)

test-cpp: $(STAMPS)/build  ## Build and run the C++ tests, without Python
	$(CMAKE_WITHOUT_PYTHON) -B build/test-cpp -DRECORDSMITH_TESTS=ON -DCMAKE_C_FLAGS='-O1 -g1'
	cmake --build build/test-cpp -- --quiet
	ctest --test-dir build/test-cpp/cpp --output-on-failure --no-tests=error --parallel $$(nproc)

# One build for both: the C++ tests and the fuzzers, by clang, under the address and undefined-behaviour sanitizers.
define build_sanitized
	cpp/fuzz/require_clang.sh $(FUZZ_CC) $(FUZZ_CXX)
	$(CMAKE_WITHOUT_PYTHON) -B build/sanitize -DRECORDSMITH_TESTS=ON -DRECORDSMITH_FUZZERS=ON \
	  -DCMAKE_C_COMPILER=$(FUZZ_CC) -DCMAKE_CXX_COMPILER=$(FUZZ_CXX) \
	  -DRECORDSMITH_SANITIZE=fuzzer-no-link,address,undefined -DCMAKE_C_FLAGS='-O1 -g1 -fsanitize=fuzzer-no-link,address'
	cmake --build build/sanitize -- --quiet
endef

sanitize: $(STAMPS)/build  ## Run the C++ tests under the address and undefined-behaviour sanitizers
	$(build_sanitized)
	ctest --test-dir build/sanitize/cpp --output-on-failure --no-tests=error --parallel $$(nproc)

fuzz: $(STAMPS)/build  ## Fuzz the parsers with libFuzzer and sanitizers for FUZZ_SECONDS
	$(build_sanitized)
	$(BIN)/python cpp/fuzz/make_seeds.py build/fuzz-corpus
	$(BIN)/python cpp/fuzz/run_fuzzers.py build/sanitize/cpp/fuzz build/fuzz-corpus --seconds $(FUZZ_SECONDS)

# Debian's g++-aarch64-linux-gnu and qemu-user-static. On ARM, `char` has no sign and other vector code is compiled.
# xxHash without its own vector code, which loads from any address on purpose.
test-arm: $(STAMPS)/build  ## Run the C++ tests on emulated ARM, under the undefined-behaviour sanitizer
	$(CMAKE_WITHOUT_PYTHON) -B build/test-arm -DRECORDSMITH_TESTS=ON -DRECORDSMITH_SANITIZE=undefined \
	  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_C_FLAGS='-O1 -g1' -DCMAKE_CXX_FLAGS='-O1 -g1 -DXXH_VECTOR=0' \
	  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	  '-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64-static;-L;/usr/aarch64-linux-gnu'
	cmake --build build/test-arm -- --quiet
	ctest --test-dir build/test-arm/cpp --output-on-failure --no-tests=error --parallel $$(nproc)

lint: $(STAMPS)/core $(STAMPS)/test $(STAMPS)/lint  ## Check style, types and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)

docs: $(STAMPS)/core $(STAMPS)/docs  ## Build the documentation into build/site; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

format: $(STAMPS)/lint  ## Format Python and C++, and fix what ruff can fix
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_FILES)

##@ Releasing it

# Minutes, and Debian's mmdebstrap besides what test-arm needs.
wheels: $(STAMPS)/core $(STAMPS)/release test-arm  ## Build dist/: source, wheels for x86-64 and ARM, bill of materials; test them
	$(BIN)/python -m release.build_wheels
	$(BIN)/python -m release.bill_of_materials > dist/recordsmith.cdx.json
	$(BIN)/python -m release.try_wheels $(WHEELS_ARGS)

reproducible: $(STAMPS)/core $(STAMPS)/release  ## Build the wheel for x86-64 twice, in two folders, and compare the bytes
	CCACHE_DISABLE=1 $(BIN)/python -m release.build_wheels --processor x86_64 --work build/one --into build/one/dist
	CCACHE_DISABLE=1 $(BIN)/python -m release.build_wheels --processor x86_64 --work build/another/place --into build/another/dist
	for file in build/one/dist/*; do cmp $$file build/another/dist/$$(basename $$file) || exit 1; done
	sha256sum build/one/dist/*

lowest: $(STAMPS)/build $(STAMPS)/release  ## Build and test with the lowest versions that pyproject.toml allows
	$(BIN)/python -m release.try_lowest

##@ Tidying up

clean:  ## Remove .venv, builds and caches
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find bench cpp docs src tests -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: demo bench build test proof test-cpp sanitize fuzz test-arm lint docs format wheels reproducible lowest clean help

# Stamps: each stands for one installation into .venv, and is redone when what it was made from has changed. --------

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Recordsmith needs Python 3.11 or later; name one with PYTHON=...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --upgrade 'pip>=25.1'  # the first with --group
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/build $(STAMPS)/demo $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs $(STAMPS)/bench $(STAMPS)/release: $(STAMPS)/%: pyproject.toml | $(STAMPS)/venv
	@echo 'Installing what "$*" needs into $(VENV); the first time takes minutes.'
	$(PIP_INSTALL) --group $*
	touch $@

# Peers for loading from object stores, without what they require: both want torchvision, whose wheel on PyPI is for
# CUDA, and one of them an older transformers. What the benchmark uses of them needs only the small packages after them.
$(STAMPS)/peers: pyproject.toml $(STAMPS)/bench
	$(PIP_INSTALL) --no-deps 'litdata==0.2.*' 'mosaicml-streaming==0.13.*' \
	  tifffile Brotli catalogue cramjam python-snappy xxhash zstd
	touch $@

# Without build isolation, so that cmake and nanobind stay where they are and only what changed is compiled again.
$(STAMPS)/core: pyproject.toml $(CORE_SOURCES) $(STAMPS)/build
	$(PIP_INSTALL) $$($(BIN)/python -c \
	  'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@echo 'Building the native core.'
	$(PIP_INSTALL) --no-build-isolation --editable .
	touch $@
