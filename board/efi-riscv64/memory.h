/* The firmware puts the program where it likes, so that there are no addresses here. */
#ifndef INGOT_BOARD_EFI_RISCV64_MEMORY_H
#define INGOT_BOARD_EFI_RISCV64_MEMORY_H

#define EFI_BOARD_NAME "efi-riscv64"

#endif
