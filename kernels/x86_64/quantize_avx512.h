// What the two kernels that quantize activations by AVX-512 share.
#ifndef INGOT_KERNELS_X86_64_QUANTIZE_AVX512_H
#define INGOT_KERNELS_X86_64_QUANTIZE_AVX512_H

#include "kernels/x86_64/asm.h"

    .altmacro                       // %(register number) in the arguments of macros

    .section .rodata.kernels_quantize_places, "aG", @progbits, kernels_quantize_places, comdat
    .p2align 6
    .weak   kernels_quantize_places
    .hidden kernels_quantize_places
    .type   kernels_quantize_places, @object
kernels_quantize_places:
    .byte   0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
    .size   kernels_quantize_places, . - kernels_quantize_places

// The greater magnitude of two numbers, without its sign.
#define GREATER_MAGNITUDE 0x0b

// zmm27 zero, zmm28 2^-100, zmm29 127, zmm30 top bits of bytes, zmm31 order of words after packing.
// Destroys eax.
.macro prepare_quantize
    vpxord  zmm27, zmm27, zmm27
    mov     eax, 0x0d800000
    vpbroadcastd zmm28, eax
    mov     eax, 0x42fe0000
    vpbroadcastd zmm29, eax
    mov     eax, 0x80808080
    vpbroadcastd zmm30, eax
    vpmovzxbd zmm31, [rip + kernels_quantize_places]
.endm

.macro take_magnitude to, a, b
    vrangeps zmm\to, zmm\a, zmm\b, GREATER_MAGNITUDE
.endm

// v max = d and v inverse = 127 / max of each lane's max, v zmm or xmm; 0 where max is below 2^-100.
.macro find_scales v, max, inverse
    vcmpps  k1, \v\max, \v\()28, 0x1d // not less, quietly
    vdivps  \v\inverse{k1}{z}, \v\()29, \v\max
    vdivps  \v\max{k1}{z}, \v\max, \v\()29
.endm

// zmm a = 64 bytes from 16 values each in zmm a to d, times the inverses; zmm sums = their sums by
// eights, plus 1024 each. vcvtps2dq rounds as MXCSR says, to nearest even.
.macro quantize_four a, b, c, d, inverse_ab, inverse_cd, sums
    vmulps  zmm\a, zmm\a, zmm\inverse_ab
    vmulps  zmm\b, zmm\b, zmm\inverse_ab
    vmulps  zmm\c, zmm\c, zmm\inverse_cd
    vmulps  zmm\d, zmm\d, zmm\inverse_cd
    vcvtps2dq zmm\a, zmm\a
    vcvtps2dq zmm\b, zmm\b
    vcvtps2dq zmm\c, zmm\c
    vcvtps2dq zmm\d, zmm\d
    vpackssdw zmm\a, zmm\a, zmm\b
    vpackssdw zmm\c, zmm\c, zmm\d
    vpacksswb zmm\a, zmm\a, zmm\c
    vpermd  zmm\a, zmm31, zmm\a
    vpxord  zmm\sums, zmm\a, zmm30
    vpsadbw zmm\sums, zmm\sums, zmm27
.endm

#endif
