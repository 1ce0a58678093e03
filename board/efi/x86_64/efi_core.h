/* Between efi_core.c, efi_cores.c and start.S. */
#ifndef INGOT_BOARD_EFI_X86_64_EFI_CORE_H
#define INGOT_BOARD_EFI_X86_64_EFI_CORE_H

/* Keep what the core is to run once core_begin has brought it to core_start. */
void core_keep_job(unsigned core, void (*entry)(void *arg), void *arg);

void core_start(unsigned core) __attribute__((noreturn));

/* start.S: a procedure of EFI that never returns; arg is the core's number. */
__attribute__((ms_abi)) void core_begin(void *arg);

#endif
