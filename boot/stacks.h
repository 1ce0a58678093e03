/* The location of the stacks, for C, assembly and the linker script. Each slot is a guard, which
 * is never mapped, with the stack above it: an overflow faults instead of overwriting. A guard
 * is larger than the largest frame, which holds the tile of a gemm, so no frame reaches across
 * it (checked by toolchain/stack.py). Core 0 has the first slot; then one slot for each other
 * core; then one trap stack for each core, so that a trap caused by an overflow can still
 * report. */
#ifndef INGOT_BOOT_STACKS_H
#define INGOT_BOOT_STACKS_H

#define STACK_GUARD 16384
#define STACK_CORE0 65536
#define STACK_OTHER 32768
#define STACK_TRAP  4096
#ifdef BOARD_MOST_CORES
#define STACK_CORES BOARD_MOST_CORES /* BOARD_MAX_CORES */
#else
#define STACK_CORES 8
#endif

/* Offsets from stacks_start to the slots of the other cores and to the trap stacks. */
#define STACK_OTHERS_START (STACK_GUARD + STACK_CORE0)
#define STACK_TRAPS_START                                                                         \
    (STACK_OTHERS_START + (STACK_CORES - 1) * (STACK_GUARD + STACK_OTHER))
#define STACKS_BYTES (STACK_TRAPS_START + STACK_CORES * (STACK_GUARD + STACK_TRAP))

/* Offsets of the stacks' ends, at which an empty stack's pointer starts. OTHER is for core >= 1,
 * TRAP for any core. */
#define STACK_CORE0_TOP       STACK_OTHERS_START
#define STACK_OTHER_TOP(core) (STACK_OTHERS_START + (core) * (STACK_GUARD + STACK_OTHER))
#define STACK_TRAP_TOP(core)  (STACK_TRAPS_START + ((core) + 1) * (STACK_GUARD + STACK_TRAP))

#endif
