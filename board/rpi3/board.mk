ISA := arm64
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M raspi3b -nographic -nic none
# It takes no other; cores= for fewer.
QEMU_SMP := 4
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
KERNELS_WITHOUT := dotprod i8mm sve
CARD_IMAGE := kernel8.img
CARD_FIRMWARE := bootcode.bin start.elf fixup.dat
CARD_LICENCE := LICENCE.broadcom
