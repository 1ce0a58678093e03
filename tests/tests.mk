# The suites. Each suite is a folder of TAP programs, which prove runs; `make test` runs all suites at the same time.

# A program that hangs, or a suite that takes too long, is ended and reported.
PROVE = tests/bounded.py --suite '$@' prove --timer --exec tests/bounded.py
TEST_ENV = INGOT_BUILD=$(call quote,$(abspath $(O))) INGOT_ASSETS=$(call quote,$(abspath $(ASSETS))) PYTHON=$(PYTHON) \
           FUZZ_SECONDS=$(FUZZ_SECONDS) INGOT_LONG=$(LONG) \
           INGOT_TEST_SECONDS=$(TEST_SECONDS) INGOT_SUITE_SECONDS=$(SUITE_SECONDS)
FUZZ_SECONDS ?= 0.25
TEST_SECONDS ?= 600
SUITE_SECONDS ?= 3600
# The number of parallel programs is twice the number of jobs, because tests of lines, keys and slow cards wait for two
# fifths of their time. On two cores this saves a quarter of the time; three times the number of jobs would not save
# more.
TEST_JOBS ?= $(shell expr 2 '*' $(JOBS))

.PHONY: check clients test test-more more-parts test-long test-without-assets test-tsan test-unit test-kernels test-golden test-boot test-faults test-fuzz test-boards \
        test-parts test-images bench bench-gate bench-stream bench-stream-experts bench-experts experts-picture bench-kernels bench-mixers bench-passes bench-threads compare bench-agent bench-attention bench-pack bench-kv quality bench-images bench-storage fuzz-long

