# One Makefile, no recursion.  Sources are found, not listed: a new src/ROOM/x.c, x_test.c or x_fuzz.c
# is built by being there.  The one table that says which room may use which is tools/rooms.
#
#   make                 build/tally, build/libtally.a, build/libtally.so.0, build/tally-qemu.so
#   make check           unit tests without sanitizers: what the build of a package runs
#   make test            unit tests under ASan and UBSan, and test/*.bats
#   make check-vm        genuine drivers in a guest against our devices: 380 MB to download once, some minutes
#   make check-long      what check.sh has no time for, as a table; test/long.sh -l names the checks
#   make CC=clang ...    the same under build/clang/
#   make fuzz            every fuzz target for FUZZ_RUNS runs, and DIFFERENTIAL_PROGRAMS programs in the kernel and in the vm;
#                        fuzz-replay: what check.sh affords
#   make torture         campaigns of attacks, TORTURE_SECONDS (600) each: test/torture/run.sh
#   make bench           against bpftrace and perf
#   make install         DESTDIR, PREFIX, SYSCONFDIR ...; DTRACE=1 adds the name `dtrace`
#   make deb             Debian packages of what is committed, in build/deb; lintian and test: test/deb.sh
#   make static          build/static/tally: one file for any Linux from 6.1 on, which loads no library
#   make release         tag and tarball of a version that CHANGELOG.md has
#
# CPPFLAGS, CFLAGS and LDFLAGS come after our own flags.  WERROR=1 makes a warning an error, as our checks do.
MAKEFLAGS += -r
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# The one place of the version; test/house.bats holds CHANGELOG.md and debian/changelog against it.
VERSION := 0.2.0
SOVERSION := 0

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config

# ---- where things go: B is one tree per compiler ------------------------------------------------
B ?= build$(if $(findstring clang,$(CC)),/clang)
R := $(B)/release
A := $(B)/asan
F := build/fuzz

# ---- how things are compiled --------------------------------------------------------------------
WARN := -Wall -Wextra -Wformat-security $(if $(WERROR),-Werror)
BASIC = -std=gnu17 -D_GNU_SOURCE -DTALLY_VERSION='"$(VERSION)"' -DTALLY_SYSCONFDIR='"$(SYSCONFDIR)"' -Isrc -Iinclude \
	$(WARN) -g -MMD -MP -fvisibility=hidden
USER_FLAGS = $(CPPFLAGS) $(CFLAGS)
# What tally reads is a stranger's, and its program's file may have capabilities.  What this costs: doc/architecture.md, Decisions.
# A distribution that fortifies says so in CPPFLAGS, with a level of its own.
HARDEN := -fstack-protector-strong $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
RELEASE := -O2 -fPIC -fno-plt -fno-semantic-interposition $(HARDEN)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
ASAN := -O1 -fno-omit-frame-pointer $(SANITIZE)

# The program has libbpf and libelf inside: their dynamic linking would be a sixth of the time that an empty
# script takes.  DYNAMIC=1 links them as a distribution wants it.
LIBS := -lbpf -lelf -lz -liberty -lm -ldl
PROGRAM_LIBS := $(if $(DYNAMIC),$(LIBS),-Wl,-Bstatic $(shell $(PKG_CONFIG) --static --libs libbpf libelf) -liberty -Wl,-Bdynamic -lm -ldl)
# A program is position independent, unless it is static.
PIE = $(if $(findstring -static,$(LDFLAGS)),,-fPIE -pie)
LINK := -Wl,-O1,--as-needed,--hash-style=gnu,-z,relro,-z,now

