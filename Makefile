# SPDX-License-Identifier: MIT

# The arrows between targets are checked by the compiler.
SWIFT_FLAGS = --explicit-target-dependency-import-check error
PRODUCT = .build/release/nanostore

.PHONY: help setup demo test cases bench bench-million bench-graph docs format lint programs concurrency \
	tsan asan clean
help:
	@echo "make demo    installs what is missing, builds the command line tool and shows it at work"
	@echo "make test    runs all tests"
	@echo "make cases   runs the acceptance cases, of the folder NANOSTORE_CASES if that is set"
	@echo "make bench   measures against raw SQLite and GRDB, and fills in the README's table"
	@echo "make bench-graph  the same for objects in a context"
	@echo "make docs    makes the reference as web pages"
	@echo "make programs     plays 100,000 random programs, for half an hour at most"
	@echo "make concurrency  uses one file from many tasks of many processes for a minute"
	@echo "make tsan, make asan  trials and tests with a sanitizer"
	@echo "make format  formats the source"

setup:
	@scripts/setup

demo: setup
	swift build $(SWIFT_FLAGS) -c release --product nanostore
	@Examples/demo.sh $(PRODUCT)

test: setup
	@scripts/test

cases: setup
	@scripts/test --filter CaseTests

bench: setup
	@scripts/bench

bench-million: setup
	@scripts/bench --documents 1000000

bench-graph: setup
	@scripts/bench --graph

docs: setup
	@scripts/docs

TRIALS = .build/release/nanostore-trials

programs: setup
	swift build $(SWIFT_FLAGS) -c release --product nanostore-trials
	$(TRIALS) programs --count 100000 --minutes 30

concurrency: setup
	swift build $(SWIFT_FLAGS) -c release --product nanostore-trials
	$(TRIALS) concurrency --tasks 8 --processes 3 --seconds 60

tsan: setup
	@scripts/sanitize thread

asan: setup
	@scripts/sanitize address

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Examples

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Examples

clean:
	swift package clean
	rm -rf Benchmarks/.build Examples/*/.build