# All programs of a folder, except that with a model of 4 GiB, which test-long runs.
GOLDEN := $(filter-out tests/golden/large.t,$(wildcard tests/golden/*.t tests/golden/*/*.t))
BOOT := $(wildcard tests/boot/*.t tests/serve/*.t)
FAULTS := $(wildcard tests/faults/*.t)
KERNELS := $(wildcard tests/kernels/*.t)
TREES := $(wildcard tests/boards/*.t)
# Suites of one board.
OF_BOARDS := $(wildcard board/*/tests/*.t)
MAKES := $(wildcard tests/make/*.t)

# ---- kernels: one tester, built for every ISA, run by qemu-user (and natively here) -----------

KT := $(O)/tests/kernels
KT_SRC = $(wildcard kernels/*.c kernels/ref/*.c kernels/selftest/*.c tests/kernels/*.c)
KT_FLAGS = $(filter-out -MMD -MP,$(COMMON)) -D_GNU_SOURCE -pthread -static
KT_DEPS = $(KT_SRC) flash_image/format/types.def $(wildcard kernels/*.h kernels/*.inc kernels/ref/*.h kernels/selftest/*.h tests/kernels/*.h \
          tests/alarm.h tests/tests.mk)

$(KT)/kernels_test.x86_64: $(KT_DEPS) $(call kernel_files,x86_64) $(wildcard kernels/x86_64/* kernels/x86_64/*/*.h kernels/x86_64/*/*/*.h kernels/selftest/*_x86_64.S tests/kernels/*_x86_64.S)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(filter-out -static,$(KT_FLAGS)) $(HOST_MARCH:%=-march=%) $(SANITIZE) -O2 $(KT_SRC) \
	    $(call kernel_files,x86_64) kernels/selftest/call_x86_64.S tests/kernels/broken_x86_64.S -lm -o $@

$(KT)/kernels_test.arm64: $(KT_DEPS) $(call kernel_files,arm64) $(wildcard kernels/arm64/* kernels/arm64/*/*.h kernels/arm64/*/*/*.h kernels/selftest/*_arm64.S tests/kernels/*_arm64.S)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)aarch64-linux-gnu-gcc $(KT_FLAGS) -march=armv8-a $(KT_SRC) $(call kernel_files,arm64) \
	    kernels/selftest/call_arm64.S tests/kernels/broken_arm64.S -lm -o $@

$(KT)/kernels_test.riscv64: $(KT_DEPS) $(call kernel_files,riscv64) $(wildcard kernels/riscv64/* kernels/riscv64/*/*.h kernels/riscv64/*/*/*.h kernels/selftest/*_riscv64.S tests/kernels/*_riscv64.S)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)riscv64-linux-gnu-gcc $(KT_FLAGS) -march=rv64gc -mabi=lp64d $(KT_SRC) $(call kernel_files,riscv64) \
	    kernels/selftest/call_riscv64.S tests/kernels/broken_riscv64.S -lm -o $@

KT_ISAS := $(if $(filter x86_64,$(HOST_ISA)),x86_64) arm64 riscv64

test-kernels: $(KT_ISAS:%=$(KT)/kernels_test.%) test-images ## every kernel against its reference on every ISA's emulator
	$(Q)$(TEST_ENV) $(PROVE) -j$(JOBS) $(KERNELS)

# ---- boards: each board's own code as a program for this computer (tests/boards/trees.t) --------

BOX := $(O)/tests/boards
BOX_BOARDS := $(patsubst board/%/expected.py,%,$(shell grep -l "^TREES" board/*/expected.py))
# Drivers with instructions of a single ISA, which boot_fake.c replaces.
BOX_NOT := $(addprefix board/drivers/soc/,generic_timer.c riscv_timer.c sbi_call.c semihosting.c psci_call.c)
BOX_OBJ := $(patsubst %.c,$(BOX)/obj/%.o,$(filter-out $(BOX_NOT),$(wildcard board/drivers/*/*.c)) $(wildcard board/*.c) boot/boot.c \
             tests/boards/boot_fake.c tests/boards/firmware_fake.c)
# Registers have their real addresses, which AddressSanitizer would use itself. -fPIC is needed because an image's symbols are far from a
# program's.
BOX_CFLAGS = $(COMMON) -O1 -fPIC -D_GNU_SOURCE
BOX_PROGRAMS := $(BOX_BOARDS:%=$(BOX)/%)

$(BOX_OBJ): $(BOX)/obj/%.o: %.c
	$(call say,BOXCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(BOX_CFLAGS) -c $< -o $@

$(BOX)/drivers.a: $(BOX_OBJ)
	$(Q)rm -f $@
	$(Q)ar rcsD $@ $^

$(BOX_PROGRAMS): $(BOX)/%: board/%/board.c board/%/memory.h tests/boards/boot_tree.c $(BOX)/drivers.a
	$(call say,BOX,$@)
	$(Q)$(HOST_CC) $(filter-out -MMD -MP,$(BOX_CFLAGS)) -Iboard/$* board/$*/board.c tests/boards/boot_tree.c $(BOX)/drivers.a -pie \
	    -Wl,--no-relax -o $@

ifneq ($(FOR_TESTS),)
-include $(BOX_OBJ:.o=.d)
endif

test-boards: $(BOX_PROGRAMS) ## each board's own code on the device trees published for it (make setup-tests fetches those)
	$(Q)$(TEST_ENV) $(PROVE) $(TREES)

# ---- the suites ------------------------------------------------------------------------------

# Programs and images are built in parallel, even without -j.
side_by_side = $(Q)$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

# The virt machines go first: they build each ISA's newlib for the others. Objects that boards share are made before any board, and one make builds
# all parts of a board, because with two makes one could read a file that the other has half written. card/about is made here for the same reason:
# several suites make cards of virt-arm64 at the same time.
TEST_IMAGES := $(addprefix test-image-,$(BOARDS))
TEST_KEY := $(O)/tests/signing/key.pem
# Images with a key need BearSSL's source, which may not be available; `make setup-tests` installs the tools that fetch it.
SIGNED_TESTS := $(wildcard $(BEARSSL)/inc/bearssl.h)
# The kernels of x86_64 are built for this computer's program, for the library and for efi-x86_64.
SHARED_BY_BOARDS := $(GLYPHS) $(O)/gen/kernels/x86_64.made $(if $(SIGNED_TESTS),$(TEST_KEY))
.PHONY: $(TEST_IMAGES)
$(filter-out %-virt-arm64 %-virt-riscv64,$(TEST_IMAGES)): test-image-virt-arm64 test-image-virt-riscv64
$(TEST_IMAGES): test-image-%: $(SHARED_BY_BOARDS)
	$(Q)$(MAKE) --no-print-directory $(if $(filter virt-%,$*),shared-objects) $(addprefix $(O)/$*/,ingot.bin ingot.dis ingot.stack card/about \
	    $(if $(filter efi-%,$*),faults.efi,storage-bench.bin paste.bin traps.bin) $(if $(SIGNED_TESTS),$(if $(filter virt-%,$*),signed.bin)) \
	    $(if $(NETWORK_TESTS),$(if $(wildcard board/$*/network.c),net.bin) $(if $(filter efi-%,$*),net.efi)) \
	    $(if $(filter $(FIRMWARE_BOARDS),$*),examples/firmware.elf)) BOARD=$*

test-images: $(H)/ingot $(H)/examples/hello $(TEST_IMAGES)

# The program for EFI with code in front that imitates faults of the firmware (tests/boot/efi_faults.c).
$(B)/faults.efi: $(IMAGE_OBJ) $(B)/obj/tests/boot/efi_faults.c.o $(S)/drivers.a $(B)/image.ld $(MEND_IMAGE)
	$(call say,LD,$@)
	$(Q)$(CROSS_COMPILE)gcc $(ISA_CFLAGS) $(BOARD_CFLAGS) -fno-lto $(IMAGE_LDFLAGS) -Wl,--wrap=efi_start -T $(B)/image.ld $(filter %.o %.a,$^) \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $(@:.efi=.elf)
	$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $(@:.efi=.elf)

# The image of BOARD= with another image_main: $(1).bin from the sources $(2).
define image_with_main
$(B)/$(1).elf: $(filter-out %/boot/main.c.o,$(IMAGE_OBJ)) $(2:%=$(B)/obj/%.o) $(S)/drivers.a $(B)/image.ld $(MEND_IMAGE)
	$$(call say,LD,$$@)
	$$(Q)$(CROSS_COMPILE)gcc $(ISA_CFLAGS) $(BOARD_CFLAGS) -fno-lto $(IMAGE_LDFLAGS) -T $(B)/image.ld $$(filter %.o %.a,$$^) \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $$@
	$(if $(MEND_IMAGE),$$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $$@)

$(B)/$(1).bin: $(B)/$(1).elf
	$$(Q)$(CROSS_COMPILE)objcopy -O binary $$< $$@

-include $(2:%=$(B)/obj/%.d)
endef
$(eval $(call image_with_main,traps,tests/boot/traps_main.c))
$(eval $(call image_with_main,paste,tests/boot/paste_main.c))
$(eval $(call image_with_main,kernels-bench,tests/bench/kernels_main.c tests/bench/kernel_calls.c))
$(eval $(call image_with_main,passes-bench,tests/bench/passes_main.c))
$(eval $(call image_with_main,attention-bench,tests/bench/attention_main.c))
$(eval $(call image_with_main,storage-bench,tests/bench/storage_main.c))

# signed.bin: the image with the tests' own key, from the objects of the image without a key.
$(TEST_KEY):
	@mkdir -p $(@D)
	$(Q)openssl ecparam -name prime256v1 -genkey -noout -out $@.new
	$(Q)openssl pkey -in $@.new -pubout -out $(@D)/public.pem
	$(Q)mv $@.new $@

$(B)/test-key/signing_key.inc: $(TEST_KEY) toolchain/signing_key.py
	@mkdir -p $(@D)
	$(Q)$(PYTHON) toolchain/signing_key.py $(O)/tests/signing/public.pem >$@

SIGNED_TEST_OBJ := $(B)/obj/tests/boot/signing.c.o $(OF_KEYS:%=$(B)/obj/%.o)
$(B)/obj/tests/boot/signing.c.o: boot/signing.c $(B)/test-key/signing_key.inc Makefile | $(NEWLIB_READY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CROSS_COMPILE)gcc $(IMAGE_CFLAGS) $(SMALL) -I$(B)/test-key -c $< -o $@

$(B)/signed.elf: $(filter-out $(call image_obj,boot/no_signing.c boot/signing.c $(OF_KEYS)),$(IMAGE_OBJ)) \
                 $(SIGNED_TEST_OBJ) $(S)/drivers.a $(SIGNED_PARTS) $(B)/image.ld $(MEND_IMAGE)
	$(call say,LD,$@)
	$(Q)$(CROSS_COMPILE)gcc $(ISA_CFLAGS) $(BOARD_CFLAGS) -fno-lto $(IMAGE_LDFLAGS) -T $(B)/image.ld $(filter %.o %.a,$^) \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $@
	$(if $(MEND_IMAGE),$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $@)

$(B)/signed.bin: $(B)/signed.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@

-include $(B)/obj/tests/boot/signing.c.d

# net.bin: the image with a network, from the objects of the image without a network. This image is not optimized as a whole, which would take a
# minute for each board.
$(B)/net.elf: $(filter-out $(call image_obj,$(BOOT_WITHOUT_NETWORK) $(BOOT_NETWORK) $(OF_NETWORK)),$(IMAGE_OBJ)) \
              $(NETWORK_OBJ) $(S)/drivers.a $(NETWORK_PARTS) $(B)/image.ld $(MEND_IMAGE)
	$(call say,LD,$@)
	$(Q)$(CROSS_COMPILE)gcc $(ISA_CFLAGS) $(BOARD_CFLAGS) -fno-lto $(IMAGE_LDFLAGS) -T $(B)/image.ld $(filter %.o %.a,$^) \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $@
	$(if $(MEND_IMAGE),$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $@)

# make_efi.py has written net.efi beside net.elf.
$(B)/net.efi: $(B)/net.elf
	$(Q)touch -c $@

$(B)/net.raw: $(B)/net.elf
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $@

$(B)/net.bin: $(B)/net.raw toolchain/pack_image.py
	$(Q)$(PYTHON) toolchain/pack_image.py $< $@ 0x80000

# net-whole.bin: the image optimized as a whole, as `make image NETWORK=yes` makes it, with its stacks.
$(B)/net-whole.elf: $(B)/net.elf
	$(call say,LD,$@ (optimized as a whole; half a minute))
	$(Q)$(CROSS_COMPILE)gcc $(filter-out -W%,$(IMAGE_CFLAGS)) $(SMALL) -Werror $(IMAGE_LDFLAGS) -T $(B)/image.ld \
	    $(filter-out $(call image_obj,$(BOOT_WITHOUT_NETWORK) $(BOOT_NETWORK) $(OF_NETWORK)),$(IMAGE_OBJ)) $(NETWORK_OBJ) $(S)/drivers.a $(NETWORK_PARTS) \
	    -Wl,--start-group $(NEWLIB_LIBS) -lgcc -Wl,--end-group -o $@
	$(if $(MEND_IMAGE),$(Q)$(PYTHON) $(MEND_IMAGE) $(CROSS_COMPILE) $@)

$(B)/net-whole.bin: $(B)/net-whole.elf toolchain/pack_image.py $(STACK_MADE_OF)
	$(Q)$(PYTHON) toolchain/stack.py $(CROSS_COMPILE) $< toolchain/indirect_calls.txt boot/stacks.h >$(B)/net-whole.stack
	$(Q)$(CROSS_COMPILE)objcopy -O binary $< $(B)/net-whole.raw
	$(Q)$(PYTHON) toolchain/pack_image.py $(B)/net-whole.raw $@ 0x80000

# The longest suites go first, by wall time, so that the others fill the gaps; suites that mostly wait (for a person's keys, a slow card, noise on a
# line) run in parallel with suites that compute.
LONGEST := tests/boot/console.t tests/boot/send.t tests/serve/serve_walk.t tests/kernels/kernels.t tests/boot/client.t \
           tests/kernels/selftest.t tests/boot/keyboard.t tests/make/commands.t tests/boot/signing.t tests/boot/net.t tests/boot/efi.t tests/boot/efi_stick.t tests/boot/efi_faults.t \
           tests/make/build.t tests/make/card.t tests/boot/paste.t tests/golden/mixture.t tests/golden/large_disk.t \
           tests/boot/screen.t tests/boot/acting.t tests/golden/table.t tests/faults/stream.t tests/boot/io_core.t \
           tests/faults/drives.t tests/boot/voice.t tests/golden/boards.t tests/boot/openai.t tests/faults/card.t \
           tests/boot/hotplug.t tests/boot/page_boards.t tests/faults/experts.t tests/make/hangs.t \
           tests/faults/card_files.t tests/golden/demo.t tests/boot/sd.t tests/faults/disks.t \
           tests/boot/riscv_boards.t tests/fuzz/fuzz.t tests/boot/rpi.t tests/golden/fabric.t tests/golden/turn_log.t \
           tests/golden/kv_card.t tests/boot/boot.t tests/boot/bringup.t tests/golden/pack.t tests/golden/threads.t \
           tests/boot/page_board.t tests/golden/kv_tiers.t tests/make/stack.t tests/boot/disks.t tests/boot/serial.t \
           tests/boot/power_cut.t $(O)/tests/unit/tokenizer/tokenizer_published.t $(O)/tests/unit/compute/kv_format.t \
           $(O)/tests/unit/flash_image/card_image.t $(O)/tests/unit/session/session.t \
           $(O)/tests/unit/stream/kv_pages.t
ALL_SUITES = $(LONGEST) $(TSAN_TESTS) $(ORDER_TEST) $(filter-out $(LONGEST),$(GOLDEN) $(BOOT) $(FAULTS) $(MAKES) $(KERNELS) $(TREES) $(OF_BOARDS) \
             tests/fuzz/fuzz.t $(sort $(UNIT)))

# `make test` takes less than 15 minutes from an empty clone on two cores: it tests this computer and the two virt machines. `make test-more`
# runs the suites of other boards, those that need every board's image, ThreadSanitizer, the fuzzers, and the longest of the rest. CI runs both.
OTHER_BOARDS = $(filter-out virt-% template host,$(BOARDS))
empty :=
ON_OTHER_BOARDS = $(shell grep -lwE '$(subst $(empty) $(empty),|,$(strip $(OTHER_BOARDS)))|tsan|from boards import' tests/*/*.t) $(OF_BOARDS)
MORE = $(filter $(ON_OTHER_BOARDS) $(TSAN_TESTS) $(ORDER_TEST) tests/boot/efi.t tests/boot/efi_stick.t tests/boot/efi_faults.t tests/boot/sd.t tests/boot/signing.t tests/boot/send.t \
       tests/boot/client.t tests/boot/keyboard.t tests/boot/net.t tests/boot/net_put.t tests/boot/net_openai.t tests/boot/net_serve.t tests/boot/net_long.t tests/boot/net_storm.t tests/serve/serve_ipv6.t tests/faults/net_store.t tests/serve/serve_group.t tests/serve/serve_proxy.t tests/kernels/selftest.t tests/boot/page_boards.t tests/boot/porting.t tests/boot/drive_cost.t tests/make/build.t \
       tests/make/stack.t tests/make/commands.t tests/make/card.t tests/make/hangs.t tests/golden/mixture.t tests/golden/large_disk.t tests/golden/table.t \
       tests/golden/kv_tiers.t tests/faults/stream.t tests/fuzz/fuzz.t tests/faults/image.t tests/faults/experts.t tests/boot/disks.t \
       tests/boot/nvme.t tests/boot/usb.t tests/boot/traps.t tests/boot/branches.t tests/boot/page_board.t tests/serve/serve_boards.t \
       tests/golden/fabric.t tests/golden/turn_log.t tests/golden/policy.t tests/golden/quantizer.t tests/golden/low_bits.t \
       tests/golden/parallel.t tests/golden/memory/ratings.t tests/golden/memory/reflect.t tests/golden/acting_real.t tests/golden/memories.t tests/golden/recall.t tests/golden/tokenizers.t tests/golden/hf/hf_tokenizers.t,$(ALL_SUITES))
SUITES = $(filter-out $(MORE),$(ALL_SUITES))

# Tests under ThreadSanitizer: everything that starts threads. `make test` runs those that take seconds; they cover workers, lent cores, rings and
# whole models. test-long and test-tsan run the rest.
TSAN_TESTS := $(addprefix $(O)/tests/tsan/,compute/workers.t storage/io_core.t \
              board/receive_ring.t base/crc32c.t app/two_models.t library/library.t)
TSAN_LONG := $(addprefix $(O)/tests/tsan/,compute/workers_crc32c.t app/change_model.t stream/stream.t stream/stream_long.t stream/kv_pages.t \
             stream/kv_pages_saved.t session/session.t session/speculative.t session/generate.t \
             chat/chat.t model/layer_kinds.t model/calibrate_compute.t library/library_errors.t)

# Tests in every order that C11's memory model allows (tests/order/explore.h): the compiler reports the accesses of the real sources to the
# explorer instead of to ThreadSanitizer.
ORDER := $(O)/tests/order
ORDER_TEST := $(ORDER)/protocols.t
ORDER_SEEN = $(addprefix $(ORDER)/,tests/order/protocols.c.o runtime/compute/workers.c.o runtime/compute/shares.c.o runtime/compute/contention.c.o runtime/storage/io_core.c.o \
             runtime/base/trace.c.o board/drivers/serial/receive_ring.c.o)
ORDER_OBJ = $(ORDER_SEEN) $(addprefix $(ORDER)/,tests/order/explore.c.o tests/order/explore_tsan.c.o)

$(ORDER_SEEN): ORDER_CFLAGS = -fsanitize=thread
$(ORDER)/%.c.o: %.c tests/tests.mk
	$(call say,ORDER,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -O2 $(ORDER_CFLAGS) -c $< -o $@

$(ORDER_TEST): $(ORDER_OBJ)
	$(Q)$(HOST_CC) $^ -o $@

-include $(if $(FOR_TESTS),$(ORDER_OBJ:.o=.d))

# setup-tests fetches this model, and test-parts packs it. If the model is missing, the suites that need it skip their
# rows by name.
SMOLLM2 := $(O)/models/published/smollm2-135m.ingot

# The needs of the suites.
test-parts: $(if $(wildcard $(SMOLLM2:.ingot=.gguf)),$(SMOLLM2)) $(H)/ingot $(H)/examples/hello test-image-virt-arm64 test-image-virt-riscv64 $(O)/first_card $(UNIT) $(KT_ISAS:%=$(KT)/kernels_test.%) \
            $(O)/asan/ingot
# Every board that QEMU has with a network, except EFI boards. `make test-net-whole` makes these images, which takes
# minutes.
NET_WHOLE := $(if $(NETWORK_TESTS),$(patsubst board/%/board.mk,net-whole-%,$(filter-out board/efi-%,$(shell grep -l "^QEMU_NETWORK" board/*/board.mk))))
.PHONY: $(NET_WHOLE) test-net-whole
test-net-whole: $(NET_WHOLE)
$(NET_WHOLE): net-whole-%: test-images
	$(Q)$(MAKE) --no-print-directory $(O)/$*/net-whole.bin BOARD=$*

