# No emulator has this board: there is no QEMU_MACHINE.
ISA := arm64
QEMU ?= @echo no emulator has BOARD=rpi5; false
QEMU_MACHINE ?=
CARD_IMAGE := kernel_2712.img
# Its loader picks the tree by the board (5, 500, 500+, CM5) and lays the overlay over it on stepping D0.
CARD_FIRMWARE := bcm2712*.dtb overlays/bcm2712d0.dtbo
CARD_LICENCE := LICENCE.broadcom
KERNELS_WITHOUT := i8mm sve
HAS_DISPLAY := yes
