// void add_scaled_f32_neon(float *y, const float *x, size_t n, float factor)
//
// x0 y; x1 x; x2 n; s0 factor;
// x3 y as it is read.
// Clobbers x0-x3, v1, v4-v7, v16-v19.
//
// A step takes thirty-two elements. Loads and stores of y use two pointers, because with one
// pointer a load would wait for the previous store: 21 cycles for 16 elements, not 8, in the model
// of Cortex-A72, and 12, not 6, in that of Neoverse N1 (llvm-mca 19).
#include "kernels/arm64/vector/elementwise_neon.h"

#define out x0
#define vector x1
#define left x2
#define reader x3

.macro add_sixteen
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [vector], #64
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [reader], #64
    each_by fmla, 16, 17, 18, 19, 4, 5, 6, 7, v0.s[0]
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [out], #64
.endm

.macro add_one
    ldr     s4, [vector], #4
    ldr     s1, [reader], #4
    fmadd   s1, s4, s0, s1
    str     s1, [out], #4
.endm

func add_scaled_f32_neon
    mov     reader, out
    for_elements left, add_sixteen, add_one
    ret
endfunc add_scaled_f32_neon
    mov     reader, out
