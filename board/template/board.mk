# arm64 or riscv64.
ISA := riscv64
# List features that no core of the board has, such as `rvv zvfh zvknha` or `dotprod i8mm sve`.
KERNELS_WITHOUT :=
# If an emulator has the board: the command of `make run`, and the options for a card image.
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -m 512M -nographic -nic none
QEMU_CARD =
