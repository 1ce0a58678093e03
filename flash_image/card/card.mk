# `make card`, and `make run` and `make debug`, which boot it in QEMU.

.PHONY: run card debug qemu-command

# MODEL= names the model. The default is the demo model or, without it, the smallest asset.
DEMO := $(firstword $(wildcard models/demo-q8_0.ingot models/demo.ingot))
SMALLEST := $(wildcard $(ASSETS)/gguf/stories260K.gguf)
MADE_UP := $(O)/models/made-up.ingot
MODEL ?= $(or $(DEMO),$(SMALLEST),$(MADE_UP))
# MODEL= may also be the name of a published model (models/published.ini), unless a file has that name.
PUBLISHED_NAMES := $(shell sed -n 's/^\[\(.*\)\]$$/\1/p' models/published.ini)
PUBLISHED := $(if $(wildcard $(MODEL)),,$(filter $(PUBLISHED_NAMES),$(MODEL)))
# A path that begins with a dash is given with its folder, because programs would take it for an option.
$(foreach v,MODEL FIRMWARE SIGN,$(if $(filter -%,$(firstword $($(v)))),$(eval override $(v) := ./$$($(v)))))
# Variables of a board.mk for the other files on a card of BOARD=. CARD_IMAGE: the image's name on the card (empty: only models). CARD_FIRMWARE: firmware
# files that the card also needs; CARD_TREES: files that only some boards need; CARD_MORE: patterns of further files (flash_image/card/card_firmware.c); CARD_LICENCE:
# the firmware's licence. CARD_TABLE := mbr: the loader reads no GPT. CARD_SLOT: the partition of the table (1 to 3) that the loader looks at. CARD_MOST_WORDS: the
# number of characters of boot arguments that the loader takes. CARD_LOADER: the type of the partition for the loader's payload (FIRMWARE=FILE), and the numbers with
# which a payload begins. Debian's package of firmware has no device trees, so it is not used for a board that needs them.
DEBIAN_FIRMWARE := $(wildcard /usr/lib/raspi-firmware)
FIRMWARE ?= $(if $(CARD_LOADER),,$(if $(CARD_FIRMWARE)$(wildcard $(DEBIAN_FIRMWARE)/*.dtb),$(DEBIAN_FIRMWARE)))
# MiB of the card for /save, which needs twice the size of a conversation. If empty, enough for the model's whole context, from 8 to 1024; 0:
# none.
SAVE ?=
# MiB for keys and values with kv=card; `ingot plan` says how many. 0: none.
KV ?= 0
# The format of the partition with the models (fat32 or exfat), and the kind of partition table (mbr or gpt).
FORMAT ?= fat32
TABLE ?= mbr
# MiB for the turns that log=on stores; the newest ones stay. 0: none.
LOG ?= 0
# MiB for the prompts that kept=SIZE stores, so that they are not computed again after a start. 0: none.
KEPT ?= 0
# The private key that signs models and adapters (docs/SIGNING.md); empty: they are not signed.
SIGN ?=
# The system prompt, a boot argument; the card stores its computed state; empty: none.
SYSTEM ?=
CORES ?= 4

# ---- users' settings, checked before anything is compiled ----------------------------------

CARD_GOALS := $(filter run card debug %/card.img,$(MAKECMDGOALS))
MODEL_KIND :=
define newline


endef

# $(1) a variable's name, $(2) the least, $(3) the most, $(4) what it counts. The test accepts only digits and a sign.
number_is_fine = $(shell v=$(call quote,$($(1))); [ "$$v" -ge $(2) ] 2>/dev/null && [ "$$v" -le $(3) ] && echo fine)
check_number = $(if $(number_is_fine),,$(error $(1)=$($(1)) is not a number of $(4) from $(2) to $(3)))

ifneq ($(filter run debug qemu-command,$(MAKECMDGOALS)),)
$(call check_number,CORES,1,8,cores)
endif

ifneq ($(CARD_GOALS),)
$(if $(SAVE),$(call check_number,SAVE,0,4095,MiB))
$(call check_number,KV,0,4095,MiB)
$(call check_number,LOG,0,4095,MiB)
$(call check_number,KEPT,0,4095,MiB)
ifeq ($(filter fat32 exfat,$(FORMAT)),)
$(error FORMAT=$(FORMAT) is neither fat32 nor exfat)
endif
ifeq ($(filter mbr gpt,$(TABLE)),)
$(error TABLE=$(TABLE) is neither mbr nor gpt)
endif
ifneq ($(findstring $(newline),$(value SYSTEM)),)
$(error SYSTEM= is more than one line: `ingot card --system` takes them)
endif
ifneq ($(findstring $(newline),$(value CMDLINE)),)
$(error CMDLINE= is more than one line, and boot arguments are one line)
endif
ifeq ($(MODEL),$(MADE_UP))
MODEL_KIND := copy
else ifneq ($(PUBLISHED),)
MODEL_KIND := published
else
MODEL_KIND := $(shell flash_image/card/check_model.sh $(call quote,$(MODEL)))
endif
ifeq ($(firstword $(MODEL_KIND)),wrong)
$(error $(subst wrong MODEL,MODEL,$(MODEL_KIND)))
endif
ifneq ($(shell [ -z $(call quote,$(FIRMWARE)) ] || [ -d $(call quote,$(FIRMWARE)) ] || [ -f $(call quote,$(FIRMWARE)) ] || echo wrong),)
$(error FIRMWARE=$(FIRMWARE) is neither a folder nor a zip archive)
endif
endif

# ---- the model -------------------------------------------------------------------------------

# The user's paths are hidden from make, which would take a path with spaces for several files. A model is packed into a separate folder, so that two
# models with the same name do not collide.
ifeq ($(firstword $(MODEL_KIND)),pack)
PACKED := $(O)/models/$(word 2,$(MODEL_KIND))
MODEL_NAME := $(shell basename -- "$$(realpath -s -- $(call quote,$(MODEL)))" | sed 's/\.gguf$$//; s/\.bin$$//')
MODEL_FILE := $(PACKED)/$(MODEL_NAME).ingot
MODEL_READY := $(PACKED)/packed
else ifneq ($(PUBLISHED),)
MODEL_FILE := $(O)/models/published/$(PUBLISHED).ingot
MODEL_READY := $(MODEL_FILE)
else
MODEL_FILE := $(MODEL)
MODEL_READY := $(if $(subst $(MADE_UP),,$(MODEL)),,$(MODEL))
endif

# List a file, or all files of a folder, with size and time.
files_of = find -L $(call quote,$(1)) -type f -printf '%p %s %T@\n' | sort

# Write $@ only if its text changes, so that files made from it are made again only in that case. Suites that run in parallel
# may do this at the same time: each writes its own file, and mv replaces $@ in one step.
define write_if_changed
@mkdir -p $(@D)
@{ $(1); } >$@.$$$$ || { rm $@.$$$$; exit 1; }; if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
endef

$(O)/models/%/source: FORCE
	$(call write_if_changed,$(call files_of,$(MODEL)))

$(O)/models/%/packed: $(O)/models/%/source $(H)/ingot
	$(Q)rm -f $(@D)/*.ingot
	$(Q)$(H)/ingot pack $(call quote,$(MODEL)) -o $(call quote,$(MODEL_FILE))
	@touch $@

ifneq ($(filter model,$(MAKECMDGOALS)),)
ifneq ($(filter-out $(PUBLISHED_NAMES),$(NAME)),)
$(error NAME=$(NAME) is not a published model; there are: $(PUBLISHED_NAMES))
endif
endif

$(O)/models/published/%.gguf:
	@mkdir -p $(@D)
	$(Q)$(PYTHON) toolchain/published.py fetch $* $@

$(O)/models/published/%.ingot: $(O)/models/published/%.gguf models/published.ini $(H)/ingot
	$(Q)$(H)/ingot pack $< -o $@ --defaults "$$($(PYTHON) toolchain/published.py defaults $*)"

.PHONY: model
model: $(if $(NAME),$(O)/models/published/$(NAME).ingot) ## fetch and pack a published model by NAME=, for MODEL=NAME of run and card; without NAME= the list
	$(if $(NAME),@echo '$(O)/models/published/$(NAME).ingot: make run MODEL=$(NAME)',$(Q)$(PYTHON) toolchain/published.py list)

# If there is neither a demo model nor an asset, make a model with random weights, which boots and talks nonsense.
$(MADE_UP): $(H)/ingot
	@mkdir -p $(@D)
	@echo "no model under $(ASSETS): making one up, which talks nonsense; give MODEL=x.gguf"
	$(Q)$(H)/ingot synth --shape tiny --type q8_0 -o $@

# ---- the card --------------------------------------------------------------------------------

# The files of a board that `ingot card` needs besides the image; flash_image/card/card_board.h lists them.
CARD_FILES = $(wildcard board/$(BOARD)/card/* board/$(BOARD)/card/*/* board/$(BOARD)/wiring.txt)

$(B)/card/about: $(CARD_FILES) flash_image/card/card_readme.txt flash_image/card/card.mk board/$(BOARD)/board.mk
	$(Q)rm -rf $(@D) && mkdir -p $(@D)/files
	$(Q)for f in board/$(BOARD)/card/*; do \
	    case "$$f" in *'/*') ;; */words) cp "$$f" $(@D) ;; *) cp -R "$$f" $(@D)/files ;; esac; done
	$(Q)cp flash_image/card/card_readme.txt $(@D)/readme.txt
	$(Q)[ ! -f board/$(BOARD)/wiring.txt ] || cp board/$(BOARD)/wiring.txt $(@D)
	$(Q)printf '%s\n' $(if $(CARD_IMAGE),'image $(CARD_IMAGE)') $(if $(CARD_FIRMWARE),'firmware $(CARD_FIRMWARE)') \
	    $(if $(CARD_TREES),'trees $(CARD_TREES)') $(if $(CARD_MORE),'more $(CARD_MORE)') \
	    $(if $(CARD_LICENCE),'licence $(CARD_LICENCE)') $(if $(CARD_TABLE),'table $(CARD_TABLE)') $(if $(CARD_SLOT),'slot $(CARD_SLOT)') $(if $(CARD_MOST_WORDS),'most_words $(CARD_MOST_WORDS)') \
	    $(if $(CARD_LOADER),'loader $(CARD_LOADER)') >$@

