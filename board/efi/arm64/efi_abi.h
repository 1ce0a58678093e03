/* Firmware of this ISA is called like a C function (UEFI 2.10, 2.3.6). */
#ifndef INGOT_BOARD_EFI_ARM64_EFI_ABI_H
#define INGOT_BOARD_EFI_ARM64_EFI_ABI_H

#define EFI_API

#endif
