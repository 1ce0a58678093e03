/* The steps of core 0 from the first instruction to image_main.
 *
 *   boot/<isa>/start.S  sets privilege level, FPU, traps and stack, clears BSS; MMU off.
 *   mmu_init()          boot/<isa>: maps the image's own pages, then turns MMU and caches on.
 *   boot_start()        boot/boot.c: makes struct machine from device tree, board and RAM.
 *   image_main()        boot/main.c: everything else.
 */
#ifndef INGOT_BOOT_BOOT_H
#define INGOT_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/isa.h"
#include "boot/stacks.h"

_Static_assert(STACK_CORES == BOARD_MAX_CORES, "a stack for every core");

/* Bounds from linker/image.ld.S; all on 4 KiB boundaries. */
extern uint8_t image_start[], text_start[], text_end[], rodata_start[], rodata_end[];
extern uint8_t data_start[], data_end[]; /* data, then BSS */
extern uint8_t stacks_start[]; /* STACKS_BYTES of stacks, then free RAM, which C does not address */
/* The address of this symbol is the device tree's, for firmware that passes none; 0: unknown. */
extern uint8_t image_device_tree_address[];

struct device_tree;

/* Called by start.S on core 0, when the stack is set, BSS is cleared, traps are reported, the FPU,
 * the MMU and the caches are on, and only the image is mapped. dtb is the address that the firmware
 * passed. */
void boot_start(const void *dtb) __attribute__((noreturn));

/* Return the machine's device tree, once boot_start has read it; blob is NULL without one. */
const struct device_tree *boot_tree(void);

/* Run the rest of the program. The machine is constant from here on. Not inlined, so that a
 * trace and tests have a symbol for the moment at which the line is ready. */
void image_main(const struct machine *machine) __attribute__((noreturn, noinline));

/* ---- what each ISA provides in addition to board/isa.h -------------------------------------- */

/* Map text RX, rodata R, data RW and every stack RW, and leave the guards unmapped. Called with
 * the MMU off, before anything else is mapped. Panics if the tables do not suffice, which is a
 * build error. */
void mmu_init(void);

/* Set up floating point on this core, before its first use: round to nearest even, keep
 * subnormals, NaN payloads as the ISA makes them, no traps, flags clear. */
void core_fp_init(void);

/* Return a random number from the CPU, or 0 if it has no generator that this level may read. */
uint64_t core_random(void);

/* Fill machine->cpu_features, cpu_name ("Cortex-A72") and tuning for this core, which is core 0.
 * Call after board.early_init; tree may be NULL. cpu_name stays valid as long as the image
 * runs. */
void cpu_detect(const struct device_tree *tree, struct machine *machine);

/* Report facts about the calling core: how the image was entered on it, and its id registers. */
struct facts;
void core_facts(const struct facts *f);

/* Features that cores 0 to n_cores - 1 have in common. All these cores must be running. */
uint32_t cpu_features_common(unsigned n_cores);

/* One step of a backtrace: *frame is a 16-byte aligned frame pointer within the bounds that the
 * caller checks. Sets *frame to the frame pointer of the calling function, and *call to an address
 * within the call instruction (the return address may be in the next function), or 0 at the end. */
void backtrace_step(uintptr_t *frame, uintptr_t *call);

static inline size_t stack_bytes(unsigned core)
{
    if (core == 0)
        return STACK_CORE0;
    return STACK_OTHER;
}

/* Return the lowest usable byte of a core's stack and of its trap stack; the guard is below. */
static inline uint8_t *stack_bottom(unsigned core)
{
    if (core == 0)
        return stacks_start + STACK_CORE0_TOP - STACK_CORE0;
    return stacks_start + STACK_OTHER_TOP(core) - STACK_OTHER;
}

static inline uint8_t *stack_trap_bottom(unsigned core)
{
    return stacks_start + STACK_TRAP_TOP(core) - STACK_TRAP;
}

#endif
