# `make install`, and `make release`: files for people without a compiler.

.PHONY: install release static

# ---- static programs -------------------------------------------------------------------------

# A static program for each ISA of Linux: `make static HOST_ISA=arm64` and so on, in build/static-<isa>/. cJSON is
# compiled in.
CJSON := $(O)/cjson
STATIC_ISAS := x86_64 arm64 riscv64
STATIC_CC_x86_64 := gcc
STATIC_CC_arm64 := aarch64-linux-gnu-gcc
STATIC_CC_riscv64 := riscv64-linux-gnu-gcc
STATIC_MARCH_x86_64 := x86-64-v3
STATIC_H = $(O)/static-$(1)

$(CJSON)/cJSON.c:
	$(Q)toolchain/cjson.sh $(CJSON)

# BearSSL is compiled in too, because its package is only for this computer.
$(foreach isa,$(STATIC_ISAS),$(eval $(call bearssl_archive,$(call STATIC_H,$(isa))/libbearssl.a,$(STATIC_CC_$(isa)) -std=c99 -O2,,$(BEARSSL_SIGNS))))

# NOTICE is made from the map.
STATIC_LIBS = -static -s -Wl,--build-id=none -lm -Wl,-Map,$@.map

$(O)/static-%/cJSON.o: $(CJSON)/cJSON.c
	@mkdir -p $(@D)
	$(Q)$(STATIC_CC_$*) -O2 -ffile-prefix-map=$(call quote,$(abspath $(CJSON)))/= -I$(CJSON)/cjson -c $< -o $@

# This computer's program is linked again from its objects. The others come from the same rules with another compiler, in another folder (STATIC=1).
# The static programs have no HTTP server, because wslay's package has no static library.
WITH_HTTP := serve_http serve_http_missing serve_ws serve_socket serve_room
$(WITH_HTTP:%=$(call STATIC_H,$(HOST_ISA))/%.o): $(call STATIC_H,$(HOST_ISA))/%.o: host/serve/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -UINGOT_HTTP -c $< -o $@

$(call STATIC_H,$(HOST_ISA))/voice_resample.o: host/voice/voice_resample.c Makefile
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -UINGOT_SAMPLERATE -c $< -o $@

$(call STATIC_H,$(HOST_ISA))/ingot: $(filter-out $(WITH_HTTP:%=$(H)/obj/host/serve/%.c.o) $(LLHTTP_OBJ:%=$(H)/obj/%.o) $(H)/obj/runtime/http/% $(H)/obj/host/voice/voice_resample.c.o,$(HOST_OBJ)) \
        $(addprefix $(call STATIC_H,$(HOST_ISA))/,$(WITH_HTTP:%=%.o) voice_resample.o cJSON.o libbearssl.a) toolchain/release.mk
	$(call say,LD,$@)
	$(Q)$(HOST_CC) -pthread $(filter %.o %.a,$^) $(STATIC_LIBS) -o $@

define static_program
$(call STATIC_H,$(1))/ingot: FORCE $(call STATIC_H,$(1))/cJSON.o $(call STATIC_H,$(1))/libbearssl.a
	$(Q)$(MAKE) --no-print-directory $$@ H=$(O)/host-$(1) HOST_ISA=$(1) HOST_CC=$(STATIC_CC_$(1)) \
	    HOST_MARCH=$(STATIC_MARCH_$(1)) STATIC=1 HTTP= HOST_SAMPLERATE= HOST_BEARSSL=yes
endef
ifeq ($(STATIC),)
$(foreach isa,$(filter-out $(HOST_ISA),$(STATIC_ISAS)),$(eval $(call static_program,$(isa))))
else
HOST_CFLAGS += -isystem $(CJSON) -isystem $(BEARSSL)/inc
endif

static: $(foreach isa,$(STATIC_ISAS),$(call STATIC_H,$(isa))/ingot) ## build/static-<isa>/ingot: the Linux program for x86_64, arm64 and riscv64, without libraries

# ---- install ---------------------------------------------------------------------------------

PREFIX ?= /usr/local
DESTDIR ?=

install: $(H)/ingot ## the Linux program, its manual page and bash completion, docs and the boards that are built to PREFIX=/usr/local (below DESTDIR=)
	$(Q)toolchain/install.sh $(call quote,$(DESTDIR)$(PREFIX)) $(O)
	$(Q)install -D -m 755 $(H)/ingot $(call quote,$(DESTDIR)$(PREFIX))/bin/ingot
	@echo "installed ingot $(VERSION) below "$(call quote,$(DESTDIR)$(PREFIX))

# ---- release ---------------------------------------------------------------------------------

RELEASE := $(O)/release
RELEASE_BOARDS := $(filter-out template,$(BOARDS))
# Firmware is copied to a release's cards only on request, with its licence.
RELEASE_FIRMWARE := $(if $(filter command environment,$(origin FIRMWARE)),$(FIRMWARE))
ifneq ($(filter release,$(MAKECMDGOALS)),)
ifneq ($(RELEASE_FIRMWARE),)
ifneq ($(shell [ -f $(call quote,$(RELEASE_FIRMWARE))/LICENCE.broadcom ] && echo fine),fine)
$(error FIRMWARE=$(RELEASE_FIRMWARE) has no LICENCE.broadcom, without which its files may not be given on)
endif
endif
endif

release: $(H)/ingot static ##* build/release/: cards of every board, ingot-VERSION.tar.xz, SHA256SUMS; FIRMWARE=folder with its licence goes onto the cards
	$(Q)for b in $(RELEASE_BOARDS); do \
	    $(MAKE) --no-print-directory -s $(O)/$$b/ingot.bin $(O)/$$b/card/about BOARD=$$b || exit 1; done
	$(Q)MAKE='$(MAKE)' toolchain/release.sh $(RELEASE) $(O) $(VERSION) $(call quote,$(RELEASE_FIRMWARE)) $(RELEASE_BOARDS)
