# A thin door to meson: every configuration lives in a directory of its own.
#
#   make               release build, leaves build/isoproof and build/libisoproof.{a,so}
#   make static        build-static/isoproof, one file with every library inside; SQLite is its only database with a client library
#   make debug         build-debug, no optimization
#   make asan          build-asan, AddressSanitizer and UndefinedBehaviorSanitizer, unit tests run
#   make tsan          build-tsan, ThreadSanitizer, tests of threads run; make tsan-all for all unit tests
#   make coverage      build-coverage, tests run, report by gcovr
#   make fuzz          the libFuzzer targets of build-asan (clang); FUZZ_SECONDS each (default 5)
#   make fuzz-long     the same, 60 seconds each
#   make test          everything that scripts/test runs; make test-quick for the quick tier
#   make check-style   clang-format, clang-tidy, cppcheck
#   make format        clang-format -i
#   make bench         build-bench and the fast benchmark; make bench-load for the one of 10 million operations,
#                      make bench-weak for the weak levels on histories of up to 50 million operations,
#                      make bench-strong for the strong levels on histories of up to a million transactions,
#                      make bench-hard for the strong levels with many sessions or few reads,
#                      make bench-rows for histories of rows beside registers,
#                      make bench-causal for the causal axiom with up to 100,000 sessions,
#                      make bench-live for the live checker, fed by the simulator and by an endless stream,
#                      make bench-elle for dependencies as Elle infers them, from EDN,
#                      make bench-solver for the solver,
#                      make bench-sweep for which shapes of histories are not decided in a minute, and a heat map
#   make distinguish   searches anew for the smallest histories that tell levels apart (minutes); rewrites
#                      src/level/distinctions.def, and docs/lattice.md with its pictures
#   make figures       measures the evaluations of five papers anew; rewrites the pictures and tables of docs/evaluation.md
#   make web           build/web/index.html, the page that checks histories in a browser (emscripten); docs/web.md
#   make install       PREFIX (default /usr/local) and DESTDIR are honoured
#   make clean         removes every build directory

PREFIX ?= /usr/local
DESTDIR ?=
# Warnings stop every build but the release one, which users make with compilers that we have not met.
WERROR ?= false
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 5
MESON ?= meson
CLANG ?= clang
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
CPPCHECK ?= cppcheck

# Builds under sanitizers: -O1 and line tables, which take less than half as long to make as -O2 with everything that a
# debugger could ask for; what sanitizers see and say is the same.
SANITIZED = -Dbuildtype=plain -Doptimization=1 -Db_lundef=false -Dmanuals=false

C_FILES = $(shell find include src cli mpi tests examples bench -name '*.[ch]' 2>/dev/null | sort)
TIDY_FILES = $(shell find src cli mpi examples bench -name '*.c' 2>/dev/null | sort)

release: build/build.ninja
	$(MESON) compile -C build -j $(JOBS)

build/build.ninja:
	$(MESON) setup build --prefix=$(PREFIX) -Dwerror=$(WERROR)

# glibc: Debian has the archives of the other libraries for no other.  Libraries cannot be loaded at run time.
static: build-static/build.ninja
	$(MESON) compile -C build-static -j $(JOBS) isoproof:executable

build-static/build.ninja:
	$(MESON) setup build-static --prefix=$(PREFIX) -Dwerror=$(WERROR) -Dlinking=static -Dprefer_static=true \
	  -Dauto_features=disabled -Dsqlite=enabled -Dtests=false

debug: build-debug/build.ninja
	$(MESON) compile -C build-debug -j $(JOBS)

build-debug/build.ninja:
	$(MESON) setup build-debug --werror -Dbuildtype=debug -Dmanuals=false

asan: build-asan/build.ninja
	$(MESON) compile -C build-asan -j $(JOBS)
	$(MESON) test -C build-asan --suite unit --num-processes $(JOBS) --timeout-multiplier 4

# With clang, unit tests and fuzz targets share one library: to build it twice would take longer than all of its unit tests.
build-asan/build.ninja:
	if command -v $(CLANG) >/dev/null; then export CC=$(CLANG); set -- -Dfuzz=true; else set --; fi; \
	  $(MESON) setup build-asan --werror $(SANITIZED) -Dc_args="-g1 -fno-sanitize-recover=all" \
	    -Db_sanitize=address,undefined "$$@"

