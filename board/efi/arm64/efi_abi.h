/* How firmware of this ISA is called: as C is (UEFI 2.10, 2.3.6). */
#ifndef INGOT_BOARD_EFI_ARM64_EFI_ABI_H
#define INGOT_BOARD_EFI_ARM64_EFI_ABI_H

#define EFI_API

#endif