# The image of one board, for its stacks and its size, takes half a minute.
more-parts: test-parts test-images $(filter net-whole-virt-arm64,$(NET_WHOLE)) $(FUZZ) $(O)/tsan/ingot $(TSAN_TESTS) $(ORDER_TEST) $(BOX_PROGRAMS)

# Tests for every save: they take seconds and cover a part of every folder. The suites test the rest: sanitized programs, other boards than the
# virt machines, the console, and faults.
CHECK := $(addprefix tests/golden/,demo_boot.t families.t gguf_families.t perplexity.t)

CHECK_IMAGES := check-image-virt-arm64 check-image-virt-riscv64
.PHONY: $(CHECK_IMAGES) check-parts
$(CHECK_IMAGES): check-image-%: $(GLYPHS)
	$(Q)$(MAKE) --no-print-directory $(O)/$*/ingot.bin $(O)/$*/ingot.stack BOARD=$*

# The longest unit tests take half of all unit tests' time. Only `make test` runs these; here, other tests cover their rooms.
CHECK_NOT := $(addprefix $(O)/tests/unit/,compute/kv_format.t session/session_group.t grammar/schema_bounds.t model/recurrent_mixers.t \
             flash_image/card_image.t flash_image/pack.t tokenizer/tokenizer_published.t stream/kv_pages.t chat/saved_lessons.t \
             storage/fat32_write.t stream/stream.t session/recurrent_state.t flash_image/quantize_k.t board/bcm_mailbox.t \
             chat/saved_chat_load.t chat/saved_fabric.t flash_image/pack_types.t board/nvme.t storage/fat32_cards.t kernels/exp.t \
             session/sampler.t session/session_sequences.t session/speculative_sampling.t session/beams.t grammar/grammar_tokens.t \
             grammar/schema_suite.t stream/kv_pages_hybrid.t storage/card_walk.t screen/screen.t model/signature.t compute/kv_real.t)
