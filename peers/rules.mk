# SPDX-License-Identifier: MIT
#
# Other libraries behind the contract of main.h. Nothing but make peers and make bench
# PEERS=1 builds them, and only where the library is. A peer is a file here, and says
# below which header it needs, with which flags, and which Debian package has it.

known_peers := $(basename $(notdir $(wildcard peers/*.c peers/*.cpp)))

rte_ring_header = rte_ring.h
rte_ring_cflags = $(shell pkg-config --cflags libdpdk 2>/dev/null)
rte_ring_libs = -lrte_ring -lrte_eal
rte_ring_package = libdpdk-dev, and pkg-config
rte_ring_version = $(shell pkg-config --modversion libdpdk 2>/dev/null)

ck_ring_header = ck_ring.h
ck_ring_cflags =
ck_ring_libs = -lck
ck_ring_package = libck-dev
ck_ring_version = $(shell pkg-config --modversion ck 2>/dev/null)

boost_spsc_queue_header = boost/lockfree/spsc_queue.hpp
boost_spsc_queue_cflags =
boost_spsc_queue_libs =
boost_spsc_queue_package = libboost-dev, and g++
boost_spsc_queue_version = $(shell echo BOOST_LIB_VERSION | $(peer_cxx) -E -P \
	-x c++ -include boost/version.hpp - 2>/dev/null | tr -d '" ' | tr _ . | tail -n 1)

# The C++ compiler that goes with CC.
peer_cxx = $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(CXX))
peer_language = $(if $(wildcard peers/$(1).cpp),c++,c)
peer_compiler = $(if $(wildcard peers/$(1).cpp),$(peer_cxx),$(CC))
peer_is_here = $(shell $(call peer_compiler,$(1)) $(CFLAGS) $($(1)_cflags) \
	-x $(call peer_language,$(1)) -include $($(1)_header) -fsyntax-only \
	/dev/null 2>/dev/null && echo yes)
peers_here = $(strip $(foreach p,$(known_peers),$(if $(call peer_is_here,$(p)),$(p))))
peers_absent = $(filter-out $(peers_here),$(known_peers))

# All objects of a peer are compiled with its flags, harness and all: else what they
# add to the instruction set would keep its calls from being inlined. With -I. a C++
# header called <compare> would be our program.
define peer_rules
build/peers/$(1)/%.o: %.c build/buildinfo.h
	@mkdir -p $$(@D)
	$$(Q)$$(COMPILE) $$($(1)_cflags) $$< -o $$@
build/peers/$(1)/%.o: %.cpp build/buildinfo.h
	@mkdir -p $$(@D)
	$$(Q)$$(peer_cxx) -std=gnu++20 $$(filter-out -std=%,$$(flags)) $$(CPPFLAGS) \
		-Wno-missing-field-initializers -DRING_NAME='"$$(*F)"' -iquote . \
		-MMD -MP -c $$($(1)_cflags) $$< -o $$@
build/peers/$(1)/program: $(HARNESS:build/%=build/peers/$(1)/%)
build/peers/$(1)/contract: $(patsubst build/%,build/peers/$(1)/%, \
	build/tests/ring/contract.o build/tests/ring/hostile.o \
	$(filter-out %/memory.o,$(LIB)))
build/peers/$(1)/program build/peers/$(1)/contract: build/peers/$(1)/peers/$(1).o
	$$(Q)$$(call peer_compiler,$(1)) $$(filter-out -std=%,$$(flags)) \
		$$(wordlist 2,9,$$(lto)) -Wl,--as-needed $$(LDFLAGS) $$^ -o $$@ \
		$$($(1)_libs) -lm
build/peers/$(1)/$(1): build/peers/$(1)/program
	$$(Q)ln -f $$< $$@
build/peers/$(1)/contract_$(1): build/peers/$(1)/contract
	$$(Q)ln -f $$< $$@
endef
$(foreach p,$(known_peers),$(eval $(call peer_rules,$(p))))

peer_programs = $(foreach p,$(peers_here),build/peers/$(p)/$(p))

# In two steps: what is here is found out only if it is asked for.
peers:
	@$(foreach p,$(peers_absent),echo '$(p): not built, as $($(p)_header) is not' \
		'here: install the Debian package $($(p)_package)';) :
	@[ -n "$(peers_here)" ] || exit 77
	@$(MAKE) $(if $(filter 1,$(V)),,-s) --no-print-directory $(jobs) \
		$(peer_programs)
	@$(foreach p,$(peers_here),echo '$(p): build/peers/$(p)/$(p), version' \
		'$(or $($(p)_version),not known: pkg-config is not here)';) :

.PHONY: peers