CARD_SIZE = $(if $(findstring if=sd,$(QEMU_CARD)),--power-of-two)
# SYSTEM= is used as typed; make does not expand a dollar sign in it. CMDLINE= replaces the words of
# board/<name>/card/words.
system_word = $(shell printf '%s' $(call quote,$(value SYSTEM)) | sed 's/[\\"]/\\&/g')
WORDS = $(call quote,$(value CMDLINE)$(if $(SYSTEM), system="$(system_word)"))
CARD_WORDS = $(call quote,$(value CMDLINE))
CARD_CONTENT = $(CARD_SIZE) --format $(FORMAT) --table $(TABLE) $(if $(SAVE),--save $(SAVE)) --kv $(KV) --log $(LOG) --kept $(KEPT) $(if $(NAMES),--names $(call quote,$(NAMES))) \
               $(if $(SYSTEM),--system $(call quote,$(value SYSTEM))) $(if $(FIRMWARE),--firmware $(call quote,$(FIRMWARE))) $(if $(SIGN),--sign $(call quote,$(SIGN)))
CARD_OPTIONS = $(CARD_CONTENT) $(if $(CMDLINE),--cmdline $(CARD_WORDS))
# Print the options and input files that determine the card, except files made here and the boot arguments.
card_made_of = printf '%s\n' $(CARD_CONTENT) $(call quote,$(MODEL_FILE)) \
               $(if $(MODEL_READY),,; $(call files_of,$(MODEL))) \
               $(if $(CARD_IMAGE),$(if $(FIRMWARE),; $(call files_of,$(FIRMWARE)))) $(if $(SIGN),; $(call files_of,$(SIGN)))