CHECK_UNIT := $(filter-out $(CHECK_NOT),$(UNIT))
check-parts: layers $(H)/ingot $(O)/first_card $(CHECK_IMAGES) $(CHECK_UNIT)

check: setup-tests ##* the fast part of the tests, for every save: under 90 seconds on 2 cores after a first build
	$(side_by_side) check-parts
	$(Q)$(TEST_ENV) $(PROVE) -j$(JOBS) $(filter $(LONGEST),$(CHECK_UNIT)) $(CHECK) $(filter-out $(LONGEST),$(CHECK_UNIT))

test: setup-tests ##* the tests, in less than 15 minutes on 2 cores; installs what they need and says so (make setup-tests)
	$(side_by_side) test-parts layers
	$(Q)$(TEST_ENV) $(PROVE) -j$(TEST_JOBS) $(SUITES)

test-more: setup-tests ## the suites that make test leaves out: other boards, EFI, ThreadSanitizer, fuzzers, long conversations; CI runs both
	$(side_by_side) more-parts
	$(Q)$(TEST_ENV) $(PROVE) -j$(TEST_JOBS) $(MORE)

# Suites that read published models also run without these: they pass, and name the tests that they skip. Such suites are found by searching their
# text; a suite in C reads models through test_assets() or the variable.
READS_ASSETS = $(shell grep -lsw ASSETS tests/*/*.t board/*/tests/*.t) \
               $(patsubst tests/unit/%_test.c,$(O)/tests/unit/%.t,$(shell grep -lsE 'INGOT_ASSETS|test_assets|listed_vocabulary|vocabulary\.h' tests/unit/*/*_test.c))
