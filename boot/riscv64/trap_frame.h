/* The registers that a trap saves, for start.S and trap.c. */
#ifndef INGOT_BOOT_RISCV64_TRAP_FRAME_H
#define INGOT_BOOT_RISCV64_TRAP_FRAME_H

#define TRAP_FRAME_BYTES  288
#define TRAP_FRAME_SEPC   256
#define TRAP_FRAME_SCAUSE 264
#define TRAP_FRAME_STVAL  272
#define TRAP_FRAME_STATUS 280

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint64_t x[32]; /* x[0] is 0 */
    uint64_t sepc, scause, stval, sstatus;
};
_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_BYTES &&
                   offsetof(struct trap_frame, sepc) == TRAP_FRAME_SEPC &&
                   offsetof(struct trap_frame, scause) == TRAP_FRAME_SCAUSE &&
                   offsetof(struct trap_frame, stval) == TRAP_FRAME_STVAL &&
                   offsetof(struct trap_frame, sstatus) == TRAP_FRAME_STATUS,
               "start.S relies on this layout");
#endif

#endif
