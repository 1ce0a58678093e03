ISA := riscv64
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -cpu rv64,v=true,vlen=128 -m 512M -nographic -nic none \
                -global virtio-mmio.force-legacy=false
QEMU_SCREEN := -device ramfb
HAS_DISPLAY := yes
