// void gelu_f32_neon(float *y, const float *x, size_t n)
//
// x0 y; x1 x; x2 n;
// x4-x8 as in tail_neon.h, x9-x15 and v24-v31 constants.
// Clobbers x0-x2, x4-x15, v0-v31; d8-d15 are saved; 128 bytes of stack.
//
// A step takes sixteen elements and reads them before it writes y, so that y may
// be x. 16 elements take about 165 instructions, 4 divisions among them: 371
// cycles in the model of Cortex-A53, 293 in that of Cortex-A72 (llvm-mca 19).
#include "kernels/arm64/vector/gelu_neon.h"
#include "kernels/arm64/vector/tail_neon.h"

#define out x0
#define vector x1
#define left x2

func gelu_f32_neon
    save_vectors
    sub     sp, sp, #64
    .cfi_adjust_cfa_offset 64
    gelu_constants
    mov     tail, #0
1:
    subs    left, left, #16
    b.lo    3f
2:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [vector]
    gelu_sixteen vector
    st1     {v0.4s, v1.4s, v2.4s, v3.4s}, [out], #64
    cbz     tail, 1b
    store_tail
    b       4f
3:
    adds    tail, left, #16
    b.eq    4f
    load_tail vector, 0
    mov     tail_out, out
    mov     vector, sp
    mov     out, sp
    b       2b
4:
    add     sp, sp, #64
    .cfi_adjust_cfa_offset -64
    restore_vectors
    ret
endfunc gelu_f32_neon
