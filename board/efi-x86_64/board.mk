ISA := x86_64
# Firmware searches for this file name on any FAT partition (UEFI 2.10, 3.5.1.1).
EFI := BOOTX64.EFI
MEND_IMAGE := toolchain/make_efi.py
CARD_IMAGE := EFI/BOOT/BOOTX64.EFI
# The program can be loaded anywhere, so it has no absolute addresses of 32 bits.
BOARD_CFLAGS := -Iboard/efi/x86_64 -fpie -DBOARD_MOST_CORES=128
HAS_DISPLAY := yes
QEMU ?= qemu-system-x86_64
QEMU_MACHINE ?= -M q35 -cpu max -m 1G -nographic -nic none -bios /usr/share/ovmf/OVMF.fd
QEMU_CARD = -drive if=none,id=card,format=raw,cache=unsafe,file=$(1) -device virtio-blk-pci,drive=card,romfile=
# make run NETWORK=yes: the server is at port 8080 of this computer.
QEMU_NETWORK ?= -netdev user,id=lan,hostfwd=tcp:127.0.0.1:8080-:80 -device virtio-net-pci,netdev=lan,romfile=
