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
    MAP_DEVICE,   /* read and write in order, no speculation; only naturally aligned accesses */
    MAP_UNCACHED, /* read and write, uncached, with any alignment: flash */
};

/* Map [base, base + bytes), rounded outward to 4 KiB pages, to the same addresses. Core 0 only;
 * other cores see the mapping at once. Mapping a page again with the same attributes does nothing.
 * ERR_BAD_ARGUMENT: some page is mapped with other attributes; ERR_RANGE: the range is beyond the
 * mapped address space; ERR_NO_SPACE: no page is left for tables. */
enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping);

/* Return the calling core's number, 0 .. BOARD_MAX_CORES - 1. */
unsigned core_number(void);

/* Return the id of the calling core in firmware and tree: MPIDR affinity, hart id. */
uint64_t core_hardware_id(void);

/* Prepare `core` (1 .. BOARD_MAX_CORES - 1) to run entry(arg). Return the physical address at which
 * firmware must start the core, MMU off, with its number as argument (arm64 x0: PSCI context_id;
 * riscv64 a1: SBI opaque). entry runs on its own stack with MMU, caches and FPU on; if it returns,
 * the core sleeps forever. */
uintptr_t core_prepare(unsigned core, void (*entry)(void *arg), void *arg);

/* Start a core that polls 8 bytes at `release` ("spin-table"), a physical address that need not be
 * mapped: prepare the core, write its start address there, and wake it. arm64 only. `core` must be
 * the core's affinity at level 0. */
void core_release(uintptr_t release, unsigned core, void (*entry)(void *arg), void *arg);

/* For board.wait and board.wake, by WFE and SEV or the ISA's equivalents. */
void core_wait(const _Atomic uint32_t *word, uint32_t old);
void core_wake(const _Atomic uint32_t *word);

/* ---- interrupts ---------------------------------------------------------------------------- *
 * Only core 0 takes interrupts. The handler may interrupt a kernel. It runs on the core's trap
 * stack (4 KiB) with interrupts masked. Only general registers are saved, so the handler and all it
 * calls use no floating point and no vectors, which excludes memcpy. Everything under board/ is
 * compiled this way; tests/boot/paste.t checks the instructions. */

/* From now on call handler(context) at every interrupt; the controller is ready. Core 0, once. */
void core_interrupts_on(void (*handler)(void *context), void *context);

/* Mask the interrupts of the calling core only; returns true if they were not masked before. */
bool core_interrupts_mask(void);
void core_interrupts_restore(bool on);

/* Sleep until an interrupt is pending, masked or not. Mask interrupts first, check your condition,
 * then sleep, so that no interrupt is taken between the check and the sleep. */
void core_idle(void);

/* Let the timer of the calling core interrupt the core once, after this many ticks (board.ticks).
 * Mask interrupts first: the timer only ends core_idle, and only if irq_take_timer has confirmed
 * that it does. */
void core_timer_start(uint64_t ticks);
void core_timer_stop(void);

/* True if an interrupt is pending for the calling core, masked or not. */
bool core_interrupt_pending(void);

/* Sleep forever, on a machine that cannot be switched off. */
void core_halt(void) __attribute__((noreturn));

#endif
