/* This file has no addresses, because the firmware chooses where to load the program. */
#ifndef INGOT_BOARD_EFI_RISCV64_MEMORY_H
#define INGOT_BOARD_EFI_RISCV64_MEMORY_H

#define EFI_BOARD_NAME "efi-riscv64"

#endif
