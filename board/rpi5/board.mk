# No emulator has this board, so there is no QEMU_MACHINE.
ISA := arm64
QEMU ?= @echo rpi5 has no emulator: write build/rpi5/card.img to a card; false
QEMU_MACHINE ?=
CARD_IMAGE := kernel_2712.img
# The loader chooses the tree for the board, and applies the overlay on stepping D0; all other firmware is in the
# board's flash.
CARD_TREES := bcm2712-rpi-5-b.dtb!5 bcm2712-rpi-500.dtb!500 bcm2712-rpi-cm5-cm5io.dtb!CM5 bcm2712-rpi-cm5l-cm5io.dtb!CM5_Lite \
              overlays/bcm2712d0.dtbo!5_and_500_with_stepping_D0
CARD_MORE := bcm2712*.dtb overlays/overlay_map.dtb
CARD_LICENCE := LICENCE.broadcom
KERNELS_WITHOUT := i8mm sve
HAS_DISPLAY := yes
