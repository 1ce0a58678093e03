ISA := riscv64
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -cpu rv64,v=true,vlen=128 -m 512M -nographic -nic none \
                -global virtio-mmio.force-legacy=false
QEMU_SCREEN := -device ramfb
HAS_DISPLAY := yes
# make run NETWORK=yes: the board's server is at port 8080 of this computer.
QEMU_NETWORK ?= -netdev user,id=lan,hostfwd=tcp:127.0.0.1:8080-:80 -device virtio-net-device,netdev=lan
