/* Shared by efi_core.c, efi_cores.c and start.S. */
#ifndef INGOT_BOARD_EFI_X86_64_EFI_CORE_H
#define INGOT_BOARD_EFI_X86_64_EFI_CORE_H

/* Store the function that `core` will run after core_begin has led to core_start. */
void core_keep_job(unsigned core, void (*entry)(void *arg), void *arg);

void core_start(unsigned core) __attribute__((noreturn));

/* In start.S: a procedure for EFI that never returns; arg is the core's number. */
__attribute__((ms_abi)) void core_begin(void *arg);

#endif
