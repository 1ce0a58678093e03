# lwIP, with which an image with NETWORK=yes speaks TCP/IP (docs/LAN.md): the distribution's source, configured by runtime/net/lwip/lwipopts.h. The
# HTTP parser is llhttp (toolchain/http.mk).

# NETWORK=yes builds an image with a network, which is off without net=. If NETWORK is empty, nothing of the network is built.
NETWORK ?=

LWIP := $(O)/lwip/source
LWIP_PARTS := $(addprefix src/,$(addsuffix .c,netif/ethernet apps/mdns/mdns \
    $(addprefix core/,def dns inet_chksum init ip mem memp netif pbuf stats sys tcp tcp_in tcp_out timeouts udp) \
    $(addprefix core/ipv4/,autoip dhcp etharp icmp igmp ip4 ip4_addr) \
    $(addprefix core/ipv6/,ethip6 icmp6 inet6 ip6 ip6_addr mld6 nd6)))

$(LWIP)/src/include/lwip/init.h:
	$(Q)toolchain/fetch_source.sh lwip $(LWIP)

LWIP_MADE_OF := $(LWIP)/src/include/lwip/init.h toolchain/lwip.mk $(wildcard $(addprefix runtime/net/lwip/,*.h */*.h */*/*.h))
LWIP_INCLUDE := -Iruntime/net/lwip -Iruntime/net/lwip/instead -isystem $(LWIP)/src/include

LLHTTP ?= /usr/share/llhttp
LLHTTP_INCLUDE ?= /usr/share/include/llhttp

# NETWORK_TESTS is yes if the packages for tests of a network are installed (make setup-tests).
NETWORK_TESTS := $(if $(word 4,$(wildcard $(LWIP)/src/include/lwip/init.h $(addprefix $(LLHTTP)/,llhttp.c api.c http.c))),yes)

# Sources in boot/ that only an image with a network has, and the source that they replace.
BOOT_NETWORK := boot/network.c boot/network_group.c
BOOT_WITHOUT_NETWORK := boot/no_network.c
# A board's network source, which names its drivers.
NETWORK_OF_BOARD := $(if $(EFI),board/efi/efi_network.c,board/$(BOARD)/network.c)
ifneq ($(NETWORK),)
$(if $(wildcard $(NETWORK_OF_BOARD)),,$(error NETWORK=yes: $(BOARD) has no driver of its network yet; these have: $(patsubst board/%/network.c,%,$(wildcard board/*/network.c))))
endif
# The network's other sources.
OF_NETWORK := $(wildcard runtime/net/*.c) $(wildcard runtime/api/*.c) \
              $(filter-out runtime/http/http_frames.c,$(wildcard runtime/http/*.c))
NOT_IN_IMAGE += $(OF_NETWORK) runtime/http/http_frames.c

ifneq ($(ISA),)
# Boards of an ISA share the archives, like other objects.
LWIP_AT := $(O)/lwip/$(if $(strip $(BOARD_CFLAGS)),$(BOARD),$(ISA))
LWIP_CC = $(CROSS_COMPILE)gcc -std=c11 $(SMALL) $(ISA_CFLAGS) $(NEWLIB_INCLUDE) -fno-pie -fno-pic -fno-common -fstack-protector-strong \
          -ffunction-sections -fdata-sections $(BOARD_CFLAGS) -g0 -w

# $(1): archive; $(2): include flags; $(3): folder of the sources; $(4): files; $(5): their dependencies.
define network_archive
$(1): $(5) | $(NEWLIB_READY)
	$$(call say,NETWORK,$$@)
	$$(Q)rm -rf $(1).obj && mkdir -p $(1).obj
	$$(Q)for f in $(4); do \
	    $$(LWIP_CC) -ffile-prefix-map=$$(call quote,$$(abspath $(3)))=network $(2) -c $(3)/$$$$f -o $(1).obj/$$$$(basename $$$$f).o || exit 1; done
	$$(Q)rm -f $$@ && $(CROSS_COMPILE)ar rcsD $$@ $(1).obj/*.o
endef
$(eval $(call network_archive,$(LWIP_AT)/liblwip.a,$(LWIP_INCLUDE) $(FIXED_INCLUDE),$(LWIP),$(LWIP_PARTS),$(LWIP_MADE_OF)))
$(eval $(call network_archive,$(LWIP_AT)/libllhttp.a,-isystem $(LLHTTP_INCLUDE) $(FIXED_INCLUDE) -Dabort=__builtin_trap,$(LLHTTP),llhttp.c api.c http.c,toolchain/lwip.mk))

NETWORK_OBJ := $(patsubst %,$(S)/obj/%.o,$(BOOT_NETWORK) $(OF_NETWORK)) $(B)/obj/$(NETWORK_OF_BOARD).o
NETWORK_PARTS := $(LWIP_AT)/liblwip.a $(LWIP_AT)/libllhttp.a
$(NETWORK_OBJ): IMAGE_CFLAGS += $(SMALL) -isystem $(LLHTTP_INCLUDE)
$(filter $(S)/obj/runtime/net/%,$(NETWORK_OBJ)): IMAGE_CFLAGS += $(LWIP_INCLUDE) $(FIXED_INCLUDE)
$(filter $(S)/obj/runtime/net/%,$(NETWORK_OBJ)): $(LWIP)/src/include/lwip/init.h
-include $(NETWORK_OBJ:.o=.d)

# The image is linked again if the network is added or removed.
$(B)/network.made-of: FORCE
	$(call write_if_changed,echo $(if $(NETWORK),network,none))
endif

# For tests/fuzz/net_fuzz.c and tests/unit/net: lwIP and its port on this computer, with lwIP's own asserts, without checks of checksums, and with
# malloc instead of pools, which would hide errors from the sanitizers.
NET_FUZZ := $(O)/tests/fuzz/net
NET_ASAN := $(O)/lwip/asan/libnet.a
NET_ASAN_FLAGS := -DNET_ASSERTS -DMEM_LIBC_MALLOC=1 -DMEMP_MEM_MALLOC=1 -DCHECKSUM_CHECK_IP=0 -DCHECKSUM_CHECK_TCP=0 -DCHECKSUM_CHECK_UDP=0 \
                  -DCHECKSUM_CHECK_ICMP=0 -DCHECKSUM_CHECK_ICMP6=0 $(LWIP_INCLUDE) -isystem $(LLHTTP_INCLUDE)
NET_SRC := $(filter-out %/net_frames.c,$(wildcard runtime/net/*.c))
NET_ASAN_SRC := $(LWIP_PARTS:%=$(LWIP)/%) $(NET_SRC)