test-without-assets: ASSETS := $(O)/no-assets
test-without-assets: SUITE_SECONDS = 900
test-without-assets: setup-tests ## the suites that read published models, without them; minutes
	$(side_by_side) test-images $(filter $(O)/%,$(READS_ASSETS)) $(KT_ISAS:%=$(KT)/kernels_test.%) $(O)/asan/ingot
	$(Q)$(TEST_ENV) $(PROVE) -j$(TEST_JOBS) $(READS_ASSETS)

test-long: FUZZ_SECONDS = 60
test-long: LONG = 1
test-long: TEST_SECONDS = 7200
test-long: SUITE_SECONDS = 28800
test-long: setup-tests ## both with more repetitions, a minute for each fuzz target, a model of 4 GiB
	$(side_by_side) more-parts $(TSAN_LONG) layers
	$(Q)$(TEST_ENV) $(PROVE) -j$(TEST_JOBS) tests/golden/large.t $(TSAN_LONG) $(ALL_SUITES)
	$(Q)$(MAKE) --no-print-directory clients voice day

.PHONY: voice recall day
# These suites wait for a model, which a busy computer slows down.
voice recall: TEST_SECONDS = 1800
voice recall: SUITE_SECONDS = 3600
voice: $(H)/ingot setup-voice ## ten spoken questions understood by Whisper: the table of docs/VOICE.md; test-long calls it
	$(Q)test -f $(SMOLLM2) || $(MAKE) --no-print-directory model NAME=smollm2-135m || echo "SmolLM2 cannot be fetched: its row is skipped"
	$(Q)INGOT_VOICE_TABLE=docs/VOICE.md $(TEST_ENV) $(PROVE) -v tests/boot/voice_model.t

