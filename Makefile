# SPDX-License-Identifier: MIT

# The compiler checks the dependencies between targets.
SWIFT_FLAGS = --explicit-target-dependency-import-check error
PRODUCT = .build/debug/nanostore

.PHONY: help setup demo inspect sync-demo test cases api bench bench-million bench-graph bench-growth bench-mixed bench-cold bench-postgres bench-import bench-attachments bench-inspect bench-sync
.PHONY: docs format lint clean reliability crash power-loss failing-calls damage programs concurrency isolation limits sync-schedules black-box browser
.PHONY: fuzz tsan asan foreign-clients
help:
	@echo "make demo            builds the command-line tool and runs it on sample data"
	@echo "make inspect         builds the inspector and opens it on the sample of make demo"
	@echo "make test            builds everything and runs all tests"
	@echo "make cases           runs the acceptance cases, from the folder NANOSTORE_CASES if it is set"
	@echo "make api             writes the lists of the public API, which a test compares, into the folder API"
	@echo "make setup           installs missing build dependencies; demo, test and the other targets run it first"
	@echo "make bench           benchmarks against SQLite's C API and GRDB; fills in docs/PERFORMANCE.md and the README"
	@echo "make bench-million   the same with 1,000,000 documents"
	@echo "make bench-graph     the same for object graphs"
	@echo "make bench-growth    measures 10,000 to 1,000,000 documents (scripts/bench-growth 10000000: ten million)"
	@echo "make bench-mixed     measures readers beside a writer against GRDB"
	@echo "make bench-cold      measures opening a large file in a new process, and memory"
	@echo "make bench-postgres  benchmarks PostgreSQL against SQLite on a temporary server"
	@echo "make sync-demo       synchronizes two devices through a server"
	@echo "make bench-inspect   measures the inspector on 1,000,000 documents; fills in docs/INSPECTOR.md"
	@echo "make bench-sync      measures synchronization through a server; fills in docs/SYNC.md"
	@echo "make bench-import    imports a generated CSV file of 2 GB; prints speed and peak memory"
	@echo "make bench-attachments  writes and reads an attachment of 2 GB; prints speed and peak memory"
	@echo "make reliability     runs all stress and fault-injection tests; fills in docs/RELIABILITY.md"
	@echo "make crash, power-loss, failing-calls, damage, programs, concurrency, isolation, limits, sync-schedules"
	@echo "                     runs one of them"
	@echo "make black-box       tests the command-line tool from Python for BLACK_BOX_SECONDS (900)"
	@echo "make browser         tests the inspector in a browser, also on 1,000,000 documents"
	@echo "make foreign-clients tests the sync server with PouchDB in a browser and with CouchDB-Python"
	@echo "make fuzz            fuzzes each target for FUZZ_SECONDS (60)"
	@echo "make tsan, asan      runs stress tests and tests with ThreadSanitizer or AddressSanitizer"
	@echo "make docs            builds the web documentation and checks the links of its articles"
	@echo "make format, lint    formats the source, or reports unformatted source"
	@echo "make clean           removes build products"

setup:
	@scripts/setup

# Not optimized, and without the trait LegacyImport, which is enabled by default and needs swift-crypto: a first run is mostly building.
demo: setup
	swift build $(SWIFT_FLAGS) --disable-default-traits --product nanostore
	@Examples/demo.sh $(PRODUCT)

# With both programs in one folder, nanostore inspect finds the inspector.
inspect: setup
	swift build $(SWIFT_FLAGS) --disable-default-traits --product nanostore
	swift build $(SWIFT_FLAGS) --disable-default-traits --product nanostore-inspector
	@Examples/inspect.sh $(PRODUCT)

test: setup
	@scripts/test

api: setup
	swift build --build-tests $(SWIFT_FLAGS)
	NANOSTORE_WRITE_API=1 swift test --skip-build --filter PublicAPITests

cases: setup
	@scripts/test --filter CaseTests

bench: setup
	@scripts/bench

bench-million: setup
	@scripts/bench --documents 1000000

bench-graph: setup
	@scripts/bench --graph

bench-growth: setup
	@scripts/bench-growth

bench-mixed: setup
	@scripts/bench --mixed

bench-cold: setup
	@scripts/bench --cold --memory

bench-postgres: setup
	@scripts/setup-server
	@scripts/bench-postgres

bench-import: setup
	@scripts/bench-import

sync-demo: setup
	@swift build --explicit-target-dependency-import-check error --product nanostore-server
	@swift build --explicit-target-dependency-import-check error --product example-sync
	@sh Examples/sync.sh .build/debug

bench-attachments: setup
	@scripts/bench-attachments 2000

bench-inspect: setup
	@scripts/bench-inspect

bench-sync: setup
	@scripts/bench-sync

# Each stress test is bounded by a count or time, and fills in its results in docs/RELIABILITY.md.
reliability: crash power-loss failing-calls damage programs concurrency isolation limits sync-schedules black-box browser

crash: setup
	@scripts/stress crash --kills 500 --seconds 1500

power-loss: setup
	@scripts/stress power-loss --losses 10000 --seconds 1500

# Up to 700 calls of each kind: every call except allocations, of which 700 are chosen at random.
failing-calls: setup
	@scripts/stress failing-calls --places 700 --seconds 5400

damage: setup
	@scripts/stress damage --mutations 25000 --seconds 3000

programs: setup
	@scripts/stress programs --count 100000 --minutes 30

concurrency: setup
	@scripts/stress concurrency --tasks 8 --processes 3 --seconds 60

# More than 10,000 transactions of 16 clients on PostgreSQL, in about 8 minutes.
isolation: setup
	@scripts/setup-server
	NANOSTORE_ROUNDS=13 NANOSTORE_REQUIRE_POSTGRES=1 scripts/test --filter SerializabilityTests

# Random schedules of replicas that write and synchronize, directly and through a faulty network, and processes that are killed
# while they do: 10,000 of each kind of schedule, for at most SYNC_SECONDS. SYNC_SEED selects others.
SYNC_SECONDS ?= 2400
SYNC_SEED ?= 0
sync-schedules: setup
	NANOSTORE_SYNC_SCHEDULES=10000 NANOSTORE_SYNC_KILLS=500 NANOSTORE_SYNC_SECONDS=$(SYNC_SECONDS) NANOSTORE_SYNC_SEED=$(SYNC_SEED) \
	scripts/test --filter 'RandomScheduleTests|NetworkScheduleTests|KilledSyncTests'

limits: setup
	@scripts/stress limits

BLACK_BOX_SECONDS ?= 900
black-box: setup
	@scripts/black-box --seconds $(BLACK_BOX_SECONDS)

browser: setup
	@scripts/setup-browser
	swift build $(SWIFT_FLAGS) --product nanostore
	swift build $(SWIFT_FLAGS) --product nanostore-inspector
	swift build $(SWIFT_FLAGS) --product nanostore-server
	@scripts/browser --long

foreign-clients: setup
	@scripts/setup-foreign-clients
	swift build $(SWIFT_FLAGS) --product nanostore
	swift build $(SWIFT_FLAGS) --product nanostore-server
	@scripts/foreign-clients --verbose

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
