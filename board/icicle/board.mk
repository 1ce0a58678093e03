ISA := riscv64
# A U54 has neither vectors nor carry-less products.
KERNELS_WITHOUT := rvv zvfh zvknha zbb zbc
CARD_IMAGE := ingot.bin
# U-Boot refuses an `append` of more than CONFIG_SYS_CBSIZE - 1 (microchip_mpfs_generic_defconfig; label_boot of pxe_utils.c).
CARD_MOST_WORDS := 255
# HSS: services/boot/gpt.c, init/hss_boot_init.c; mHSS_BOOT_MAGIC and mHSS_COMPRESSED_MAGIC of include/hss_types.h.
CARD_LOADER := 21686148-6449-6E6F-744E-656564454649 b007c0de c08b8355
QEMU ?= qemu-system-riscv64
# QEMU makes no device tree for this machine. HSS has MMUART0, the console is MMUART1.
QEMU_MACHINE ?= -M microchip-icicle-kit -m 1537M -dtb $(B)/icicle.dtb -nographic -nic none \
                -serial null -serial mon:stdio -semihosting
# QEMU needs as many harts as the device tree has; with `cores=` Ingot uses fewer.
QEMU_SMP := 5
QEMU_NEEDS := $(O)/icicle/icicle.dtb
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
# Text of the log about the card; the golden table runs on every board that has this line.
QEMU_CARD_SAYS := SD card at 0x20008000
# make run NETWORK=yes: the board's server is at port 8080 of this computer.
QEMU_NETWORK ?= -nic user,id=lan,model=cadence_gem,hostfwd=tcp:127.0.0.1:8080-:80

$(O)/icicle/icicle.dtb: board/icicle/tree.py tests/device_tree.py
	@mkdir -p $(@D)
	$(Q)$(PYTHON) $< $@