tsan: build-tsan/build.ninja
	$(MESON) compile -C build-tsan -j $(JOBS)
	$(MESON) test -C build-tsan --suite threads --num-processes $(JOBS) --timeout-multiplier 4

tsan-all: build-tsan/build.ninja
	$(MESON) compile -C build-tsan -j $(JOBS)
	$(MESON) test -C build-tsan --suite unit --num-processes $(JOBS) --timeout-multiplier 10

build-tsan/build.ninja:
	$(MESON) setup build-tsan --werror $(SANITIZED) -Dc_args=-g1 -Db_sanitize=thread

coverage: build-coverage/build.ninja
	$(MESON) compile -C build-coverage -j $(JOBS)
	$(MESON) test -C build-coverage --num-processes $(JOBS) --timeout-multiplier 4
	mkdir -p build-coverage/report
	gcovr --root . --filter src/ --filter cli/ build-coverage --print-summary \
	  --txt build-coverage/report/summary.txt --html-details build-coverage/report/index.html
	@echo "report: build-coverage/report/index.html"

build-coverage/build.ninja:
	$(MESON) setup build-coverage --werror -Dbuildtype=debug -Db_coverage=true -Dmanuals=false

fuzzers: build-asan/build.ninja
	ninja -C build-asan -j $(JOBS) fuzzers

fuzz: release fuzzers
	./scripts/fuzz $(FUZZ_SECONDS)

fuzz-long: release fuzzers
	./scripts/fuzz 60

test:
	./scripts/test

test-quick:
	./scripts/test --quick

check-style: check-format check-cppcheck check-tidy

check-format:
	$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

check-cppcheck:
	$(CPPCHECK) -j $(JOBS) --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	  --inline-suppr --suppressions-list=.cppcheck-suppressions -D_GNU_SOURCE -DISOPROOF_VERSION='"0"' \
	  -Iinclude -Isrc -I. src cli mpi examples bench

# Where the headers of the client libraries of databases are.
DRIVER_FLAGS = $(shell pkg-config --cflags sqlite3 libpq libmariadb odbc hiredis libcurl ompi-c 2>/dev/null)

check-tidy:
	printf '%s\n' $(TIDY_FILES) | xargs -P $(JOBS) -I FILE $(CLANG_TIDY) --quiet FILE -- -std=gnu11 -D_GNU_SOURCE \
	  -DISOPROOF_VERSION='"0"' -Iinclude -Isrc -I. $(DRIVER_FLAGS)

format:
	$(CLANG_FORMAT) -i $(C_FILES)

build-bench/build.ninja:
	$(MESON) setup build-bench -Dbench=true -Dtests=false -Dmanuals=false

bench-programs: build-bench/build.ninja
	$(MESON) compile -C build-bench -j $(JOBS)

bench: bench-programs
	build-bench/bench/load --txns 100000

bench-load: bench-programs
	build-bench/bench/load

bench-elle: bench-programs
	build-bench/bench/elle

bench-weak: bench-programs
	build-bench/bench/weak

bench-strong: bench-programs
	build-bench/bench/strong

bench-hard: release
	bench/hard

bench-rows: bench-programs
	build-bench/bench/rows

bench-causal: bench-programs
	build-bench/bench/causal

bench-live: bench-programs
	build-bench/bench/live

bench-solver: bench-programs
	build-bench/bench/solver

# Two threads at most: more would share caches and memory, and the seconds would say less.
bench-sweep: release
	bench/sweep --jobs $(if $(filter 1,$(JOBS)),1,2)

distinguish: release
	$(MESON) compile -C build -j $(JOBS) tests/distinguish
	build/tests/distinguish > build/distinctions.def
	mv build/distinctions.def src/level/distinctions.def
	$(MESON) compile -C build -j $(JOBS)
	scripts/lattice

figures: release
	bench/figures/figures

web:
	src/browser/build build/web

install: release
	$(MESON) configure build -Dprefix=$(PREFIX)
	DESTDIR="$(abspath $(DESTDIR))" $(MESON) install -C build

clean:
	rm -rf build build-static build-debug build-asan build-tsan build-coverage build-bench

.PHONY: release static debug distinguish asan tsan tsan-all coverage fuzzers fuzz fuzz-long test test-quick check-style check-format check-cppcheck \
  check-tidy format bench-programs bench bench-load bench-elle bench-weak bench-strong bench-hard bench-rows bench-causal bench-live \
  bench-solver bench-sweep figures web install clean
