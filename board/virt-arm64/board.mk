ISA := arm64
DRIVERS := pl011 serial receive_ring tree_console psci_machine psci gic gic_v2 gic_v3 generic_timer tree_storage virtio_blk pci_ecam $(SDHCI) $(SD_CARD) cfi_flash
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M virt -cpu cortex-a72 -m 512M -nographic -nic none \
                -global virtio-mmio.force-legacy=false
