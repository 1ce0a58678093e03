# No emulator has this board: there is no QEMU_MACHINE.
ISA := arm64
DRIVERS := raspberry_pi bcm_mailbox bcm_gpio gic gic_v2 gic_v3 psci bcm_watchdog last_run pl011 serial \
           receive_ring generic_timer bcm_sd bcm_dma $(SDHCI) $(SD_CARD)
QEMU ?= @echo no emulator has BOARD=rpi5; false
QEMU_MACHINE ?=
CARD_IMAGE := kernel_2712.img
CARD_FIRMWARE := bcm2712-rpi-5-b.dtb
KERNELS_WITHOUT := i8mm sve
