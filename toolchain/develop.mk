# Files for editors and debuggers.

.PHONY: gdb

# compile_commands.json is made again each time: this takes a few seconds, and depends on every makefile and on the
# list of files.
compile_commands.json: FORCE ## how each C file is compiled, for clangd: the Linux program, the tests, the images
	$(Q)$(PYTHON) toolchain/compile_commands.py '$(MAKE)' $(O) $@

# The image without link-time optimization, which splits the program's state so that gdb cannot show it.
$(eval $(call image_with_main,debug,boot/main.c))

GDB ?= $(firstword $(foreach gdb,gdb-multiarch gdb,$(shell command -v $(gdb))))
# The first C function of the image; before it there is no stack.
GDB_STOP ?= boot_start

gdb: $(B)/debug.bin $(B)/card.img $(QEMU_NEEDS) ## boot BOARD= in QEMU under gdb, stopped at its first C function; GDB_STOP=name stops elsewhere
	$(if $(GDB),,$(error make gdb needs gdb for the board's processor: apt-get install gdb-multiarch))
	$(Q)$(PYTHON) toolchain/gdb/run.py --gdb $(GDB) --elf $(B)/debug.elf --stop $(GDB_STOP) $(if $(GDB_COMMANDS),--commands $(call quote,$(GDB_COMMANDS))) \
	    -- $(subst $(B)/ingot.bin,$(B)/debug.bin,$(qemu_with_card))

# Makes README's recording with a real model, which takes minutes on an idle computer.
.PHONY: recording
RECORDED := 'Write one sentence about a lighthouse.' 'Now one about the sea.'
recording: $(B)/ingot.bin $(B)/card.img ## docs/session.svg: README's recording, a session in QEMU; MODEL=smollm2-135m CMDLINE='temp=0 term=plain'
	$(Q)$(PYTHON) toolchain/record.py docs/session.svg 'Ingot in QEMU with $(notdir $(basename $(MODEL_FILE)))' $(RECORDED) -- $(qemu_with_card)
