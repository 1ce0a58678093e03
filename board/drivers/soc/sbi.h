/* Calls into the firmware below S-mode: RISC-V Supervisor Binary Interface 2.0. */
#ifndef INGOT_BOARD_DRIVERS_SOC_SBI_H
#define INGOT_BOARD_DRIVERS_SOC_SBI_H

#include <stdint.h>

#include "board/err.h"

/* Functions that identify the firmware and its machine (chapter 4). */
enum sbi_base {
    SBI_SPEC_VERSION,   /* major << 24 | minor */
    SBI_IMPLEMENTATION, /* 1: OpenSBI */
    SBI_IMPLEMENTATION_VERSION,
    SBI_MVENDORID = 4,
    SBI_MARCHID,
    SBI_MIMPID,
};
uint64_t sbi_base(enum sbi_base which);

/* Start hart `id` in S-mode, MMU off, at physical address `start` with a0 = id, a1 = opaque
 * (chapter 9). ERR_NO_DEVICE: the hart does not exist or runs already, or the firmware has no
 * HSM. */
enum err sbi_hart_start(uint64_t id, uintptr_t start, uint64_t opaque);

/* True if hart `id` exists, is ours to start, and has not been started (9.3, hart_get_status). */
bool sbi_hart_is_stopped(uint64_t id);

/* Make the calling hart's timer interrupt pending only when `time` reaches `at` (chapter 6).
 * Firmware without the extension does nothing. */
void sbi_set_timer(uint64_t at);

/* Make a software interrupt pending on the harts of `mask`; bit n is hart base + n (chapter 7). */
void sbi_send_ipi(uint64_t mask, uint64_t base);

/* Make those harts drop the TLB entries of [start, start + bytes) (chapter 8). */
void sbi_flush_tlb(uint64_t mask, uint64_t base, uint64_t start, uint64_t bytes);

/* Switch the machine off, by SRST (chapter 10). If `failed`, the reason is a system failure, which
 * firmware may record. Returns only if the firmware cannot. */
void sbi_power_off(int failed);

/* Switch the machine off, for firmware without SRST (5.9). OpenSBI stops the hart if the machine
 * has no power switch. */
void sbi_shutdown_legacy(void);

/* Restart the machine, by SRST. Returns only if the firmware cannot. */
void sbi_restart(int failed);

#endif
