# SPDX-License-Identifier: MIT
# make, make bench, make check; make help tells the rest

CFLAGS ?= -O2 -g
LTO ?= 1
PREFIX ?= /usr/local
VERSION = 0.1
V ?= 0
Q = $(if $(filter 1,$(V)),,@)

# A layout is a .c file at the top; a tool is one in tools/, or a folder of them.
# lib/ knows no ring, harness/ is what a layout is linked with.
known_layouts := $(filter-out main,$(basename $(wildcard *.c)))
LAYOUTS := $(known_layouts)
TOOLS := $(sort $(basename $(notdir $(wildcard tools/*.c))) \
	$(notdir $(patsubst %/,%,$(dir $(wildcard tools/*/*.c)))))
objects = $(patsubst %.c,build/%.o,$(wildcard $(1)))
LIB := $(call objects,lib/*.c)
HARNESS := build/main.o $(call objects,harness/*.c) $(LIB)

all: $(LAYOUTS) $(TOOLS)

ifneq ($(shell mkdir -p build 2>/dev/null; test -w build && echo yes),yes)
$(error cannot write to $(CURDIR)/build: make a copy of the tree that is yours)
endif

# The first flags with which this compiler links across objects. clang does so
# with lld or with LLVM's plugin for ld.
try = echo 'int main(void) { return 0; }' >build/try.c && \
	$(CC) $(CFLAGS) $(1) build/try.c -o build/try 2>/dev/null && echo $(1)
ifeq ($(LTO),1)
lto := $(or $(shell $(call try,-flto=auto)), \
	$(shell $(call try,-flto -fuse-ld=lld)))
ifeq ($(lto),)
$(warning $(CC) cannot link with LTO here (clang wants the package lld): \
	building as with LTO=0)
endif
endif

flags = -std=gnu11 $(CFLAGS) -Wall -Wextra $(firstword $(lto)) -pthread
# A layout is called what its file is.
COMPILE = $(CC) $(flags) $(CPPFLAGS) -DRING_NAME='"$(*F)"' -I. -MMD -MP -c
LINK = $(CC) $(flags) $(wordlist 2,9,$(lto)) -Wl,--as-needed $(LDFLAGS)

# Objects made with other flags are stale: all depend on this, which changes
# only if they do. What maps the names of directories is left out, for it is given
# so that builds in two directories are the same.
c_string = "$(subst ",\",$(subst \,\\,$(1)))"
flags_told = $(filter-out -ffile-prefix-map=% -fdebug-prefix-map=% \
	-fmacro-prefix-map=% -fprofile-prefix-map=% -fcoverage-prefix-map=%, \
	$(flags) $(CPPFLAGS) $(LDFLAGS))
define buildinfo
#define BUILD_VERSION $(call c_string,$(VERSION))
#define BUILD_COMPILER $(call c_string,$(shell $(CC) --version | head -n 1))
#define BUILD_FLAGS $(call c_string,$(flags_told))
#define BUILD_LTO $(if $(lto),1,0)
endef
$(file >build/buildinfo.new,$(buildinfo))
$(shell cmp -s build/buildinfo.new build/buildinfo.h || \
	cp build/buildinfo.new build/buildinfo.h)

build/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $< -o $@

$(known_layouts): %: build/%.o $(HARNESS)
$(foreach tool,$(TOOLS),$(eval $(tool): \
	$(call objects,tools/$(tool).c tools/$(tool)/*.c)))
$(TOOLS): $(LIB)
$(known_layouts) $(TOOLS):
	$(Q)$(LINK) $^ -o $@ -lm

# What the others are held against is built, whatever LAYOUTS says.
bench: all ring noring $(if $(filter 1,$(PEERS)),peers)
	@scripts/bench $(LAYOUTS) $(if $(filter 1,$(PEERS)),-- $(peer_programs))

no_peers = $(if $(PEERS),echo 'PEERS: only make bench has them; leave it out' >&2; \
	exit 2;)
bench-scale: all
	@$(no_peers) scripts/bench-scale build/bench-scale $(LAYOUTS)

bench-latency: all
	@$(no_peers) scripts/bench-latency build/bench-latency $(LAYOUTS)

bench-payload: all noring
	@$(no_peers) scripts/bench-payload build/bench-payload $(LAYOUTS)

# LAYOUTS are built by each compiler, and not by CC.
builds: compare
	@FLAGS=$(call quote,$(FLAGS)) scripts/builds build/builds $(LAYOUTS)

claims: all
	@scripts/claims

# ---- Tests: tests/*.test, and C programs that report in the same way ----

UNIT := $(patsubst tests/unit/%.c,build/tests/%,$(wildcard tests/unit/*.c))
CONTRACTS := $(LAYOUTS:%=build/tests/contract_%)
MARKED := $(LAYOUTS:%=build/tests/marked_%)
FAULTY := $(LAYOUTS:%=build/tests/faulty_%)
BROKEN := build/tests/broken
HOOKED := $(TOOLS:%=build/tests/%)
PROVERS := $(LAYOUTS:%=build/tests/prove_%) build/tests/prove_several
SCRIPTS := $(filter-out %-long.test,$(wildcard tests/*.test))
# What finds most, and soonest, comes first.
TESTS ?= tests/sources.test $(CONTRACTS) $(MARKED) $(UNIT) build/tests/litmus \
	$(filter-out tests/sources.test,$(SCRIPTS))
export LAYOUTS CC CFLAGS LTO

check-programs: $(UNIT) $(CONTRACTS) $(MARKED) $(FAULTY) $(BROKEN) \
	$(HOOKED) build/tests/litmus \
	$(if $(filter tests/prove% tests/mutants%,$(TESTS)),$(PROVERS))

# As many at a time as there are CPUs, unless it is told.
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
check:
	@$(MAKE) $(if $(filter 1,$(V)),,-s) --no-print-directory $(jobs) all \
		check-programs
	@tests/run $(TESTS)

check-long: all $(UNIT) $(FAULTY) $(PROVERS)
	@LIMIT=7200 CHECK_LONG=1 tests/run $(wildcard tests/*-long.test) \
		tests/threads.test tests/faults.test tests/fuzz.test

$(UNIT): build/tests/%: build/tests/unit/%.o $(LIB)
# memory.c gives way to hostile.c, which puts guard pages round a ring.
$(CONTRACTS): build/tests/contract_%: build/tests/ring/contract.o \
	build/tests/ring/hostile.o build/%.o $(filter-out %/memory.o,$(LIB))
$(FAULTY): build/tests/faulty_%: build/tests/ring/faults.o build/faulty/%.o \
	$(HARNESS:build/%=build/faulty/%)
$(BROKEN): build/tests/ring/broken.o $(HARNESS)
$(MARKED): build/tests/marked_%: build/marked/tests/ring/marked.o \
	build/marked/%.o $(LIB:build/%=build/marked/%)
$(HOOKED): build/tests/hooks.o $(LIB)
$(foreach tool,$(TOOLS),$(eval build/tests/$(tool): $(patsubst \
	build/%,build/hooked/%,$(call objects,tools/$(tool).c tools/$(tool)/*.c))))
$(UNIT) $(CONTRACTS) $(MARKED) $(FAULTY) $(BROKEN) $(HOOKED):
	$(Q)$(LINK) $^ -o $@ -lm

# Rings whose memory, threads and eventfds can be made to fail. What they are
# for does not depend on LTO, which would take most of the time.
$(FAULTY) build/faulty/% build/tests/ring/faults.o: lto =
build/faulty/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -include tests/ring/faults.h $< -o $@

# Tools whose rings and machines tests make up.
build/hooked/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -include tests/hooks.h $< -o $@

# Layouts that tell tests/ring/marked.c of each access; it says so if this
# compiler, or this CPU, has no such thing.
$(MARKED) build/marked/%: lto =
$(MARKED) build/marked/%: override CFLAGS := $(filter-out -fsanitize%,$(CFLAGS))
$(LAYOUTS:%=build/marked/%.o): build/marked/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -fsanitize=thread $< -o $@ 2>/dev/null || \
		$(COMPILE) $< -o $@
build/marked/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $< -o $@

# Layouts, or what they use of lib/, for whose shared memory tests/prove answers.
explorer := $(call objects,tests/prove/explore.c tests/prove/s[ci]*.c)
explorer := $(explorer:build/%=build/prove/%)
build/tests/litmus: build/prove/tests/prove/litmus.o $(explorer)
$(PROVERS): $(explorer) build/prove/tests/prove/cases.o
$(LAYOUTS:%=build/tests/prove_%): build/tests/prove_%: \
	build/prove/tests/prove/driver.o build/prove/%.o
build/tests/prove_several: build/prove/tests/prove/several.o \
	$(LIB:build/%=build/prove/%)
build/tests/litmus $(PROVERS):
	@mkdir -p $(@D)
	$(Q)$(LINK) $^ -o $@ -lm
build/tests/litmus $(PROVERS) build/prove/%: lto =
build/tests/litmus $(PROVERS) build/prove/%: \
	override CFLAGS := $(filter-out -fsanitize%,$(CFLAGS))
build/prove/%.o: %.c build/buildinfo.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -include tests/prove/accessors.h $< -o $@

# Every execution of small rings, in a table.
prove: $(PROVERS)
	@devtools/prove $(and $(filter command line,$(origin LAYOUTS)),$(LAYOUTS))

# Each barrier weakened in turn: what notices?
mutants: $(PROVERS)
	@devtools/mutants $(LAYOUTS)

# Everything verified for DURATION seconds, at random.
soak: all $(FAULTY)
	@devtools/soak $(LAYOUTS)

# Static analysis, and valgrind.
lint: all
	@LIMIT=1800 tests/run devtools/lint

# Compiled for other CPUs, run under qemu-user.
ARCHS ?= aarch64 s390x riscv64 ppc64le i386
check-arch:
	@ARCHS="$(ARCHS)" LIMIT=1800 tests/run devtools/arch

-include peers/rules.mk

# ---- The rest ----

# Any name will do but one with a colon, which would cut PATH in two.
quote = '$(subst ','\'',$(1))'
root = $(DESTDIR)$(PREFIX)

install: all
	@case $(call quote,$(PREFIX)) in *:*) \
		printf "PREFIX: %s: choose one without ':'\n" \
			$(call quote,$(PREFIX)) >&2; exit 1 ;; esac
	install -d -- $(call quote,$(root)/libexec/ringtest) \
		$(call quote,$(root)/bin) $(call quote,$(root)/share/man/man1)
	install $(LAYOUTS) $(TOOLS) run-on-all.sh $(wildcard tools/plot-*) \
		-- $(call quote,$(root)/libexec/ringtest)
	install -m 644 tools/lib.sh tools/together -- $(call quote,$(root)/libexec/ringtest)
	install tools/ringtest -- $(call quote,$(root)/bin)
	install -m 644 man/*.1 -- $(call quote,$(root)/share/man/man1)

help:
	@echo 'make                build everything: $(LAYOUTS) $(TOOLS)'
	@echo 'make bench          time every layout on a pair of CPUs; BENCH_ROUNDS=5'
	@echo '                    CPUS="2 3" PAYLOAD=bytes PEERS=1'
	@echo 'make bench-scale    ns per buffer over size, batch, work, ...'
	@echo 'make bench-latency  how long one buffer takes, by load'
	@echo 'make bench-payload  ns per buffer over the bytes in it'
	@echo 'make builds         the compiler as a suspect: each layout in many builds;'
	@echo '                    COMPILERS="gcc clang" FLAGS="-O1; -Os"'
	@echo 'make peers          other libraries; then make bench PEERS=1 has them, too'
	@echo 'make claims         published results beside this machine'"'"'s'
	@echo 'make check          run every test; TESTS="tests/..." runs some'
	@echo 'make check-long     the tests that take many minutes'
	@echo 'make check-arch     for other CPUs, under qemu-user: $(ARCHS)'
	@echo 'make lint           analyzers, and valgrind; skips what is not there'
	@echo 'make prove          every execution of small rings, under RC11'
	@echo 'make mutants        weaken each barrier in turn: what notices?'
	@echo 'make soak           at random, verified; DURATION=seconds (600)'
	@echo 'make install        under PREFIX ('$(call quote,$(PREFIX))'); DESTDIR'
	@echo 'make clean          remove what was built'
	@echo $(call quote,CC=$(CC) CFLAGS="$(CFLAGS)" LTO=$(LTO); V=1 shows the commands)

clean:
	rm -rf build $(known_layouts) $(TOOLS)

.PHONY: all bench bench-latency bench-payload bench-scale builds claims check \
	check-arch check-long check-programs clean help install lint mutants prove \
	soak
.DELETE_ON_ERROR:
-include $(shell find build -name '*.d' 2>/dev/null)