recall: $(H)/ingot ## what SmolLM2 remembers of 20 facts, asked 150 questions: the table of docs/FABRIC.md; make test-more runs its suite
	$(Q)test -f $(SMOLLM2) || $(MAKE) --no-print-directory model NAME=smollm2-135m || echo "SmolLM2 cannot be fetched: the table stays"
	$(Q)INGOT_RECALL_TABLE=docs/FABRIC.md $(TEST_ENV) $(PROVE) -v tests/golden/recall.t

day: LONG = 1
day: TEST_SECONDS = 7200
day: SUITE_SECONDS = 7200
day: $(H)/ingot image ## a day with SmolLM2 on a card in QEMU: teach, ask, power off, correct, forget, fill: the transcript of docs/LEARNING.md; test-long calls it
	$(Q)test -f $(SMOLLM2) || $(MAKE) --no-print-directory model NAME=smollm2-135m || echo "SmolLM2 cannot be fetched: the day is skipped"
	$(Q)INGOT_DAY=docs/LEARNING.md $(TEST_ENV) $(PROVE) -v tests/golden/day.t

# The clients talk to SmolLM2, or to the demo model if SmolLM2 is not available.
clients: $(H)/ingot setup-clients ## every client of docs/SERVE.md's table against ingot serve, and tools of 11 MCP servers; test-long calls it
	$(Q)test -f $(SMOLLM2) || $(MAKE) --no-print-directory model NAME=smollm2-135m || echo "SmolLM2 cannot be fetched: the demo model answers"
	$(Q)failed=0; \
	tests/clients/table.py $(O)/clients $(H)/ingot $$(test -f $(SMOLLM2) && echo $(SMOLLM2) || echo models/demo-q8_0.ingot) || failed=1; \
	test ! -f $(O)/clients/python/.from-python.txt || \
	    $(O)/clients/python/bin/python tests/clients/mcp_lists.py $(O)/clients $(H)/ingot models/demo || failed=1; \
	exit $$failed

test-unit: ## unit tests, hosted, under ASan and UBSan
	$(side_by_side) $(sort $(UNIT))
	$(Q)$(TEST_ENV) $(PROVE) -j$(JOBS) $(sort $(UNIT))

test-tsan: $(TSAN_TESTS) $(TSAN_LONG) $(ORDER_TEST) $(O)/tsan/ingot $(H)/ingot ## threads under ThreadSanitizer: unit tests, the Linux program; minutes
	$(Q)$(TEST_ENV) $(PROVE) -j$(JOBS) tests/golden/threads.t $(TSAN_TESTS) $(TSAN_LONG) $(ORDER_TEST)

test-golden: test-images $(O)/tsan/ingot ## one model, every machine and residency: the same ids and logits
	$(Q)$(TEST_ENV) $(PROVE) $(GOLDEN)

test-boot: test-images ## boards, CPUs, exception levels, cores, traps; a person at the serial line
	$(Q)$(TEST_ENV) $(PROVE) -j$(TEST_JOBS) $(filter $(BOOT),$(LONGEST)) $(filter-out $(LONGEST),$(BOOT))

test-faults: test-images $(O)/asan/ingot ## bad cards, bad images, bad words: each must lead to an error message
	$(Q)$(TEST_ENV) $(PROVE) $(FAULTS)

test-fuzz: $(FUZZ) $(H)/ingot ## parsers of outside data, FUZZ_SECONDS=0.25 each
	$(Q)$(TEST_ENV) $(PROVE) tests/fuzz/fuzz.t

