ISA := riscv64
# A U74 has neither vectors nor carry-less products.
KERNELS_WITHOUT := rvv zvfh zvknha zbc
CARD_IMAGE := ingot.bin
# StarFive's U-Boot reads uEnv.txt or vf2_uEnv.txt only from partition 3; upstream's U-Boot reads extlinux.conf from the active partition.
CARD_SLOT := 3
# Upstream's U-Boot refuses an `append` of more than CONFIG_SYS_CBSIZE - 1 (starfive_visionfive2_defconfig; label_boot of pxe_utils.c).
CARD_MOST_WORDS := 255
# No emulator has a JH7110.
QEMU = @echo 'visionfive2 has no emulator: write build/visionfive2/card.img to a card' >&2; false
