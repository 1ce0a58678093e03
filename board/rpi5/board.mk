# No emulator has this board: there is no QEMU_MACHINE.
ISA := arm64
QEMU ?= @echo no emulator has BOARD=rpi5; false
QEMU_MACHINE ?=
CARD_IMAGE := kernel_2712.img
CARD_FIRMWARE := bcm2712-rpi-5-b.dtb
CARD_LICENCE := LICENCE.broadcom
KERNELS_WITHOUT := i8mm sve
