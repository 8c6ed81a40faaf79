# SPDX-License-Identifier: BSD-3-Clause
#
# make             build ./hq and ./libhqpreload.so in the tree
# make demo        install what is missing, build, record an MPI + OpenMP program, find what is wrong with it
# make check       install what is missing, build, run every test (`make help` lists the rest)
#
# A room is a directory; its files are found by wildcard, so a new file needs no change here.
# Variables: PREFIX DESTDIR CC CFLAGS LDFLAGS V=1 (show commands), SAN=1 (AddressSanitizer and UBSan,
# in build-san/), WERROR=1 (a warning is an error), DEPS=no (install nothing), JOBS=N, T="FILE..." (for test).

VERSION = 0.2.0
PREFIX ?= /usr/local
DESTDIR ?=
DEPS ?= yes
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CFLAGS ?= -O2 -g
.DEFAULT_GOAL = all

# ---- Debian packages: the only list -------------------------------------------------------------------------------
PACKAGES_build = gcc libc6-dev make pkg-config libdwarf-dev libpcre2-dev libreadline-dev libzydis-dev/libcapstone-dev \
  libiberty-dev libzstd-dev liblzma-dev zlib1g-dev libpapi-dev libyajl-dev libexpat1-dev esbuild
PACKAGES_test = libunwind-dev hpcc openmpi-bin libopenmpi-dev mpich libmpich-dev libc6-dbg python3 sqlite3 xz-utils zstd g++ gfortran \
  x264 dav1d aom-tools musl-tools clang libomp-dev clang-format llvm dwz redis-server openssl perl valgrind git zsh gdb strace mergerfs fuse3 locales \
  libxml2-utils chromium chromium-driver python3-selenium node-typescript python3-jsonschema \
  ocl-icd-opencl-dev opencl-headers pocl-opencl-icd clinfo gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
PACKAGES_collector = $(if $(SUFFIX),$(CROSS:%-=gcc-%) libc6-dev-arm64-cross,gcc libc6-dev) make
# Without libc6-dbg the demonstration finds an address of libm in the place of exp.
PACKAGES_demo = $(PACKAGES_build) openmpi-bin libopenmpi-dev libc6-dbg
PACKAGES_all = $(PACKAGES_build) $(PACKAGES_test)
PACKAGES_soak = libpython3.11-testsuite/libpython3.13-testsuite bzip2 nodejs
PACKAGES_package = debhelper lintian rpm
PACKAGES_bench = golang-go google-perftools libgoogle-perftools-dev heaptrack linux-perf

# ---- The processor: a folder of unwind/arch/ and of preload/arch/ ---------------------------------------------------
HOST := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ARCH ?= $(HOST)
ifneq ($(ARCH),$(HOST))
# make ARCH=aarch64: what records there, by a cross compiler, as `make collector` has it.
CROSS ?= $(ARCH)-linux-gnu-
override CC := $(CROSS)gcc
AR := $(CROSS)ar
COLLECTOR = 1
SUFFIX = -$(ARCH)
endif
# Instructions that are replaced (hq record --mark), and copies of stacks (--by=perf), are those of one processor.
OTHER_ARCH = $(if $(filter x86_64,$(ARCH)),%/walk_none.c,preload/patch/% %/perf/walk.c)

# ---- Where things are built ---------------------------------------------------------------------------------------
ifdef COLLECTOR
# `make collector`: its result is a directory that may be copied anywhere.
BUILD = build/collector$(SUFFIX)
HQ = build/hq-collector$(SUFFIX)/bin/hq
LIB = build/hq-collector$(SUFFIX)/lib/hq/
else ifdef SAN
BUILD ?= build-san
HQ = $(BUILD)/hq
SAN_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
else
BUILD ?= build
HQ = hq
endif
PRELOAD = $(if $(SAN),,$(addprefix $(LIB),libhqpreload.so libhqexact.so libhqmpi.so libhqgpu.so))
Q = $(if $(V),,@)
WARNINGS = -Wall -Wextra -Wshadow -Werror=implicit $(if $(WERROR),-Werror)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

