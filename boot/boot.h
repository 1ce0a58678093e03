/* The way from the first instruction to image_main, on core 0:
 *
 *   boot/<isa>/start.S  privilege level, FPU, traps, stack, BSS cleared; MMU off
 *   mmu_init()          boot/<isa>: the image's own pages, then MMU and caches on
 *   boot_start()        boot/boot.c: device tree, board, RAM -> struct machine
 *   image_main()        boot/main.c: everything else
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

/* From linker/image.ld.S; all on 4 KiB boundaries. */
extern uint8_t image_start[], text_start[], text_end[], rodata_start[], rodata_end[];
extern uint8_t data_start[], data_end[]; /* data, then BSS */
extern uint8_t stacks_start[]; /* STACKS_BYTES, then free RAM, which no address of C reaches */
/* Its address is where the firmware leaves the device tree when it passes none; 0: nowhere. */
extern uint8_t image_device_tree_address[];

struct device_tree;

/* Called by start.S on core 0: stack set, BSS cleared, traps reported, FPU on in its reset state
 * of core_init, MMU and caches on, only the image mapped. dtb as the firmware passed it. */
void boot_start(const void *dtb) __attribute__((noreturn));

/* The machine's device tree, once boot_start has read it; blob NULL: there is none. */
const struct device_tree *boot_tree(void);

/* The rest of the program. The machine is constant from now on. Not inlined: from here on there is
 * a line, and a symbol says where that is, in a trace of the program and to tests. */
void image_main(const struct machine *machine) __attribute__((noreturn, noinline));

/* ---- what each ISA provides besides board/isa.h ------------------------------------------- */

/* Map text RX, rodata R, data RW and every stack RW, the guards nothing; called with the MMU
 * off, before anything else is mapped. Panics when the tables do not suffice: a build error. */
void mmu_init(void);

/* Per core, before any floating point: round to nearest even, subnormals kept, NaN payloads as the
 * ISA makes them, no traps, flags clear. */
void core_fp_init(void);

/* A random number of the CPU's own; 0: it has none that this level may read. */
uint64_t core_random(void);

/* Fill machine->cpu_features, cpu_name ("Cortex-A72") and tuning for this core, core 0. Needs
 * board.early_init and the tree of the machine, which may be NULL. The text lives as long as the
 * image. */
void cpu_detect(const struct device_tree *tree, struct machine *machine);

/* Tell what the core that runs this says of itself: how it was entered, which one it is. */
struct facts;
void core_facts(const struct facts *f);

/* Features that the cores 0 .. n_cores - 1 have in common, all of which run. */
uint32_t cpu_features_common(unsigned n_cores);

/* One step of a backtrace: *frame is a frame pointer within the caller's bounds, 16-byte aligned;
 * gives an address within the call instruction (the return address may be in the next function), 0
 * where there is no caller, and the caller's frame pointer. */
void backtrace_step(uintptr_t *frame, uintptr_t *call);

static inline size_t stack_bytes(unsigned core)
{
    if (core == 0)
        return STACK_CORE0;
    return STACK_OTHER;
}

/* The lowest usable byte of a core's stack, and of its trap stack; the guard is below. */
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