# ---- what there is ------------------------------------------------------------------------------
# make sorts by the locale what a wildcard matches; a build is the same in all of them.
ALL_SRC := $(sort $(filter-out %_test.c %_fuzz.c,$(wildcard src/*/*.c)))
QEMU_SRC := $(filter src/qemu/%,$(ALL_SRC))
SOURCES := $(filter-out $(QEMU_SRC),$(ALL_SRC))
LIB_SRC := $(filter-out src/cmd/%,$(SOURCES))
TEST_SRC := $(wildcard src/*/*_test.c)
# What several tests and benchmarks need and the product does not: test/lib/ROOM/x.c is linked where ROOM is.
# What says of a unit test that it left something open is linked with unit tests alone.
LEFT_OPEN := test/lib/base/left_open.c
TEST_LIB := $(filter-out $(LEFT_OPEN),$(wildcard test/lib/*/*.c))
FUZZ_SRC := $(wildcard src/*/*_fuzz.c)

rel = $(patsubst src/%.c,$(R)/%.o,$(patsubst test/%.c,$(R)/%.o,$(1)))
san = $(patsubst src/%.c,$(A)/%.o,$(patsubst test/%.c,$(A)/%.o,$(1)))
fuz = $(patsubst src/%.c,$(F)/obj/%.o,$(patsubst test/%.c,$(F)/obj/%.o,$(1)))

# LEFT_room: that room and every room to its left.
$(foreach row,$(shell awk '$$1 == "tier" { for (i = 2; i <= NF; i++) printf "%s:%s:%s ", $$i, $$i, left; \
		for (i = 2; i <= NF; i++) left = left ":" $$i }' tools/rooms), \
	$(eval LEFT_$(firstword $(subst :, ,$(row))) := $(wordlist 2,99,$(subst :, ,$(row)))))
reach = $(filter $(foreach room,$(LEFT_$(1)),src/$(room)/%),$(SOURCES) $(if $(filter qemu,$(1)),$(QEMU_SRC)))
lib = $(filter $(foreach room,$(LEFT_$(1)),test/lib/$(room)/%),$(TEST_LIB))
room = $(word 2,$(subst /, ,$(1)))

TESTS := $(foreach t,$(TEST_SRC),$(B)/test/$(subst /,_,$(patsubst src/%.c,%,$(t))))
FUZZERS := $(patsubst %_fuzz.c,$(F)/%,$(notdir $(FUZZ_SRC)))
PROGS := $(patsubst test/prog/%.c,$(B)/prog/%,$(wildcard test/prog/*.c)) $(B)/prog/brendan \
	$(foreach x,a b,$(B)/prog/plugin_$x.so $(B)/prog/image_$x) \
	$(if $(shell $(PKG_CONFIG) --exists libdw && echo yes),$(B)/prog/unwound)
SPECS := $(patsubst test/spec/%.c,$(B)/spec/%,$(filter-out %/spec.c,$(wildcard test/spec/*.c)))

.PHONY: all asan tests progs specs fuzzers test check bench benches fuzz fuzz-replay law abi format picture man install install-doc clean \
	static deb release torture torturers check-vm check-long cross-tally cross-arm64 cross-unwind
all: $(B)/tally $(B)/libtally.a $(B)/libtally.so.$(SOVERSION) $(B)/tally-qemu.so
asan: $(A)/tally
tests: $(TESTS)
progs: $(PROGS)
specs: $(SPECS)
fuzzers: $(FUZZERS)

# ---- objects ------------------------------------------------------------------------------------
# The loops over every record of a trace: a twentieth faster so.
$(R)/ptt/stats_chunk.o $(R)/ptt/stats_pair.o: RELEASE += -O3
# What each partition and virtual processor goes through in each window: likewise.
$(R)/machine/power_dispatch.o $(R)/machine/power_memory.o: RELEASE += -O3

$(R)/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(BASIC) $(RELEASE) $(USER_FLAGS) -c -o $@ $<

$(A)/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(BASIC) $(ASAN) $(USER_FLAGS) -c -o $@ $<

# The library of the tests is seen by tests and benchmarks alone.
$(A)/%_test.o $(A)/lib/%.o $(F)/obj/%_fuzz.o $(F)/obj/lib/%.o $(R)/lib/%.o: BASIC += -Itest/lib

$(R)/lib/%.o: test/lib/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(BASIC) $(RELEASE) $(USER_FLAGS) -c -o $@ $<

$(A)/lib/%.o: test/lib/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(BASIC) $(ASAN) $(USER_FLAGS) -c -o $@ $<

$(F)/obj/lib/%.o: test/lib/%.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BASIC) $(ASAN) -fsanitize=fuzzer-no-link $(USER_FLAGS) -c -o $@ $<

$(F)/obj/%_fuzz.o: src/%_fuzz.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BASIC) $(ASAN) -fsanitize=fuzzer $(USER_FLAGS) -c -o $@ $<

$(F)/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BASIC) $(ASAN) -fsanitize=fuzzer-no-link $(USER_FLAGS) -c -o $@ $<

# It has these inside.
$(R)/cmd/completion.o $(A)/cmd/completion.o $(F)/obj/cmd/completion.o: $(wildcard src/cmd/completion.*)
$(R)/serve/live.o $(A)/serve/live.o $(F)/obj/serve/live.o: $(wildcard src/serve/page.*)

# ---- products -----------------------------------------------------------------------------------
$(B)/tally: $(call rel,$(SOURCES))
	$(CC) $(PIE) $(LINK) $(LDFLAGS) -o $@ $^ $(PROGRAM_LIBS)

$(A)/tally: $(call san,$(SOURCES))
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LIBS)

# One object in which only what tally.h promises is global: a stranger's program may have a map_get too.
$(B)/libtally.a: $(call rel,$(LIB_SRC))
	$(LD) -r -o $(R)/libtally.o $^
	$(OBJCOPY) --localize-hidden $(R)/libtally.o
	rm -f $@
	$(AR) rcs $@ $(R)/libtally.o

$(B)/libtally.so.$(SOVERSION): $(call rel,$(LIB_SRC)) src/libtally.map
	$(CC) -shared -Wl,-soname,$(@F),-z,defs,--version-script=src/libtally.map,--no-undefined-version $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

# QEMU's plugin: what it needs of the machines and no more; QEMU has the functions that are missing.
QEMU_ROOMS := $(shell awk '$$1 == "only" && $$2 == "qemu" { $$1 = $$2 = ""; print }' tools/rooms)
$(R)/qemu.a: $(call rel,$(filter $(foreach room,$(QEMU_ROOMS),src/$(room)/%),$(SOURCES)))
	rm -f $@
	$(AR) rcs $@ $^

$(B)/tally-qemu.so: $(call rel,$(QEMU_SRC)) $(R)/qemu.a
	$(CC) -shared -Wl,-soname,$(@F) $(LINK) $(LDFLAGS) -o $@ $^ -lpthread -ldl

# What a guest's readings are held against.
$(B)/vm/gpci-truth $(B)/vm/sun4v-truth: $(R)/qemu/options.o
$(B)/vm/%-truth: test/vm/%-truth.c $(R)/qemu/words.o $(R)/qemu.a
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) -O2 -o $@ $(filter-out %.a,$^) $(filter %.a,$^) -ldl

# ---- tests: each is linked with its own room and the rooms to its left, so the layering is proven --
define test_rule
$(B)/test/$(subst /,_,$(patsubst src/%.c,%,$(1))): $(call san,$(1) $(LEFT_OPEN) $(call reach,$(call room,$(1))) $(call lib,$(call room,$(1))))
	@mkdir -p $$(@D)
	$$(CC) $$(PIE) $$(SANITIZE) $$(LDFLAGS) -o $$@ $$^ -lcmocka $$(LIBS)
endef
$(foreach t,$(TEST_SRC),$(eval $(call test_rule,$(t))))

define fuzz_rule
$(F)/$(patsubst %_fuzz.c,%,$(notdir $(1))): $(call fuz,$(1) $(call reach,$(call room,$(1))) $(call lib,$(call room,$(1))))
	@mkdir -p $$(@D)
	$$(CLANG) -fsanitize=fuzzer $$(SANITIZE) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
endef
$(foreach t,$(FUZZ_SRC),$(eval $(call fuzz_rule,$(t))))

# Helper programs are compiled like a user's: plain, with frame pointers and symbols.
define program_rule
$(B)/prog/%: $(1)/%.c
	@mkdir -p $$(@D)
	$$(CC) -std=gnu17 -D_GNU_SOURCE $$(WARN) -O2 -g $$(USER_FLAGS) -fno-omit-frame-pointer $$(LDFLAGS) -o $$@ $$<
endef
$(eval $(call program_rule,test/prog))
$(eval $(call program_rule,examples))

# Assertions from a specification alone, a program each: strangers to tally, they have its headers and its library.
$(B)/spec/%: test/spec/%.c test/spec/spec.c test/spec/spec.h $(wildcard include/tally/*.h) $(B)/libtally.a
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -Iinclude $(WARN) -O1 -g $(PIE) $(USER_FLAGS) $(LDFLAGS) -o $@ $(filter %.c %.a,$^) $(LIBS)

# What compilers do by default, and the program that says what its stacks are.  Bound when it starts: the loader's binding of a function
# at its first call has a rule that tally can't follow.
$(B)/prog/unframed: test/prog/unframed.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -g $(USER_FLAGS) -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,-z,now $(LDFLAGS) -o $@ $<
$(B)/prog/unwound: test/prog/part/unwound.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -g $(LDFLAGS) -o $@ $< -ldw

# Libraries of one size, and programs at one address, that differ in a name only.
$(B)/prog/plugin_%.so: test/prog/part/plugin.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 $(WARN) -O2 -g -fno-omit-frame-pointer -fPIC -shared -DPLUGIN_FUNCTION=plugin_$*_touch -o $@ $<
$(B)/prog/image_%: test/prog/part/image.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -g -fno-omit-frame-pointer -fno-pie -no-pie -DIMAGE_FUNCTION=image_$*_touch -o $@ $<

# Campaigns of test/torture: a program each.  `operations` has the library inside, sanitized.
TORTURERS := $(patsubst test/torture/%.c,$(B)/torture/%,$(filter-out %/torture.c %/failing.c,$(wildcard test/torture/*.c)))
torturers: all asan progs $(TORTURERS) $(B)/torture/failing.so
$(B)/torture/operations: TORTURE_WITH = $(SANITIZE) $(call san,$(LIB_SRC)) $(LIBS)
$(B)/torture/operations: $(call san,$(LIB_SRC))
$(B)/torture/%.so: test/torture/%.c
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) -O1 -fvisibility=default -fPIC -shared -o $@ $<
$(B)/torture/%: test/torture/%.c test/torture/torture.c test/torture/torture.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) -O1 -o $@ $< test/torture/torture.c $(TORTURE_WITH)

# ---- running them -------------------------------------------------------------------------------
BATS := $(wildcard test/*.bats)
FUZZ_RUNS ?= 1000000
DIFFERENTIAL_PROGRAMS ?= 100000
FUZZ_SECONDS ?= 10

test: all asan tests progs specs
	tools/run-tests.sh -t 300 "tools/law.sh --self-test" $(TESTS) $(SPECS) $(BATS)

# The same unit tests without sanitizers, and those of the specifications: what the build of a package runs.
check:
	$(MAKE) A='$(R)' ASAN='$$(RELEASE)' SANITIZE= tests specs
	tools/run-tests.sh -t 300 $(TESTS) $(SPECS)

TORTURE_SECONDS ?= 600
torture: torturers
	test/torture/run.sh -t $(TORTURE_SECONDS)

fuzz: fuzzers $(B)/test/session_differential_test
	tools/fuzz.sh -r $(FUZZ_RUNS) $(FUZZERS)
	TALLY_DIFFERENTIAL_PROGRAMS=$(DIFFERENTIAL_PROGRAMS) $(B)/test/session_differential_test

fuzz-replay: fuzzers
	tools/fuzz.sh -t $(FUZZ_SECONDS) $(FUZZERS)

# Every C file as .clang-format says.
format:
	tools/format.sh

# The README's pictures.
picture: all $(B)/prog/brendan
	tools/picture.sh

# What libtally.so promises, written down anew: after a change that is meant.  test/library.bats compares.
abi: $(B)/libtally.so.$(SOVERSION)
	tools/abi.sh -w $<

law:
	tools/law.sh
	tools/headers.sh $(CC) $(filter-out -MMD -MP,$(BASIC))

BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/*.c))
benches: $(BENCH)
bench: all progs benches
	tools/deps.sh bench
	bench/all.sh

$(BENCH): bench/bench.h

# What is inside the library is measured from inside.
$(B)/bench/ptt $(B)/bench/record: $(B)/bench/%: bench/%.c $(call rel,$(call reach,ptt) $(call lib,ptt))
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) -Itest/lib $(RELEASE) -o $@ $(filter-out %.h,$^) -lpthread -lm -ldl

$(B)/bench/sun4v $(B)/bench/gpci $(B)/bench/kunpeng: $(B)/bench/%: bench/%.c $(call rel,$(call reach,machine) $(call lib,machine))
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) -Itest/lib $(RELEASE) -o $@ $(filter-out %.h,$^) -lpthread $(LIBS)

$(B)/bench/flame: bench/flame.c $(call rel,$(call reach,answer))
	@mkdir -p $(@D)
	$(CC) $(BASIC) $(RELEASE) $(USER_FLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIBS)

$(B)/bench/hvsock: bench/hvsock.c $(call rel,$(call reach,attach))
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(BASIC)) $(RELEASE) -o $@ $(filter-out %.h,$^) -lpthread $(LIBS)

$(B)/bench/%: bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -g -o $@ $< -lbpf -lelf -lz -lm

# ---- another machine: arm64 programs for the guest of test/vm, tally itself static --------------
# One set of objects serves the program and its tests, without sanitizers.
SYSROOT := build/sysroot-arm64/usr
CROSS := CC=aarch64-linux-gnu-gcc B=build/arm64 A=build/arm64/release ASAN=-O1 SANITIZE= \
	CFLAGS='-isystem $(SYSROOT)/include -DTALLY_NO_DLOPEN'
CROSS_LIB := -L$(SYSROOT)/lib/aarch64-linux-gnu -Wl,-rpath-link,$(SYSROOT)/lib/aarch64-linux-gnu:build/sysroot-arm64/lib/aarch64-linux-gnu
cross-tally:
	tools/cross.sh arm64
	$(MAKE) $(CROSS) LDFLAGS='-static $(CROSS_LIB)' PROGRAM_LIBS='-lbpf -lelf -lz -liberty -lm' build/arm64/tally
cross-arm64: cross-tally
	$(MAKE) $(CROSS) LDFLAGS='$(CROSS_LIB)' LIBS='-l:libbpf.a -lelf -lz -liberty -lm -ldl' tests \
		$(patsubst $(B)/%,build/arm64/%,$(filter-out $(B)/prog/unwound,$(PROGS)))
# One that loads libraries, as for unwind tables; with it what test/vm/unwind.sh takes to the guest.
CROSS_LOADS := $(subst -DTALLY_NO_DLOPEN,,$(subst build/arm64,build/arm64-loads,$(CROSS)))
cross-unwind:
	tools/cross.sh arm64
	$(MAKE) $(CROSS_LOADS) LDFLAGS='$(CROSS_LIB)' LIBS='-l:libbpf.a -lelf -lz -liberty -lm -ldl' \
		PROGRAM_LIBS='-l:libbpf.a -lelf -lz -liberty -lm -ldl' \
		$(addprefix build/arm64-loads/,tally prog/unframed prog/unwound test/symbol_unwind_test)

# ---- one file that runs on any Linux from 6.1 ----------------------------------------------------
# glibc's static libraries; what would be loaded (DuckDB, Unicorn, FUSE, libdw, libmicrohttpd, libcurl, libpfm4, zstd, xz) is refused with words.
STATIC := B=build/static CFLAGS='$(CFLAGS) -DTALLY_NO_DLOPEN' LDFLAGS='$(LDFLAGS) -static-pie' \
	PROGRAM_LIBS='$(shell $(PKG_CONFIG) --static --libs libbpf libelf) -liberty -lm'
static:
	$(MAKE) $(STATIC) build/static/tally

# ---- packages and releases -----------------------------------------------------------------------
deb:
	tools/deb.sh

release:
	tools/release.sh $(VERSION)

# What lacks its tools or the network is skipped by the script, with the reason.
check-vm: all $(B)/vm/gpci-truth $(B)/vm/sun4v-truth
	-tools/deps.sh vm && $(MAKE) cross-tally
	test/vm/ptt.sh; status=$$?; test/vm/gpci.sh || status=$$?; test/vm/sun4v.sh && exit $$status

check-long:
	test/long.sh

# ---- manual pages and installation --------------------------------------------------------------
# SYSCONFDIR is compiled in: `make` and `make install` are given the same.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/tally
UNITDIR ?= $(PREFIX)/lib/systemd/system
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
PAGES := $(patsubst doc/verb/%.md,%,$(wildcard doc/verb/*.md))
MAN := $(foreach p,$(PAGES),$(B)/man/$(if $(filter tally,$(p)),tally,tally-$(p)).1)
INSTALL := install

man: $(MAN)
$(B)/man/%.1: tools/md2man.awk
	@mkdir -p $(@D)
	sed 's|/etc/tally|$(SYSCONFDIR)/tally|g' $(filter %.md,$^) | LC_ALL=C awk -v page=$* -v version=$(VERSION) -f $< >$@
$(B)/man/tally.1: doc/verb/tally.md
$(foreach p,$(filter-out tally,$(PAGES)),$(eval $(B)/man/tally-$(p).1: doc/verb/$(p).md))

install: all man install-doc
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(LIBDIR)/tally $(INCLUDEDIR)/tally $(MANDIR)/man1 \
		$(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(INSTALL) -m 755 $(B)/tally $(DESTDIR)$(BINDIR)/tally
	$(INSTALL) -m 644 $(B)/libtally.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(B)/libtally.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libtally.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libtally.so
	$(INSTALL) -m 755 $(B)/tally-qemu.so $(DESTDIR)$(LIBDIR)/tally/
	$(INSTALL) -m 644 include/tally/*.h $(DESTDIR)$(INCLUDEDIR)/tally/
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/lib/tally/d
	$(INSTALL) -m 644 lib/tally/d/*.d $(DESTDIR)$(PREFIX)/lib/tally/d/
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' tools/tally.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/tally.pc
	$(INSTALL) -m 644 $(MAN) $(DESTDIR)$(MANDIR)/man1/
	$(INSTALL) -m 644 src/cmd/completion.bash $(DESTDIR)$(BASHDIR)/tally
	$(INSTALL) -m 644 src/cmd/completion.zsh $(DESTDIR)$(ZSHDIR)/_tally
	$(INSTALL) -m 644 src/cmd/completion.fish $(DESTDIR)$(FISHDIR)/tally.fish
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/tally/serve.d
	sed 's|@BINDIR@|$(BINDIR)|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' tools/tally-serve.service.in >$(DESTDIR)$(UNITDIR)/tally-serve.service
ifdef DTRACE
	$(INSTALL) -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(MANDIR)/man8
	ln -sf ../bin/tally $(DESTDIR)$(SBINDIR)/dtrace
	ln -sf ../man1/tally-trace.1 $(DESTDIR)$(MANDIR)/man8/dtrace.8
endif

# The pages link each other as they do in doc/; those of the verbs are manual pages.
install-doc:
	$(INSTALL) -d $(addprefix $(DESTDIR)$(DOCDIR),/ /tutorial /model /provider)
	$(INSTALL) -m 644 LICENSE README.md CHANGELOG.md SECURITY.md doc/*.md $(DESTDIR)$(DOCDIR)/
	$(INSTALL) -m 644 doc/tutorial/*.md $(DESTDIR)$(DOCDIR)/tutorial/
	$(INSTALL) -m 644 doc/model/*.md $(DESTDIR)$(DOCDIR)/model/
	$(INSTALL) -m 644 doc/provider/*.md $(DESTDIR)$(DOCDIR)/provider/
	cp -R examples $(DESTDIR)$(DOCDIR)/

clean:
	rm -rf build

-include $(patsubst %.o,%.d,$(call rel,$(ALL_SRC) $(TEST_LIB)) $(call san,$(ALL_SRC) $(TEST_SRC) $(TEST_LIB)) \
	$(call fuz,$(SOURCES) $(FUZZ_SRC) $(TEST_LIB)))
