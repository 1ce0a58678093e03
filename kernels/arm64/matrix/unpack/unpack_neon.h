// Shared by the kernels that unpack weights.
#ifndef INGOT_KERNELS_ARM64_UNPACK_NEON_H
#define INGOT_KERNELS_ARM64_UNPACK_NEON_H

#include "kernels/arm64/asm.h"
#include "kernels/blocks.h"

#define out x0
#define weights x1
#define blocks_left x2

// Copy a multiple of 64 bytes; clobbers v16-v19.
.macro copy_bytes bytes
    .rept   (\bytes) / 64
    ld1     {v16.16b, v17.16b, v18.16b, v19.16b}, [weights], #64
    st1     {v16.16b, v17.16b, v18.16b, v19.16b}, [out], #64
    .endr
.endm

#endif