# libFuzzer for the parsers of model files, FUZZ_SECONDS each, starting from the seeds and tests/fuzz/corpus; findings go to build/libfuzzer. Needs
# clang; gcc still compiles assembly and the detection of CPU features.
FUZZ_CC ?= clang
LF := $(O)/libfuzzer
LF_TARGETS ?= gguf image tokenizer unigram bpe vocab safetensors hf_config hf_tokenizer json file_kind jinja
LF_CFLAGS = $(filter-out -W%,$(HOST_CFLAGS)) -w $(SANITIZE) -fsanitize=fuzzer-no-link
LF_OBJ = $(patsubst %,$(LF)/obj/%.o,$(filter-out board/host/% host/%,$(filter %.c,$(wildcard $(HOST_SRC))))) \
         $(filter %.S.o %/host_cpu.c.o,$(HOST_OBJ))

$(LF)/obj/%.c.o: %.c Makefile
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(LF_CFLAGS) -c $< -o $@

$(LF)/libingot.a: $(LF_OBJ)
	$(Q)rm -f $@
	$(Q)ar rcsD $@ $^

$(LF)/%: tests/fuzz/%_fuzz.c $(LF)/libingot.a
	$(call say,FUZZ,$<)
	$(Q)$(FUZZ_CC) $(LF_CFLAGS) -fsanitize=fuzzer $< $(LF)/libingot.a $(HOST_LIBS) -pthread -o $@

-include $(if $(FOR_TESTS),$(LF_OBJ:.o=.d))

fuzz-long: $(LF_TARGETS:%=$(LF)/%) $(H)/ingot ## libFuzzer over every parser of model files, FUZZ_SECONDS=600 each
	$(Q)$(TEST_ENV) tests/fuzz/libfuzzer.py $(LF) $(LF_TARGETS)

# ---- figures ---------------------------------------------------------------------------------

# BOARD=, if it was given; otherwise this computer and all boards for which QEMU's counter is exact.
BENCH_BOARDS = $(if $(filter file default,$(origin BOARD)),virt-arm64 virt-riscv64 host,$(BOARD))

# Measures which share of its memory rate and multipliers this computer uses, if it is an x86-64.
NATIVE := $(O)/tests/bench/native
NATIVE_OBJ = $(filter-out $(H)/obj/host/cli/main.c.o,$(HOST_OBJ)) \
             $(H)/obj/tests/bench/native_main.c.o $(H)/obj/tests/bench/native_x86_64.S.o