$(B)/card.made-of: FORCE
	$(call write_if_changed,$(card_made_of))

$(B)/card.words: FORCE
	$(call write_if_changed,printf '%s\n' $(CARD_WORDS))

# `make run` hands CMDLINE= to the program itself. So other words do not make a new card, which would lack the conversations that
# were saved on the old one. EFI firmware reads the words from the card. card.words has the words of the present card, also of one
# that `make run` made for another reason.
CARD_NEEDS_WORDS = $(if $(EFI),yes,$(if $(filter run debug gdb recording %/run-parts,$(MAKECMDGOALS)),,yes))

# The first card does not need the program `ingot`: first_card writes the same bytes for a card that has only an
# unchanged model and no image. `make run` without further settings needs only first_card.
SAYS_MORE := $(strip $(if $(filter-out $(DEMO),$(MODEL)),yes) $(CARD_IMAGE) $(NAMES) $(SYSTEM) $(SIGN) $(filter-out 0,$(KV) $(LOG) $(KEPT)) \
             $(filter-out fat32,$(FORMAT)) $(filter-out mbr,$(TABLE)))
FIRST_CARD := $(O)/first_card
# The minimum, which `ingot card` would choose too: a demo model's whole context needs less.
FIRST_SAVE := 8
# Whole folders are listed, so that new files are included; the linker keeps the few functions that are used.
FIRST_CARD_SRC := host/card/first_card/first_card.c $(wildcard flash_image/card/*.c flash_image/output/*.c runtime/text/*.c) \
                  flash_image/source/map_file.c runtime/storage/partitions.c board/err.c
CARD_MAKER := $(if $(SAYS_MORE),$(H)/ingot,$(FIRST_CARD))

$(FIRST_CARD): $(FIRST_CARD_SRC) $(wildcard flash_image/card/*.h flash_image/output/*.h) VERSION
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(filter-out -MMD -MP,$(HOST_CFLAGS)) -O1 -Wno-format-truncation -ffunction-sections -Wl,--gc-sections $(FIRST_CARD_SRC) -o $@

$(B)/card.img: $(MODEL_READY) $(CARD_MAKER) $(B)/card/about $(B)/card.made-of $(if $(CARD_NEEDS_WORDS),$(B)/card.words) $(if $(CARD_IMAGE),$(B)/ingot.bin)
	$(Q)printf '%s\n' $(CARD_WORDS) > $(B)/card.words
	$(Q)$(if $(SAYS_MORE),$(H)/ingot card $(BOARD) -o $@ $(CARD_OPTIONS) --boards $(O) -- $(call quote,$(MODEL_FILE)),$(FIRST_CARD) $(BOARD) $(call quote,$(MODEL_FILE)) $(O) $@ $(or $(SAVE),$(FIRST_SAVE)) $(CARD_WORDS) $(CARD_SIZE))

card: $(B)/card.img ##* build/<board>/card.img with MODEL= (.ingot, .gguf, folder); FIRMWARE=folder, zip or payload, CMDLINE='words' go onto it, SAVE=MiB for /save (else a whole context), NAMES=a,b for more of them, KV=MiB for kv=card, LOG=MiB for log=on, KEPT=MiB for kept=SIZE, FORMAT=exfat for models of 4 GiB and more, TABLE=gpt, SYSTEM='text' for a system prompt that no start computes, SIGN=key.pem signs the models

# SCREEN=1: QEMU's window shows the display, and the serial line stays on this terminal.
qemu_machine = $(if $(filter 1,$(SCREEN)),$(subst -nographic,-serial mon:stdio $(QEMU_SCREEN),$(QEMU_MACHINE)),$(QEMU_MACHINE))
qemu = $(QEMU) $(qemu_machine) -smp $(QEMU_SMP)
# EFI firmware finds the program and the boot arguments on the card.
qemu_with_card = $(qemu) -no-reboot $(if $(EFI),,-kernel $(B)/ingot.bin -append $(WORDS)) $(call QEMU_CARD,$(B)/card.img) $(if $(NETWORK),$(QEMU_NETWORK))

# These parts are built in parallel, because a first image takes two minutes of one core. Fetching a model may ask the user, so
# the outer make does that.
.PHONY: $(B)/run-parts
$(B)/run-parts: $(B)/ingot.bin $(B)/card.img $(QEMU_NEEDS)

run: $(MODEL_READY) ##* boot BOARD= in QEMU with MODEL= and chat; CMDLINE='words' adds boot arguments, SCREEN=1 a window with the board's display; leave with Ctrl-A X
	+$(side_by_side) $(B)/run-parts
	$(Q)$(qemu_with_card)

# For the tests: print the command that `run` would start, without the parts that differ between runs.
qemu-command: $(QEMU_NEEDS)
	@echo $(qemu)

debug: $(B)/ingot.bin $(B)/card.img $(QEMU_NEEDS) ## as run, halted, waiting for gdb on localhost:1234
	@echo "gdb-multiarch $(B)/ingot.elf -ex 'target remote localhost:1234'"
	$(Q)$(qemu_with_card) -S -gdb tcp:127.0.0.1:1234
