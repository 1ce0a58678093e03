/* This file has no addresses, because the firmware chooses where to load the program. */
#ifndef INGOT_BOARD_EFI_X86_64_MEMORY_H
#define INGOT_BOARD_EFI_X86_64_MEMORY_H

#define EFI_BOARD_NAME "efi-x86_64"

#endif
