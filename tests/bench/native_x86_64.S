// Functions with which native_main.c measures this computer: reading alone, and multiplying alone.
#include "kernels/x86_64/asm.h"

// void bench_read(const void *from, size_t bytes)
// bytes % 256 == 0. rdi from  rsi bytes. Loads of 32 bytes into four registers and nothing else:
// no core reads faster than this.
func bench_read
    add     rsi, rdi
1:
    .irp    at, 0, 128
    vmovdqu ymm0, [rdi + \at]
    vmovdqu ymm1, [rdi + \at + 32]
    vmovdqu ymm2, [rdi + \at + 64]
    vmovdqu ymm3, [rdi + \at + 96]
    .endr
    add     rdi, 256
    cmp     rdi, rsi
    jb      1b
endfunc bench_read

// void bench_peak_avx512_vnni(size_t turns)
// 16 vpdpbusd zmm a turn, of 64 multiply-adds each, none waiting for another.
func bench_peak_avx512_vnni
1:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpdpbusd zmm\n, zmm30, zmm31
    .endr
    dec     rdi
    jnz     1b
endfunc bench_peak_avx512_vnni

// void bench_peak_avx2_vnni(size_t turns)
// The same for 32 multiply-adds each, with VEX coding and all registers that has.
func bench_peak_avx2_vnni
1:
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    {vex} vpdpbusd ymm\n, ymm14, ymm15
    .endr
    dec     rdi
    jnz     1b
endfunc bench_peak_avx2_vnni

// void bench_peak_avx2(size_t turns)
// 8 times a turn 32 products to 8 sums of 32 bits: vpmaddubsw, vpmaddwd by ones, vpaddd.
func bench_peak_avx2
1:
    .irp    n, 0, 1, 2, 3
    vpmaddubsw ymm8, ymm14, ymm15
    vpmaddubsw ymm9, ymm14, ymm15
    vpmaddwd ymm8, ymm8, ymm13
    vpmaddwd ymm9, ymm9, ymm13
    vpaddd  ymm\n, ymm\n, ymm8
    vpaddd  ymm7, ymm7, ymm9
    .endr
    dec     rdi
    jnz     1b
endfunc bench_peak_avx2
