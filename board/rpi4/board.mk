ISA := arm64
QEMU ?= qemu-system-aarch64
QEMU_MACHINE ?= -M raspi4b -nographic -nic none
# QEMU accepts only this number of cores; with `cores=` Ingot uses fewer.
QEMU_SMP := 4
QEMU_CARD = -drive if=sd,format=raw,file=$(1)
# Text of the log about the card; the golden table runs on every board that has this line.
QEMU_CARD_SAYS := SD card at 0xfe300000
KERNELS_WITHOUT := sha2 dotprod i8mm sve
CARD_IMAGE := kernel8.img
CARD_FIRMWARE := start4.elf fixup4.dat
CARD_TREES := bcm2711-rpi-4-b.dtb=4B bcm2711-rpi-400.dtb=400 bcm2711-rpi-cm4.dtb=CM4 bcm2711-rpi-cm4s.dtb=CM4S
CARD_MORE := bcm2711-rpi-*.dtb
CARD_LICENCE := LICENCE.broadcom
HAS_DISPLAY := yes
