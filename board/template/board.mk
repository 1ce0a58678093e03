# arm64 or riscv64.
ISA := riscv64
# Kernels that no core of the board can run: `rvv zvfh zvknha`, `dotprod i8mm sve`.
KERNELS_WITHOUT :=
# The command of `make run`, if an emulator has the board, and how it takes a card image.
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -m 512M -nographic -nic none
QEMU_CARD =
