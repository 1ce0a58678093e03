ISA := riscv64
DRIVERS := ns16550 serial receive_ring plic sbi sbi_machine tree_console riscv_timer tree_storage virtio_blk pci_ecam $(SDHCI) $(SD_CARD) cfi_flash
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -cpu rv64,v=true,vlen=128 -m 512M -nographic -nic none \
                -global virtio-mmio.force-legacy=false
