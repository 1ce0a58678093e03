// gelu of eight or sixteen floats, the operations of gelu_tanh_f32 in kernels/ref/scalar.h in their
// order.
#ifndef INGOT_KERNELS_X86_64_GELU_H
#define INGOT_KERNELS_X86_64_GELU_H

#include "kernels/x86_64/exp.h"

    .section .rodata.kernels_gelu_table, "aG", @progbits, kernels_gelu_table, comdat
    .p2align 6
    .weak   kernels_gelu_table
    .hidden kernels_gelu_table
    .type   kernels_gelu_table, @object
kernels_gelu_table:
    .fill   8, 4, 0xc1800000        // -16
    .fill   8, 4, 0x41800000        // 16
    .fill   8, 4, 0x3fcc422a        // 0x1.988454p+0, c1 = 2 sqrt(2 / pi) in two parts
    .fill   8, 4, 0xb342bc9b        // -0x1.857936p-25
    .fill   8, 4, 0x3d922279        // 0x1.2444f2p-4, c3 = 0.044715 c1
    .fill   8, 4, 0x3124d8b5        // 0x1.49b16ap-29
    .size   kernels_gelu_table, . - kernels_gelu_table

#define gelu_least      [rip + kernels_gelu_table]
#define gelu_greatest   [rip + kernels_gelu_table + 32]
#define gelu_c1         [rip + kernels_gelu_table + 64]
#define gelu_c1_low     [rip + kernels_gelu_table + 96]
#define gelu_c3         [rip + kernels_gelu_table + 128]
#define gelu_c3_low     [rip + kernels_gelu_table + 160]

// ymm0 = gelu of ymm4, which is kept; ymm1-ymm3, ymm5-ymm7 are scratch. NaN as the first operand of
// vmaxps gives -16, and comes back with the division. 54 instructions.
.macro gelu_eight
    vmaxps  ymm0, ymm4, gelu_least
    vmovaps ymm7, gelu_c1
    vminps  ymm0, ymm0, gelu_greatest   // v
    vmulps  ymm1, ymm0, ymm0            // square
    vmulps  ymm2, ymm1, gelu_c3         // cubic
    vaddps  ymm3, ymm2, ymm7            // factor
    vsubps  ymm5, ymm3, ymm7            // rest
    vsubps  ymm6, ymm3, ymm5
    vsubps  ymm5, ymm2, ymm5
    vsubps  ymm6, ymm7, ymm6
    vfmsub231ps ymm2, ymm1, gelu_c3
    vaddps  ymm5, ymm6, ymm5            // low
    vmovaps ymm6, ymm1
    vfmsub231ps ymm6, ymm0, ymm0
    vaddps  ymm5, ymm5, ymm2
    vfmadd231ps ymm5, ymm6, gelu_c3
    vfmadd231ps ymm5, ymm1, gelu_c3_low
    vaddps  ymm5, ymm5, gelu_c1_low
    vmulps  ymm1, ymm0, ymm3            // u
    vmovaps ymm2, ymm1
    vfmsub231ps ymm2, ymm0, ymm3
    vfmadd213ps ymm5, ymm0, ymm2
    vxorps  ymm0, ymm1, exp_sign
    exp_eight 0, 1, 2, 3, 5
    vaddps  ymm0, ymm0, exp_one
    vdivps  ymm0, ymm4, ymm0
.endm

// The same of sixteen: zmm0 = gelu of zmm4.
.macro gelu_sixteen
    vmaxps  zmm0, zmm4, dword ptr gelu_least{1to16}
    vbroadcastss zmm7, dword ptr gelu_c1
    vbroadcastss zmm16, dword ptr gelu_c3
    vminps  zmm0, zmm0, dword ptr gelu_greatest{1to16}  // v
    vmulps  zmm1, zmm0, zmm0        // square
    vmulps  zmm2, zmm1, zmm16       // cubic
    vaddps  zmm3, zmm2, zmm7        // factor
    vsubps  zmm5, zmm3, zmm7        // rest
    vsubps  zmm6, zmm3, zmm5
    vsubps  zmm5, zmm2, zmm5
    vsubps  zmm6, zmm7, zmm6
    vfmsub231ps zmm2, zmm1, zmm16
    vaddps  zmm5, zmm6, zmm5        // low
    vmovaps zmm6, zmm1
    vfmsub231ps zmm6, zmm0, zmm0
    vaddps  zmm5, zmm5, zmm2
    vfmadd231ps zmm5, zmm6, zmm16
    vfmadd231ps zmm5, zmm1, dword ptr gelu_c3_low{1to16}
    vaddps  zmm5, zmm5, dword ptr gelu_c1_low{1to16}
    vmulps  zmm1, zmm0, zmm3        // u
    vmovaps zmm2, zmm1
    vfmsub231ps zmm2, zmm0, zmm3
    vfmadd213ps zmm5, zmm0, zmm2
    vxorps  zmm0, zmm1, dword ptr exp_sign{1to16}
    exp_sixteen 0, 1, 2, 3, 5
    vaddps  zmm0, zmm0, dword ptr exp_one{1to16}
    vdivps  zmm0, zmm4, zmm0
.endm

#endif
