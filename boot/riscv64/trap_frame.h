/* What a trap saves, for vectors.S and trap.c. */
#ifndef INGOT_BOOT_RISCV64_TRAP_FRAME_H
#define INGOT_BOOT_RISCV64_TRAP_FRAME_H

#define TRAP_FRAME_BYTES  288
#define TRAP_FRAME_SP     16 /* x2 */
#define TRAP_FRAME_EPC    256
#define TRAP_FRAME_STATUS 264
#define TRAP_FRAME_CAUSE  272
#define TRAP_FRAME_VALUE  280

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint64_t x[32]; /* x[0] is 0 */
    uint64_t epc, status, cause, value;
};
_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_BYTES &&
                   offsetof(struct trap_frame, x[2]) == TRAP_FRAME_SP &&
                   offsetof(struct trap_frame, epc) == TRAP_FRAME_EPC &&
                   offsetof(struct trap_frame, status) == TRAP_FRAME_STATUS &&
                   offsetof(struct trap_frame, cause) == TRAP_FRAME_CAUSE &&
                   offsetof(struct trap_frame, value) == TRAP_FRAME_VALUE,
               "vectors.S relies on this layout");
#endif

#endif