$(NATIVE): $(NATIVE_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -pthread $^ $(HOST_LIBS) -o $@

-include $(H)/obj/tests/bench/native_main.c.d $(H)/obj/tests/bench/native_x86_64.S.d

bench: $(if $(filter x86_64,$(HOST_ISA)),$(NATIVE))
bench: test-images ## figures as a table and as build/bench.csv; BOARD= takes one, host too; minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/tokens.py $(BENCH_BOARDS)

bench-gate: $(H)/ingot check-image-virt-arm64 check-image-virt-riscv64 ## 12 counted figures against tests/bench/gate.csv, 2 %; ACCEPT=1 writes that; about a minute
	$(Q)$(TEST_ENV) tests/bench/gate $(if $(ACCEPT),--accept)

bench-threads: $(H)/ingot $(NATIVE) ## one thread and two, and a prompt's share of this computer's multipliers; OLDER=PROGRAM beside it; minutes, at rest
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/threads.py $(OLDER)

# Variables of `make compare`: ANYWAY, COMPARE_RUNS, COMPARE_WITH, LLAMA_SERVER, AGREE, README.
compare: $(H)/ingot ## Ingot beside the newest llama.cpp of pip, SmolLM2 and Gemma 3 (AGREE=gemma3-270m agrees to its terms), by turns; 15 minutes, at rest, else ANYWAY=1; README=yes writes the ratios there
	$(Q)$(TEST_ENV) $(foreach v,ANYWAY COMPARE_RUNS COMPARE_WITH LLAMA_SERVER AGREE README,$(if $($(v)),$(v)=$(call quote,$($(v))))) $(PYTHON) tests/bench/compare.py $(NAME)

bench-agent: $(H)/ingot ## tokens that a server computes for agents of 20 turns with tools, beside llama.cpp's; MODEL=x.gguf TOKENS=4000 takes one model; minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/agent.py $(if $(filter file default,$(origin MODEL)),,$(call quote,$(MODEL)) $(TOKENS))

MIXER_BOARDS = $(filter-out host,$(BENCH_BOARDS))
bench-passes: ## what the matrices take for 2 to 8 tokens, compared with one token; build/bench-passes.csv; a minute
	$(Q)for b in virt-arm64 virt-riscv64; do $(MAKE) --no-print-directory -s $(O)/$$b/passes-bench.bin BOARD=$$b || exit 1; done
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/passes.py

bench-attention: ## time of a head for a position, of 2,048, for each way to store keys and values; build/bench-attention.csv; a minute
	$(Q)for b in virt-arm64 virt-riscv64; do \
	    $(MAKE) --no-print-directory -s $(O)/$$b/attention-bench.bin BOARD=$$b || exit 1; done
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/attention.py $(KV_TYPES)

bench-mixers: test-images ## hybrids and experts compared with dense layers of as many bytes, PARTS=1: with their own matrices; 20 minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/mixers.py $(if $(PARTS),--parts) $(MIXER_BOARDS)

bench-pack: $(H)/ingot ## memory and time that the packer takes for 13.5 GB of weights and a mixture's 61, mostly holes; 15 minutes, 14 GB of disk
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/pack_memory.py

KV_COUNT := $(O)/tests/bench/kv_count
KV_INGOT := $(O)/tests/bench/ingot-kv
# Types that are only measured, and a table of types that includes them and replaces the program's.
KV_OBJ := $(patsubst %,$(H)/obj/%.o,$(wildcard tests/bench/kv/*.c))
KV_HOST_OBJ = $(KV_OBJ) $(filter-out $(H)/obj/runtime/compute/kv_format.c.o,$(HOST_OBJ))
KV_TESTS := $(addprefix $(O)/tests/unit/,compute/kv_format.t compute/kv_real.t model/kv_drop.t)

$(KV_TESTS): MORE_OBJ = $(KV_OBJ:$(H)/%=$(O)/asan/%)
$(KV_TESTS): $(KV_OBJ:$(H)/%=$(O)/asan/%)

$(KV_COUNT): $(H)/obj/tests/bench/kv_count.c.o $(filter-out $(H)/obj/host/cli/main.c.o,$(KV_HOST_OBJ))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -pthread $^ $(HOST_LIBS) -o $@

$(KV_INGOT): $(KV_HOST_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -pthread $^ $(HOST_LIBS) -o $@

-include $(H)/obj/tests/bench/kv_count.c.d $(KV_OBJ:.o=.d) $(KV_OBJ:$(H)/%.o=$(O)/asan/%.d)

bench-kv: $(KV_INGOT) $(KV_COUNT) $(O)/tests/unit/compute/kv_format.t $(O)/tests/unit/compute/kv_real.t ## every type of keys and values: bytes, cosines, perplexity; the table of docs/KV.md; minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/kv_table.py $(KV_TYPES)

quality: $(H)/ingot $(patsubst %,$(O)/models/published/%.gguf,smollm2-135m $(AGREE)) ## what each type costs real models, beside llama.cpp's quantizer (LLAMA_CPP=FOLDER of its libraries): docs/QUALITY.md; an hour for each model
	$(Q)test -n '$(LLAMA_CPP)' || { echo 'quality: LLAMA_CPP=FOLDER names llama.cpp'"'"'s libraries; docs/QUALITY.md says how to get them'; exit 1; }
	$(Q)$(TEST_ENV) LLAMA_CPP=$(LLAMA_CPP) $(PYTHON) tests/bench/quality.py $(QUALITY)
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/quality.py --write

ROUTES := $(O)/tests/bench/routes

$(ROUTES): $(H)/obj/tests/bench/routes.c.o $(HOST_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -pthread -Wl,--wrap=stream_experts_ask $^ $(HOST_LIBS) -o $@

-include $(H)/obj/tests/bench/routes.c.d

bench-experts: $(H)/ingot $(ROUTES) ## how often experts are in the cache: the trained mixture on conversations, by several rules; minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/experts.py

bench-stream-experts: $(H)/ingot ## experts from a file of 20, 80, 800 MB/s against its arithmetic; minutes, on a computer at rest
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/stream_experts.py

experts-picture: test-images ## make docs/experts.svg again, from a trace of virt-arm64
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/experts_picture.py

bench-stream: test-images ## streaming at 5, 20, 80 MB/s against its arithmetic; 20 minutes, on a computer at rest
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/stream.py

bench-images:
	$(Q)for b in virt-arm64 virt-riscv64; do \
	    $(MAKE) --no-print-directory -s $(O)/$$b/kernels-bench.bin BOARD=$$b || exit 1; done

# Runs every kernel of this computer's ISA natively.
NATIVE_KERNELS := $(O)/tests/bench/native_kernels
NATIVE_KERNELS_OBJ = $(filter $(H)/obj/kernels/% $(H)/obj/board/host/host_cpu.c.o,$(HOST_OBJ)) \
                     $(H)/obj/tests/bench/native_kernels.c.o $(H)/obj/tests/bench/kernel_calls.c.o

$(NATIVE_KERNELS): $(NATIVE_KERNELS_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -pthread $^ -lm -o $@

-include $(if $(FOR_TESTS),$(NATIVE_KERNELS_OBJ:.o=.d))

bench-kernels: bench-images $(NATIVE_KERNELS) ## every kernel: instructions, llvm-mca's cycles, native time; build/bench-kernels.csv
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/kernels.py

bench-storage: test-images ## what reading a card costs on every way of an SD controller; build/bench-storage.csv; minutes
	$(Q)$(TEST_ENV) $(PYTHON) tests/bench/storage.py

# ---- mutants ---------------------------------------------------------------------------------

.PHONY: seeds seeds-parts mutate
# Programs that the rows of `make seeds` run. Images and unit tests are built in parallel; a row without its program is skipped,
# and named.
seeds-parts: test-images $(UNIT) $(FUZZ) $(KT_ISAS:%=$(KT)/kernels_test.%) $(NATIVE_KERNELS) $(KV_INGOT) $(O)/asan/ingot
seeds: setup-tests ## what the founding documents ask for: a command and a figure each; docs/SEEDS.md; some minutes
	$(side_by_side) seeds-parts
	$(Q)$(TEST_ENV) $(PYTHON) tests/seeds.py -o docs/SEEDS.md

mutate: ## make small changes in a copy of the tree, each of which a test must detect; MUTATE=pattern picks some, AGAIN=1 forgets results; an hour
	$(Q)$(TEST_ENV) $(PYTHON) tests/mutate/mutate.py $(call quote,$(abspath $(O))) --jobs $(JOBS) --pick '$(MUTATE)' $(if $(AGAIN),--again)
