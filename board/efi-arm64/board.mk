ISA := arm64
# Firmware searches for this file name on any FAT partition (UEFI 2.10, 3.5.1.1).
EFI := BOOTAA64.EFI
# x18 belongs to the firmware: U-Boot keeps its state there.
MEND_IMAGE := toolchain/make_efi.py
BOARD_CFLAGS := -Iboard/efi/arm64 -ffixed-x18 -DBOARD_MOST_CORES=128
HAS_DISPLAY := yes
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M virt -cpu cortex-a72 -m 1G -nographic -nic none -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd
QEMU_SCREEN := -device ramfb
CARD_IMAGE := EFI/BOOT/BOOTAA64.EFI
QEMU_CARD = -drive if=none,id=card,format=raw,cache=unsafe,file=$(1) -device virtio-blk-pci,drive=card,romfile=
# make run NETWORK=yes: the server is at port 8080 of this computer.
QEMU_NETWORK ?= -netdev user,id=lan,hostfwd=tcp:127.0.0.1:8080-:80 -device virtio-net-pci,netdev=lan,romfile=
