ISA := arm64
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M raspi3b -nographic -nic none
# QEMU accepts only this number of cores; with `cores=` Ingot uses fewer.
QEMU_SMP := 4
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
# Text of the log about the card; the golden table runs on every board that has this line.
QEMU_CARD_SAYS := SD card at 0x3f300000
KERNELS_WITHOUT := sha2 dotprod i8mm sve
CARD_IMAGE := kernel8.img
CARD_FIRMWARE := bootcode.bin start.elf fixup.dat
CARD_TREES := bcm2710-rpi-3-b.dtb=3B bcm2710-rpi-3-b-plus.dtb=3B+,3A+ bcm2710-rpi-cm3.dtb=CM3,CM3+ bcm2710-rpi-zero-2-w.dtb!Zero_2_W
CARD_MORE := bcm2710-rpi-*.dtb
CARD_LICENCE := LICENCE.broadcom
# The boot ROM cannot read a GPT.
CARD_TABLE := mbr
# The board's cores may compute a wrong 64-bit multiply-accumulate after a load or store (erratum 835769), and a wrong
# address at the end of a page (843419). Many toolchains avoid this only with these options; the linker corrects
# assembly too.
BOARD_CFLAGS := -mfix-cortex-a53-835769 -mfix-cortex-a53-843419
# a53_pages.py corrects what remains of 843419 after linking.
MEND_IMAGE := toolchain/a53_pages.py
HAS_DISPLAY := yes
