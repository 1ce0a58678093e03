ISA := arm64
DRIVERS := raspberry_pi bcm_mailbox bcm_gpio bcm_local bcm_watchdog last_run pl011 serial receive_ring generic_timer \
           bcm_sd bcm_dma $(SDHCI) $(SD_CARD)
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M raspi3b -nographic -nic none
# It takes no other; cores= for fewer.
QEMU_SMP := 4
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
KERNELS_WITHOUT := dotprod i8mm sve
CARD_IMAGE := kernel8.img
CARD_FIRMWARE := bootcode.bin start.elf fixup.dat
