# `make lib`: the library of one board, or of the host, and the examples that use it.

# ld takes from these objects what is used, and all kernels, because a table names them. The other rooms of runtime/ print or depend on a board.
LIB_ROOMS := base text storage image tokenizer features/grammar compute features/lessons features/fabric features/policy stream model session
LIB_SRC := board/err.c board/memory_device.c runtime/chat/chat_turn.c \
           $(filter-out $(OF_KEYS),$(foreach r,$(LIB_ROOMS),$(wildcard runtime/$(r)/*.c))) $(wildcard kernels/*.c kernels/ref/*.c)
LIB_OWN := $(wildcard library/*.c)

# $(1): the folder; $(2), (3): objects of library/ and others; $(4): prefix of the tools. The result is one object in
# which only ingot_* are global, so that no name conflicts with a name of the program. Debug information is kept; the
# sections that -flto added are removed.
define library_archive
$(1)/lib/parts.a: $(3)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@
	$$(Q)$(4)gcc-ar rcsD $$@ $(3)

$(1)/libingot.a: $(2) $(1)/lib/parts.a
	$$(call say,LIB,$$@)
	$$(Q)$(4)ld -r -o $(1)/lib/whole.o $(2) $(1)/lib/parts.a
	$$(Q)$(4)objcopy --wildcard --keep-global-symbol 'ingot_*' --remove-section '.gnu.lto_*' \
	    --remove-section '.gnu.debuglto_*' $(1)/lib/whole.o $(1)/lib/ingot.o
	$$(Q)rm -f $$@
	$$(Q)$(4)ar rcsD $$@ $(1)/lib/ingot.o
endef

HOST_LIB_SRC := $(LIB_SRC) board/host/host_cpu.c $(call kernel_names,$(HOST_ISA))
$(eval $(call library_archive,$(H),$(HOST_LIB_OWN:%=$(H)/obj/%.o),$(HOST_LIB_SRC:%=$(H)/obj/%.o),))
-include $(HOST_LIB_OWN:%=$(H)/obj/%.d)

# These are the same objects as those of the image. library/<isa>/ has the code of INGOT_CPU_AUTO on arm64 and riscv64.
ifneq ($(ISA),)
BOARD_LIB_OWN := $(LIB_OWN) $(wildcard library/bare/*.c library/$(ISA)/*.c)
BOARD_LIB_OBJ := $(call image_obj,$(BOARD_LIB_OWN))
BOARD_LIB_SRC := $(LIB_SRC) $(filter kernels/$(ISA)/%,$(IMAGE_SRC))
$(BOARD_LIB_OBJ): IMAGE_CFLAGS += $(SMALL)
$(eval $(call library_archive,$(B),$(BOARD_LIB_OBJ),$(call image_obj,$(BOARD_LIB_SRC)),$(CROSS_COMPILE)))
-include $(BOARD_LIB_OBJ:.o=.d)
endif

.PHONY: lib examples

lib: $(if $(filter host,$(BOARD)),$(H),$(B))/libingot.a ## build/<board>/libingot.a of BOARD= (host, too), for programs that include include/ingot.h

# ---- examples, which use only include/ingot.h and the library ------------------------------------

$(H)/examples/%: examples/%.c include/ingot.h $(H)/libingot.a
	$(call say,EXAMPLE,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=c11 -O2 -Wall -Wextra -Werror -Iinclude $< $(H)/libingot.a -o $@

# The model that the firmware carries, and where it is loaded.
EXAMPLE_MODEL ?= models/demo-q8_0.ingot
FIRMWARE_BOARDS := virt-arm64 virt-riscv64
LOAD_virt-arm64 := 0x40400000
LOAD_virt-riscv64 := 0x80200000
FIRMWARE_SRC := examples/firmware/main.c examples/firmware/model.S examples/firmware/$(BOARD).c examples/firmware/$(BOARD).S

ifneq ($(filter $(BOARD),$(FIRMWARE_BOARDS)),)
$(B)/examples/firmware.elf: $(FIRMWARE_SRC) $(wildcard examples/firmware/*.h) examples/firmware/firmware.ld \
                            include/ingot.h $(EXAMPLE_MODEL) $(B)/libingot.a
	$(call say,EXAMPLE,$@)
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc -std=c11 -O2 -g -Wall -Wextra -Werror -ffreestanding -fno-pie -Iinclude -Iexamples/firmware \
	    $(ISA_CFLAGS) -DMODEL='"$(EXAMPLE_MODEL)"' $(IMAGE_LDFLAGS) -T examples/firmware/firmware.ld \
	    -Wl,--defsym=LOAD_ADDRESS=$(LOAD_$(BOARD)) $(FIRMWARE_SRC) $(B)/libingot.a \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $@
endif

examples: $(H)/examples/hello ## examples/: hello for this computer, the firmware for both virt machines
	$(Q)for b in $(FIRMWARE_BOARDS); do \
	    $(MAKE) --no-print-directory -s $(O)/$$b/examples/firmware.elf BOARD=$$b || exit 1; done
