# arm64 or riscv64.
ISA := riscv64
# Features that no core of the board has, such as `rvv zvfh zvknha` or `dotprod i8mm sve`.
KERNELS_WITHOUT :=
# The command of `make run`, if an emulator has the board, and how it takes a card image.
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -m 512M -nographic -nic none
QEMU_CARD =
