# SPDX-License-Identifier: MIT

# The arrows between targets are checked by the compiler.
SWIFT_FLAGS = --explicit-target-dependency-import-check error
PRODUCT = .build/release/nanostore

.PHONY: help setup demo test cases bench bench-million bench-graph bench-postgres docs format lint clean
.PHONY: reliability crash power-loss failing-calls damage programs concurrency limits black-box fuzz tsan asan
help:
	@echo "make demo    installs what is missing, builds the command line tool and shows it at work"
	@echo "make test    runs all tests"
	@echo "make cases   runs the acceptance cases, of the folder NANOSTORE_CASES if that is set"
	@echo "make bench   measures against raw SQLite and GRDB, and fills in the README's table"
	@echo "make bench-graph  the same for objects in a context"
	@echo "make bench-postgres  measures PostgreSQL against SQLite, with a server that it starts and removes"
	@echo "make reliability   tries what docs/RELIABILITY.md promises; crash, power-loss, failing-calls, damage,"
	@echo "             programs, concurrency, limits: one of the trials, and its figures"
	@echo "make black-box  tries the command line tool from outside, with Python and its SQLite as witnesses, for"
	@echo "             BLACK_BOX_SECONDS (900)"
	@echo "make fuzz    looks for input that breaks a promise, each target for FUZZ_SECONDS (60)"
	@echo "make tsan, make asan  trials and tests with a sanitizer"
	@echo "make docs    makes the reference as web pages"
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

bench-postgres: setup
	@scripts/setup-server
	@scripts/bench-postgres

# Each trial is bounded, and puts its figures into docs/RELIABILITY.md.
reliability: crash power-loss failing-calls damage programs concurrency limits black-box

crash: setup
	@scripts/stress crash --kills 500 --seconds 1500

power-loss: setup
	@scripts/stress power-loss --losses 10000 --seconds 1500

# Every place of every call but allocations, and some hundreds of those.
failing-calls: setup
	@scripts/stress failing-calls --places 700 --seconds 3000

damage: setup
	@scripts/stress damage --mutations 25000 --seconds 3000

programs: setup
	@scripts/stress programs --count 100000 --minutes 30

concurrency: setup
	@scripts/stress concurrency --tasks 8 --processes 3 --seconds 60

limits: setup
	@scripts/stress limits

BLACK_BOX_SECONDS ?= 900
black-box: setup
	@scripts/black-box --seconds $(BLACK_BOX_SECONDS)

fuzz: setup
	@scripts/fuzz

docs: setup
	@scripts/docs

tsan: setup
	@scripts/sanitize thread

asan: setup
	@scripts/sanitize address

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Fuzzing Examples

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks Fuzzing Examples

clean:
	swift package clean
	rm -rf Benchmarks/.build Fuzzing/.build Fuzzing/.work Examples/*/.build
