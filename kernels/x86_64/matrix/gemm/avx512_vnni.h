// Shared by the gemms with AVX-512 VNNI. Sixteen rows at a time: a zmm holds a chunk
// (8 rows by 4 columns) of one group and, above it, the same chunk of the next
// group. A 32-bit lane is therefore a row, and vpdpbusd multiplies it by 4 columns
// of a token, broadcast from memory. vpdpbusd's first factor must be unsigned. Nibbles are
// unsigned. 128 is added to int8 weights, and the sum of the token corrects this.
#ifndef INGOT_KERNELS_X86_64_AVX512_VNNI_H
#define INGOT_KERNELS_X86_64_AVX512_VNNI_H

#include "kernels/blocks.h"
#include "kernels/x86_64/asm.h"

    .altmacro                       // allows %(register number) in arguments of macros

#define out rdi
#define weights rsi
#define tokens rdx
#define shape rcx
#define rows_left r8
#define y_stride r10
#define y_row r11
#define tokens_left r14
#define blocks_left r15
#define group_a rbx
#define group_b rbp

// k1, k2 = masks of the rows of y that exist among 32. Destroys rax and rcx.
.macro rows_to_store
    mov     ecx, 32
    cmp     rows_left, rcx
    cmovb   rcx, rows_left
    mov     eax, 1
    shl     rax, cl
    dec     rax
    kmovw   k1, eax
    shr     eax, 16
    kmovw   k2, eax
.endm

// group_b = the group `stride` bytes after group_a. If at most `rows` rows remain, group_b is
// group_a again, and its results are not stored.
.macro find_second rows, stride
    lea     group_b, [group_a + \stride]
    cmp     rows_left, \rows
    cmovbe  group_b, group_a
.endm

// Start and end of the loops over panels of 32 rows. The including file defines
// group_stride, frame, FRAME (the frame's size in bytes), and the frame's words
// SHAPE, N_BLOCKS and PANEL_W. `columns` is log2 of a block's columns.
.macro enter_panels columns, block_bytes
    push_saved rbx, rbp, r12, r13, r14, r15
    take_stack FRAME
    lea     frame, [rsp + 63]
    and     frame, -64
    mov     [frame + SHAPE], shape
    mov     rows_left, [shape + SHAPE_ROWS]
    mov     rax, [shape + SHAPE_COLS]
    mov     y_stride, [shape + SHAPE_Y_STRIDE]
    shl     y_stride, 2
    shr     rax, \columns
    mov     [frame + N_BLOCKS], rax
    imul    group_stride, rax, \block_bytes
.endm

.macro leave_panels
    give_stack FRAME
    pop_saved r15, r14, r13, r12, rbp, rbx
.endm

// Run `unpack half` for both halves of a panel of 32 rows.
.macro unpack_panel unpack
    mov     group_a, [frame + PANEL_W]
    find_second 8, group_stride
    \unpack 0
    mov     group_a, [frame + PANEL_W]
    lea     rax, [group_a + 2*group_stride]
    cmp     rows_left, 16
    cmova   group_a, rax
    find_second 24, group_stride
    \unpack 1
.endm

// zmm reg = 32 bytes at group_a + at, 32 bytes at group_b + at.
.macro load_pair reg, at
    vmovdqu32 ymm\reg, [group_a + \at]
    vinserti64x4 zmm\reg, zmm\reg, [group_b + \at], 1
.endm

// zmm reg = the scales of 16 rows in f32; each group begins with 8, in fp16. Destroys ymm other.
.macro load_scales reg, other
    vcvtph2ps ymm\reg, [group_a]
    vcvtph2ps ymm\other, [group_b]
    vinsertf64x4 zmm\reg, zmm\reg, ymm\other, 1
.endm

// zmm first ... first + 7 = the 8 chunks of a block of 32 columns, unsigned. Q4_0: zmm nibble
// masks the low nibbles.
.macro load_q4 first, nibble
    load_pair %(\first + 0), (QUANTS + 0)
    load_pair %(\first + 1), (QUANTS + 32)
    load_pair %(\first + 2), (QUANTS + 64)
    load_pair %(\first + 3), (QUANTS + 96)
    part_nibbles %(\first + 0), %(\first + 4), \nibble
    part_nibbles %(\first + 1), %(\first + 5), \nibble
    part_nibbles %(\first + 2), %(\first + 6), \nibble
    part_nibbles %(\first + 3), %(\first + 7), \nibble
.endm

.macro part_nibbles low, high, nibble
    vpsrlw  zmm\high, zmm\low, 4
    vpandd  zmm\low, zmm\low, zmm\nibble
    vpandd  zmm\high, zmm\high, zmm\nibble
.endm

// Q8_0: zmm flip has the top bit of every byte set.
.macro load_q8 first, flip
    load_flipped %(\first + 0), (QUANTS + 0), \flip
    load_flipped %(\first + 1), (QUANTS + 32), \flip
    load_flipped %(\first + 2), (QUANTS + 64), \flip
    load_flipped %(\first + 3), (QUANTS + 96), \flip
    load_flipped %(\first + 4), (QUANTS + 128), \flip
    load_flipped %(\first + 5), (QUANTS + 160), \flip
    load_flipped %(\first + 6), (QUANTS + 192), \flip
    load_flipped %(\first + 7), (QUANTS + 224), \flip
.endm

.macro load_flipped reg, at, flip
    load_pair \reg, \at
    vpxord  zmm\reg, zmm\reg, zmm\flip
.endm

#endif
