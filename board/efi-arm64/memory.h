/* This file has no addresses, because the firmware chooses the program's address. */
#ifndef INGOT_BOARD_EFI_ARM64_MEMORY_H
#define INGOT_BOARD_EFI_ARM64_MEMORY_H

#define EFI_BOARD_NAME "efi-arm64"

#endif