# ---- Sources ------------------------------------------------------------------------------------------------------
ROOMS = common format unwind structure db query repl
MAIN = $(if $(COLLECTOR),repl/record_only.c,repl/main.c)
# Debian has a compiler for each; elsewhere there is one mpicc, and only that of Open MPI knows -showme.
MPI_KINDS = $(or $(foreach k,openmpi mpich,$(if $(shell command -v mpicc.$k),$k)),$(if $(HAVE_MPI),$(if $(shell mpicc -showme:version 2>/dev/null),openmpi,mpich)))
MPI_SHIMS = $(MPI_KINDS:%=libhqmpi-%.so)
# Files that need an optional package are left out without it.
SKIP = db/mpi/% $(if $(HAVE_PAPI),,preload/sources/papi%) $(if $(HAVE_ZYDIS),%/insn_capstone.c,%/insn_zydis.c) \
  $(if $(HAVE_YAJL),%/json_none.c,%/json_yajl.c) $(if $(HAVE_EXPAT),%/xml_none.c,%/xml_expat.c) $(if $(HAVE_READLINE),%/readline_none.c,%/readline.c) \
  %/record_only.c %/unpack_none.c
# What `hq record` consists of, and needs of other rooms: nothing here sees a library but that of C.
RECORD_SRC = $(wildcard common/*.c unwind/*.c unwind/arch/$(ARCH)/*.c db/perf/*.c) $(filter-out repl/record/marks.c,$(wildcard repl/record/*.c)) \
  $(addprefix repl/,cmd_record.c command.c gate/repeat.c gate/runs.c gate/watch.c) \
  $(addprefix db/,binaries.c cpu_clock.c elsewhere.c generated.c generated_name.c measurement.c perf_map.c runtimes.c sources.c unmeasured.c) \
  $(addprefix structure/,elf.c elf_kind.c unpack_none.c)
HQ_SRC = $(if $(COLLECTOR),$(filter-out $(OTHER_ARCH),$(RECORD_SRC)),$(filter-out $(MAIN) $(SKIP) $(OTHER_ARCH),$(wildcard $(ROOMS:=/*.c) $(ROOMS:=/*/*.c) unwind/arch/$(ARCH)/*.c)))
# preload/exact is a library of its own, loaded only for events such as ALLOC.
EXACT_SRC = $(wildcard preload/exact/*.c)
# preload/mpi likewise, for -e MPI. It needs no MPI to be built: libhqmpi-*.so are something else.
MPI_SRC = $(wildcard preload/mpi/*.c)
# preload/gpu for -e GPU; it needs nothing of OpenCL to be built.
GPU_SRC = $(wildcard preload/gpu/*.c)
PRELOAD_SRC = $(filter-out $(SKIP) $(EXACT_SRC) $(MPI_SRC) $(GPU_SRC) $(OTHER_ARCH), \
  $(wildcard preload/*.c preload/*/*.c preload/arch/$(ARCH)/*.c))
# What the collector and the builder of databases share is compiled for each.
UNWIND_SRC = $(wildcard unwind/*.c unwind/arch/$(ARCH)/*.c)
EXPORTS = $(wildcard preload/exports.map)
UNIT_SRC = $(filter-out $(if $(HAVE_ZYDIS),,%/insn_quick_test.c %/machine_test.c) $(if $(HAVE_EXPAT),,%/given_fuzz_test.c) \
  $(if $(HAVE_YAJL),,%/import_json_test.c),$(wildcard tests/unit/*_test.c))
# Parts of a test program that is too long for one file stand in a folder of its name.
TEST_LIB_SRC = $(filter-out %_test.c,$(wildcard tests/unit/*.c)) $(wildcard tests/tools/*/*.c)
TOOL_SRC = $(wildcard tests/tools/*.c)
PROGRAM_SRC = $(filter-out $(if $(HAVE_MPI),,tests/programs/mpi_%) $(if $(HAVE_OPENCL),,tests/programs/opencl_% tests/programs/libopencl_%),$(wildcard $(addprefix tests/programs/*.,c cc f90)))

# ---- Configuration: which libraries there are ---------------------------------------------------------------------
# Not for the targets that must work before anything is installed; check and demo start a second make after deps.
NO_CONFIG = help deps deps-% check demo bench fuzz soak clean uninstall dist deb rpm tarball check-in collector
ifneq ($(filter-out help deps deps-% clean uninstall,$(or $(MAKECMDGOALS),all)),)
ifeq ($(wildcard $(BUILD)/config.mk)$(shell mkdir -p $(BUILD) 2>/dev/null; test -w $(BUILD) && echo may),)
$(error hq is built in its source tree, and $(abspath $(BUILD)) cannot be written to: copy the tree and run make in the copy)
endif
endif
ifneq ($(filter-out $(NO_CONFIG),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

# It looks again when packages have come or gone, and when it is to choose otherwise.
.PHONY: always
$(BUILD)/config.mk: common/configure.sh $(BUILD)/choices $(wildcard /var/lib/dpkg/status)
	$(Q)CC='$(CC)' common/configure.sh $(BUILD) $(VERSION) $(if $(COLLECTOR),collector)
$(BUILD)/config.h: $(BUILD)/config.mk ;

LIBRARIES = DWARF YAJL EXPAT ZLIB ZSTD LZMA ZYDIS CAPSTONE IBERTY PCRE2 READLINE
HQ_LIBS = -Wl,--as-needed $(foreach l,$(LIBRARIES),$($l_LIBS)) -lpthread -lm -ldl -lrt
PRELOAD_LIBS = -Wl,--as-needed -ldl -lrt -lpthread
# PAPI is opened at run time, only when a PAPI event is asked for: its header is all that is needed here.
INCLUDES = -I. $(sort $(foreach l,$(LIBRARIES) PAPI,$($l_CFLAGS)))
BASE_FLAGS = -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -include $(BUILD)/config.h \
  $(INCLUDES) -MMD -MP $(SAN_FLAGS)
PIC_FLAGS = -fPIC -fvisibility=hidden -ftls-model=initial-exec

# ---- Build --------------------------------------------------------------------------------------------------------
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
HQ_OBJ = $(call objects,$(HQ_SRC))
PRELOAD_OBJ = $(call objects,$(PRELOAD_SRC)) $(UNWIND_SRC:%.c=$(BUILD)/preload/%.o)
OWN_TEXT_OBJ = $(BUILD)/preload/own_text.o
EXACT_OBJ = $(call objects,$(EXACT_SRC)) $(BUILD)/preload/nest.o $(OWN_TEXT_OBJ)
MPI_OBJ = $(call objects,$(MPI_SRC)) $(BUILD)/preload/exact/lookup.o $(BUILD)/preload/exact/front.o $(BUILD)/preload/nest.o $(OWN_TEXT_OBJ)
GPU_OBJ = $(call objects,$(GPU_SRC)) $(BUILD)/preload/exact/lookup.o $(BUILD)/preload/nest.o $(OWN_TEXT_OBJ)
UNITS = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SRC))
TOOLS = $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(TOOL_SRC))
PROGRAMS = $(foreach p,$(basename $(notdir $(PROGRAM_SRC))),$(BUILD)/programs/$p$(if $(filter lib%,$p),.so))
LIBHQ = $(BUILD)/libhq.a
# The collector's objects as an archive, so that unit tests can link the parts they name.
LIBPRELOAD = $(BUILD)/libhqpreload.a
LIBTEST = $(BUILD)/libhqtest.a

.PHONY: all config objects tests programs collector
all: $(if $(wildcard $(MAIN)),$(HQ)) $(if $(PRELOAD_SRC),$(PRELOAD)) $(if $(SAN)$(COLLECTOR),,$(MPI_SHIMS))
# `hq record` and what it loads into programs, for machines that have a C library and its compiler only.
collector: deps-collector
	+$(Q)$(SUBMAKE) COLLECTOR=1 all
	$(Q)install -d build/hq-collector$(SUFFIX)/include && install -m 644 preload/hq.h preload/hq.f90 build/hq-collector$(SUFFIX)/include/
	$(Q)echo "build/hq-collector$(SUFFIX)/ may be copied anywhere: bin/hq record --with-binaries -o DB -- PROGRAM"
config:
	$(Q)CC='$(CC)' common/configure.sh $(BUILD) $(VERSION) $(if $(COLLECTOR),collector)
tests: all $(UNITS) $(TOOLS)
programs: $(PROGRAMS)
# Everything compiled and nothing linked, for another compiler's warnings: make objects BUILD=build-clang CC=clang WERROR=1
objects: $(HQ_OBJ) $(PRELOAD_OBJ) $(EXACT_OBJ) $(MPI_OBJ) $(GPU_OBJ) $(call objects,$(MAIN) $(UNIT_SRC) $(TEST_LIB_SRC) $(TOOL_SRC))

$(HQ): $(call objects,$(MAIN)) $(LIBHQ)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(HQ_LIBS)

# A program may have functions of its own by these names (ISO C leaves it read, poll, mmap), which are not meant.
OWN_CALLS = -Wl,-Bsymbolic-functions

$(LIB)libhqpreload.so: $(PRELOAD_OBJ) $(EXPORTS)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(CC) -shared -Wl,-soname,$(@F) $(OWN_CALLS) -Wl,-z,defs,-z,nodelete $(EXPORTS:%=-Wl,--version-script=%) $(LDFLAGS) \
	  -o $@ $(filter %.o,$^) $(PRELOAD_LIBS)

# For builds of a database on MPI ranks, one for each MPI that is there: their binary interfaces differ.
libhqmpi-%.so: db/mpi/shim.c db/mpi/shim.h
	$(call say,MPICC)
	$(Q)$(or $(shell command -v mpicc.$*),mpicc) -std=gnu11 -O2 -g -Wall -Wextra -fPIC -shared -I. -o $@ $<

$(LIB)libhqexact.so: $(EXACT_OBJ)
$(LIB)libhqmpi.so: $(MPI_OBJ)
$(LIB)libhqgpu.so: $(GPU_OBJ)
$(LIB)libhqexact.so $(LIB)libhqmpi.so $(LIB)libhqgpu.so: $(LIB)libhqpreload.so
	$(call say,LINK)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-z,nodelete '-Wl,-rpath,$$ORIGIN' $(LDFLAGS) \
	  -o $@ $(filter %.o,$^) $(or $(LIB),./)libhqpreload.so -ldl

$(LIBHQ): $(HQ_OBJ)
$(LIBPRELOAD): $(filter-out $(OWN_TEXT_OBJ),$(PRELOAD_OBJ))
$(LIBTEST): $(call objects,$(TEST_LIB_SRC))
%.a:
	$(call say,AR)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

# The page of `hq report`: one classic script and one style, which the object embeds. A release brings them along in
# query/output/page/, for builds without esbuild.
# Columns of the data have short names in it, but for those that tests ask for, and so have names of its own that neither
# the browser knows nor the data (tests/e2e/page_words.py).
PAGE_OWN = activate active app attribute base both brush byGroup byKey choose chosen constant context counts covers decimals derived \
  doubtful drop each element end eval exc exclusive expand first followed hasKids hasTraces hotPath hover hue inc inclusive inexact inferred \
  interval keep kids largest leaf legend linear linesOf literal lowest marks merge node openCostly openers overProfiles owner panes parent \
  perProfile pid pivot pixels place present problem procedureOf ranked rebuild render reveal roots saturation selectContext selectable \
  selection several shapes siblings signed slots someChild spaced sparse stands state tell thinned topValue tops totals treeChildren turn \
  unfolded units unknown views who whole word words zoomNode
EMPTY =
PAGE_MANGLED = ^(call|scope|entity)[A-Z]|^($(subst $(EMPTY) $(EMPTY),|,$(strip $(PAGE_OWN))))$$
PAGE_KEPT = ^scope(Kind|Name|Shown)$$
PAGE_SRC = $(wildcard query/output/page/*.ts query/output/page/*.css)
PAGE = $(if $(HAVE_ESBUILD),$(BUILD)/page,$(if $(wildcard query/output/page/page.js),query/output/page))
$(BUILD)/page/page.js: $(PAGE_SRC) Makefile
	$(call say,PAGE)
	$(Q)mkdir -p $(@D) && esbuild query/output/page/main.ts --bundle --minify --format=iife \
	  $(if $(ESBUILD_IS_OLD),,--target=es2022 --mangle-props='$(PAGE_MANGLED)' --reserve-props='$(PAGE_KEPT)') --charset=utf8 --log-level=warning --outfile=$@
$(BUILD)/page/page.css: query/output/page/style.css
	$(Q)mkdir -p $(@D) && esbuild $< --minify --log-level=warning --outfile=$@
$(BUILD)/query/report/bundle.o: $(if $(PAGE),$(PAGE)/page.js $(PAGE)/page.css)
$(BUILD)/query/report/bundle.o: BASE_FLAGS += $(if $(PAGE),-DHQ_PAGE='"$(PAGE)"')

$(BUILD)/query/output/flame.o: query/output/flame.js

# Who builds with other flags in the same tree gets what he asked for.
$(BUILD)/flags: export KEPT = $(CC) $(CFLAGS) $(LDFLAGS) $(WERROR)
$(BUILD)/choices: export KEPT = $(READLINE) $(DECODER)
$(BUILD)/flags $(BUILD)/choices: always
	$(Q)mkdir -p $(@D) && printf '%s\n' "$$KEPT" | cmp -s - $@ || printf '%s\n' "$$KEPT" >$@

# Runs where vector registers are still the program's.
$(BUILD)/preload/patch/enter.o: BASE_FLAGS += -mgeneral-regs-only

$(BUILD)/preload/%.o: preload/%.c $(BUILD)/config.h $(BUILD)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_FLAGS) $(CFLAGS) $(PIC_FLAGS) -c -o $@ $<
$(BUILD)/preload/unwind/%.o: unwind/%.c $(BUILD)/config.h $(BUILD)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_FLAGS) $(CFLAGS) $(PIC_FLAGS) -c -o $@ $<
$(BUILD)/%.o: %.c $(BUILD)/config.h $(BUILD)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_FLAGS) $(CFLAGS) -c -o $@ $<

# Tests of structure ask about themselves.
$(BUILD)/tests/%.o: BASE_FLAGS += $(if $(filter -g%,$(CFLAGS)),,-g)

LINK_TEST = $(CC) $(SAN_FLAGS) $(LDFLAGS) -o $@ $^ $(HQ_LIBS) $(PRELOAD_LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIBTEST) $(LIBPRELOAD) $(LIBHQ)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(LINK_TEST)
$(BUILD)/tools/%: $(BUILD)/tests/tools/%.o $(LIBTEST) $(LIBHQ)
	$(call say,LINK)
	$(Q)mkdir -p $(@D) && $(LINK_TEST) -lutil

# Programs to be measured. `build: FLAGS` in a comment of the first ten lines replaces `-O2 -g`; libNAME.c becomes
# libNAME.so; mpi_NAME.c is compiled by mpicc.
program_flags = $$(sed -n '1,10{s,.*build: *\([^*]*\).*,\1,p}' $< | grep . || echo -O2 -g)
build_program = $(Q)mkdir -p $(@D) && $(1) -Ipreload -o $@ $< $(program_flags) -Wl,--as-needed -ldl -lrt
$(BUILD)/programs/mpi_%: tests/programs/mpi_%.c
	$(call say,PROG)
	$(call build_program,mpicc)
$(BUILD)/programs/lib%.so: tests/programs/lib%.c
	$(call say,PROG)
	$(call build_program,$(CC) -shared -fPIC -pthread)
$(BUILD)/programs/%: tests/programs/%.c
	$(call say,PROG)
	$(call build_program,$(CC) -pthread)
$(BUILD)/programs/%: tests/programs/%.cc
	$(call say,PROG)
	$(call build_program,$(CXX) -pthread)
$(BUILD)/programs/%: tests/programs/%.f90
	$(call say,PROG)
	$(call build_program,gfortran -J$(@D))

.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell test -d $(BUILD) && find $(BUILD) -name '*.d')

# ---- Tests --------------------------------------------------------------------------------------------------------
# Scripts are run from here; a file named lib.* holds what several of them share.
SCRIPTS = $(filter-out %/lib.sh %/lib.py,$(wildcard $(foreach d,structure db import query collector repl fault e2e,tests/$d/*.sh tests/$d/*.py)))
QUERY_RUN = $(wildcard tests/query/run)
SAN_BUILD = build-san
SAN_TESTS = $(UNITS:$(BUILD)/%=$(SAN_BUILD)/%)
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))


.PHONY: check check-only check-fast test demo bench fuzz soak deps deps-build deps-all deps-demo deps-bench deps-soak
check: deps
	+$(Q)$(SUBMAKE) tests programs
	+$(Q)$(SUBMAKE) SAN=1 tests
	+$(Q)$(MAKE) --no-print-directory check-only
# Everything that is built already, without installing or building.
check-only:
	$(Q)tests/run $(or $(TESTS),BUILD=$(BUILD) HQ=./hq $(UNITS) $(QUERY_RUN) $(SCRIPTS) \
	  BUILD=$(SAN_BUILD) HQ=./$(SAN_BUILD)/hq $(SAN_TESTS) $(QUERY_RUN))
check-fast: tests
	$(Q)tests/run BUILD=$(BUILD) HQ=./$(HQ) $(UNITS) $(QUERY_RUN)
# make test T="tests/e2e/split.py build/tests/map_test"
test: tests programs
	$(Q)tests/run BUILD=$(BUILD) HQ=./$(HQ) $(or $(T),$(error say which: make test T=tests/e2e/split.py))

demo: deps-demo
	+$(Q)$(SUBMAKE) all
	$(Q)tests/demo.sh
bench: deps-bench
soak: deps-soak
bench fuzz soak: deps
	+$(Q)$(SUBMAKE) tests programs
	+$(Q)$(if $(wildcard tests/$@/run),HQ=./hq BUILD=$(BUILD) CC='$(CC)' MAKE='$(MAKE)' tests/$@/run,echo "tests/$@/run is not there: nothing to do")

deps: deps-all
deps-build deps-all deps-demo deps-bench deps-soak deps-package deps-collector: deps-%:
	$(Q)$(if $(filter no,$(DEPS)),:,.ci/deps $* $(PACKAGES_$*))

# ---- Installation -------------------------------------------------------------------------------------------------
# install_files DIRECTORY FILES: nothing at all if there are no files.
install_files = $(if $(strip $(2)),$(Q)install -d '$(DESTDIR)$(PREFIX)/$(1)' && install -m 644 $(2) '$(DESTDIR)$(PREFIX)/$(1)')
# install_to FILE: standard input becomes FILE.
install_to = install -D -m 644 /dev/stdin '$(DESTDIR)$(PREFIX)'/$(1)

.PHONY: install uninstall clean help
install: all
	$(Q)install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/lib/hq'
	$(if $(wildcard $(MAIN)),$(Q)install -m 755 hq '$(DESTDIR)$(PREFIX)/bin/hq')
	$(if $(PRELOAD_SRC),$(Q)install -m 755 $(PRELOAD) $(MPI_SHIMS) '$(DESTDIR)$(PREFIX)/lib/hq/')
	$(call install_files,include,$(wildcard preload/hq.h preload/hq.f90))
	$(call install_files,share/hq/queries,$(wildcard examples/queries/*))
	$(call install_files,share/hq/ci,$(wildcard examples/ci/*))
	$(call install_files,share/doc/hq,$(wildcard README.md LICENSE))
	$(call install_files,share/doc/hq/doc,$(wildcard doc/*.md doc/*.png doc/*.json))
	$(Q)for page in $$(./hq --manual); do ./hq --manual $$page | $(call install_to,share/man/man$${page##*.}/$$page) || exit 1; done
	$(Q)./hq --completion bash | $(call install_to,share/bash-completion/completions/hq)
	$(Q)./hq --completion zsh | $(call install_to,share/zsh/site-functions/_hq)
uninstall:
	$(Q)cd '$(DESTDIR)$(PREFIX)' && rm -rf bin/hq lib/hq include/hq.h include/hq.f90 share/hq share/doc/hq \
	  share/man/man1/hq.1 share/man/man1/hq-*.1 share/man/man5/hq-language.5 \
	  share/bash-completion/completions/hq share/zsh/site-functions/_hq
include common/packaging/packaging.mk

clean:
	$(Q)rm -rf build build-san build-clang hq libhqpreload.so libhqexact.so libhqmpi.so libhqgpu.so libhqmpi-*.so demo.hq demo.html
help:
	@echo "make              build ./hq and ./libhqpreload.so      make config       look for libraries again"
	@echo "make demo         record a program, find its fault     make deps         install missing Debian packages"
	@echo "make check        every test                            make check-fast   unit tests, nothing installed"
	@echo "make test T=FILE  one test, or several                 make objects      compile, link nothing (WERROR=1 CC=clang)"
	@echo "make check-only   every test, nothing built;            make SAN=1 tests  build with sanitizers in build-san/"
	@echo "                  TESTS='FILE...' chooses               make bench|fuzz|soak   longer work"
	@echo "make dist|deb|rpm|tarball   packages, in build/packages  make check-in SUITE=trixie   all, in a fresh Debian"
	@echo "make ARCH=aarch64 the same for another processor, by Debian's cross compiler: build/hq-collector-aarch64"
	@echo "make collector    build/hq-collector: the collector and an hq that records, of the C library alone"
	@echo "make install PREFIX=/usr/local DESTDIR=   make uninstall   make clean"
