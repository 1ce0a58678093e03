ISA := arm64
DRIVERS := raspberry_pi bcm_mailbox bcm_gpio gic gic_v2 gic_v3 bcm_watchdog last_run pl011 serial receive_ring generic_timer \
           bcm_sd bcm_dma $(SDHCI) $(SD_CARD) $(SD_EMMC)
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M raspi4b -nographic -nic none
# It takes no other; cores= for fewer.
QEMU_SMP := 4
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
KERNELS_WITHOUT := dotprod i8mm sve
CARD_IMAGE := kernel8.img
CARD_FIRMWARE := start4.elf fixup4.dat bcm2711-rpi-*.dtb
