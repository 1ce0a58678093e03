/* Functions of boot/<isa>/ for boards: memory mapping and cores. Each ISA implements them once;
 * the host program has none of them. */
#ifndef INGOT_BOARD_ISA_H
#define INGOT_BOARD_ISA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

enum mapping {
    MAP_CODE,     /* read, execute */
    MAP_RODATA,   /* read */
    MAP_DATA,     /* read, write; cached */
    MAP_DEVICE,   /* read, write; in order, no speculation, naturally aligned accesses only */
    MAP_UNCACHED, /* read, write; uncached memory, any alignment: flash */
};

/* Map [base, base + bytes) to itself in the largest blocks, rounded outward to 4 KiB pages. Core 0
 * only; other cores see it at once. Mapping a page again with the same attributes does nothing.
 * ERR_BAD_ARGUMENT: some page is mapped with other attributes; ERR_RANGE: beyond the address space
 * that the ISA maps; ERR_NO_SPACE: the table pages are used up. */
enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping);

/* The calling core's number, 0 .. BOARD_MAX_CORES - 1. */
unsigned core_number(void);

/* The id by which firmware and device tree know the calling core: MPIDR affinity, hart id. */
uint64_t core_hardware_id(void);

/* Prepare `core` (1 .. BOARD_MAX_CORES - 1) to run entry(arg). Return the physical address at
 * which firmware must start it, MMU off, with the core number as its argument (arm64 x0: PSCI
 * context_id; riscv64 a1: SBI opaque). entry gets a stack of its own, MMU, caches and FPU on; if
 * it returns, the core sleeps forever. */
uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg);

/* arm64 only: the same for firmware whose cores poll a word of 8 bytes at `release`, a physical
 * address that need not be mapped ("spin-table"): prepare the core, write its address there and
 * wake it. The core takes its number from its affinity at level 0, which is `core`. */
void core_release(uintptr_t release, unsigned core, void (*entry)(void *arg), void *arg);

/* board.wait and board.wake by WFE and SEV, or by the ISA's own means. */
void core_wait(const _Atomic uint32_t *word, uint32_t old);
void core_wake(const _Atomic uint32_t *word);

/* ---- interrupts ---------------------------------------------------------------------------- *
 * Core 0 alone takes them. The handler may come in the middle of a kernel: it runs on the core's
 * trap stack (4 KiB) with interrupts masked, all general registers saved, and no others: it and
 * all it calls use no floating point and no vectors, which rules out memcpy. Everything under
 * board/ is compiled so; tests/boot/paste.t looks at the instructions. */

/* Call handler(context) at every interrupt, now that the controller passes them on. Core 0, once. */
void core_interrupts_on(void (*handler)(void *context), void *context);

/* Keep interrupts from the calling core; returns whether it took them. On other cores no effect. */
bool core_interrupts_mask(void);
void core_interrupts_restore(bool on);

/* Sleep until an interrupt is pending, masked or not. Mask interrupts before, then check your
 * condition, then sleep: so no interrupt is taken between the check and the sleep. */
void core_idle(void);

/* Have the calling core's timer interrupt it in that many ticks of its counter (board.ticks), and no
 * more. With interrupts masked: it is there to end core_idle, where irq_take_timer says that it does. */
void core_timer_start(uint64_t ticks);
void core_timer_stop(void);

/* Whether an interrupt is pending for the calling core, masked or not. */
bool core_interrupt_pending(void);

/* Sleep forever: for a machine that cannot be switched off. */
void core_halt(void) __attribute__((noreturn));

#endif
