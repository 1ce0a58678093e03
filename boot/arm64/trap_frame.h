/* The registers that a trap saves, for vectors.S and trap.c. */
#ifndef INGOT_BOOT_ARM64_TRAP_FRAME_H
#define INGOT_BOOT_ARM64_TRAP_FRAME_H

#define TRAP_FRAME_BYTES 288
#define TRAP_FRAME_SP    248
#define TRAP_FRAME_ELR   256
#define TRAP_FRAME_SPSR  264
#define TRAP_FRAME_ESR   272
#define TRAP_FRAME_FAR   280

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint64_t x[31];
    uint64_t sp, elr, spsr, esr, far;
};
_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_BYTES &&
                   offsetof(struct trap_frame, sp) == TRAP_FRAME_SP &&
                   offsetof(struct trap_frame, elr) == TRAP_FRAME_ELR &&
                   offsetof(struct trap_frame, far) == TRAP_FRAME_FAR,
               "vectors.S relies on this layout");
#endif

#endif
