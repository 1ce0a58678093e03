ISA := arm64
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M virt -cpu cortex-a72 -m 512M -nographic -nic none \
                -global virtio-mmio.force-legacy=false
QEMU_SCREEN := -device ramfb
HAS_DISPLAY := yes
