/* Firmware of this ISA is called with Microsoft's convention (UEFI 2.10, 2.3.4). */
#ifndef INGOT_BOARD_EFI_X86_64_EFI_ABI_H
#define INGOT_BOARD_EFI_X86_64_EFI_ABI_H

#define EFI_API __attribute__((ms_abi))

#endif
