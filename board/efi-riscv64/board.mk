ISA := riscv64
# Firmware searches for this file name on any FAT partition (UEFI 2.10, 3.5.1.1).
EFI := BOOTRISCV64.EFI
CARD_IMAGE := EFI/BOOT/BOOTRISCV64.EFI
MEND_IMAGE := toolchain/make_efi.py
BOARD_CFLAGS := -Iboard/efi/riscv64 -DBOARD_MOST_CORES=128
HAS_DISPLAY := yes
QEMU ?= qemu-system-riscv64
QEMU_MACHINE ?= -M virt -cpu rv64,v=true,vlen=128 -m 1G -nographic -nic none -kernel /usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin
QEMU_CARD = -drive if=none,id=card,format=raw,cache=unsafe,file=$(1) -device virtio-blk-pci,drive=card,romfile=
# make run NETWORK=yes: the server is at port 8080 of this computer.
QEMU_NETWORK ?= -netdev user,id=lan,hostfwd=tcp:127.0.0.1:8080-:80 -device virtio-net-pci,netdev=lan,romfile=
