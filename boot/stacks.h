/* Where the stacks lie, for C, assembly and the linker script. Each slot is a guard page, which
 * is never mapped, with the stack above it: an overflow faults instead of overwriting. Core 0 has
 * the first slot; then one slot for each other core; then one trap stack for each core, so that
 * a trap caused by an overflow can still report. */
#ifndef INGOT_BOOT_STACKS_H
#define INGOT_BOOT_STACKS_H

#define STACK_GUARD 4096
#define STACK_CORE0 65536
#define STACK_OTHER 32768
#define STACK_TRAP  4096
#define STACK_CORES 8 /* BOARD_MAX_CORES */

/* Offset from stacks_start of the stack's lowest usable byte. */
#define STACK_OFFSET(core)                                                                        \
    ((core) == 0 ? STACK_GUARD                                                                    \
                 : 2 * STACK_GUARD + STACK_CORE0 + ((core)-1) * (STACK_GUARD + STACK_OTHER))
#define STACK_BYTES(core) ((core) == 0 ? STACK_CORE0 : STACK_OTHER)

/* The same of trap stacks. */
#define STACK_TRAPS_START                                                                         \
    (STACK_GUARD + STACK_CORE0 + (STACK_CORES - 1) * (STACK_GUARD + STACK_OTHER))
#define STACK_TRAP_OFFSET(core) (STACK_TRAPS_START + STACK_GUARD + (core) * (STACK_GUARD + STACK_TRAP))

#define STACKS_BYTES (STACK_TRAPS_START + STACK_CORES * (STACK_GUARD + STACK_TRAP))

#endif
