/* The loop of SHA-256 over blocks for rv64gc, with or without instructions for sums of rotations. The including
 * file defines these macros:
 *   big_sigma out, x, constant   out (half or temp) = the sum of three rotations of x; destroys high and temp.
 *   small_begin x                puts into high and half what small_first and small_second need of x.
 *   small_first                  temp = sigma0; keeps high and half for small_second, destroys spare.
 *   small_first_only             the same, but destroys high and half, not spare.
 *   small_second                 temp = sigma1; destroys high and half.
 *   load_pair first, second, at  loads two big-endian words from `at` of the block; may use constant3, spare, w0.
 *   load_masks                   loads the masks that load_pair needs.
 *   load_constants               loads constant0 to constant2.
 *   load_constant3               loads constant3, if it is used; runs after load_pair.
 * The upper halves of words are undefined.
 *
 * The state is in s0-s7. In the majority b ^ ((a ^ b) & (b ^ c)) the term a ^ b is the term b ^ c of the next
 * round. The schedule is w[i] = w[i - 16] + sigma0(w[i - 15]) + w[i - 7] + sigma1(w[i - 2]). The
 * first two terms are added when w[i - 15] is known, and are kept on the stack, so that both sigmas
 * of a word share their first steps. The last eight words are in registers. */
#ifndef INGOT_KERNELS_RISCV64_SHA256_RV64GC_H
#define INGOT_KERNELS_RISCV64_SHA256_RV64GC_H

#include "kernels/riscv64/asm.h"

#define FRAME 192
#define SAVED_AT 80                   /* offset in the frame, after the schedule's 16 words and the
                                       * next two values */
#define h_at 64(sp)
#define left_at 72(sp)

#define blocks a0
#define words_at a1
#define constant0 a2
#define constant1 a3
#define constant2 a4
#define constant3 s11
#define differ a5                     /* b ^ c, also for the next round */
#define differ_next a6
#define high t0
#define half t1
#define temp t2
#define spare ra
#define w0 a7
#define w1 t3
#define w2 t4
#define w3 t5
#define w4 t6
#define w5 s8
#define w6 s9
#define w7 s10

/* `bc` is b ^ c; the macro leaves a ^ b in `ab`. */
.macro round a, b, c, d, e, f, g, h, bc, ab, word, at
    lw      half, \at(words_at)
    xor     temp, \f, \g
    add     \h, \h, \word
    and     temp, temp, \e
    add     \h, \h, half
    xor     temp, temp, \g
    add     \h, \h, temp
    big_sigma half, \e, constant1
    xor     \ab, \a, \b
    add     \h, \h, half
    and     \bc, \bc, \ab
    add     \d, \d, \h
    xor     \bc, \bc, \b
    big_sigma half, \a, constant0
    add     \h, \h, \bc
    add     \h, \h, half
.endm

/* Store sigma0 of this word plus the word before it to `at` of the stack, for the word 15 later. */
.macro begin_word word, before, at
    small_begin \word
    small_first
    add     temp, temp, \before
    sw      temp, \at(sp)
.endm

.macro early_word word, before, at
    small_begin \word
    small_first_only
    add     temp, temp, \before
    sw      temp, \at(sp)
.endm

/* After small_begin of a word: compute the word two later, whose first terms are at `at` of the
 * stack. */
.macro end_word word, before_7, at
    lw      \word, \at(sp)
    small_second
    add     \word, \word, \before_7
    add     \word, \word, temp
.endm

.macro load_state from
    lw      s0, 0(\from)
    lw      s1, 4(\from)
    lw      s2, 8(\from)
    lw      s3, 12(\from)
    lw      s4, 16(\from)
    lw      s5, 20(\from)
    lw      s6, 24(\from)
    lw      s7, 28(\from)
.endm

.macro add_state word, to, at
    lw      temp, \at(\to)
    add     \word, \word, temp
    sw      \word, \at(\to)
.endm

.macro sha256_blocks
    beqz    a2, .Lnone\@
    push_at SAVED_AT, FRAME, ra, ALL_SAVED
    sd      a0, h_at
    sd      a2, left_at
    load_state a0
    mv      blocks, a1
    load_constants
.Lblock\@:
    load_masks
    la      words_at, sha256_round_words
    xor     differ, s1, s2
    load_pair w2, w1, 0
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w2, 0
    early_word w1, w2, 0
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 4
    load_pair w2, w3, 8
    early_word w2, w1, 4
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 8
    early_word w3, w2, 8
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 12
    load_pair w4, w5, 16
    early_word w4, w3, 12
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 16
    early_word w5, w4, 16
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 20
    load_pair w6, w7, 24
    early_word w6, w5, 20
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 24
    early_word w7, w6, 24
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 28
    load_pair w2, w1, 32
    early_word w2, w7, 28
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w2, 32
    early_word w1, w2, 32
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 36
    load_pair w2, w3, 40
    early_word w2, w1, 36
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 40
    early_word w3, w2, 40
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 44
    load_pair w4, w5, 48
    early_word w4, w3, 44
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 48
    early_word w5, w4, 48
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 52
    load_pair w6, w7, 56
    load_constant3
    begin_word w6, w5, 52
    end_word w0, w1, 0
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 56
    begin_word w7, w6, 56
    end_word w1, w2, 4
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 60
.Lwords\@:
    addi    words_at, words_at, 64
    begin_word w0, w7, 60
    end_word w2, w3, 8
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w0, 0
    begin_word w1, w0, 0
    end_word w3, w4, 12
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 4
    begin_word w2, w1, 4
    end_word w4, w5, 16
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 8
    begin_word w3, w2, 8
    end_word w5, w6, 20
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 12
    begin_word w4, w3, 12
    end_word w6, w7, 24
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 16
    begin_word w5, w4, 16
    end_word w7, w0, 28
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 20
    begin_word w6, w5, 20
    end_word w0, w1, 32
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 24
    begin_word w7, w6, 24
    end_word w1, w2, 36
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 28
    begin_word w0, w7, 28
    end_word w2, w3, 40
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w0, 32
    begin_word w1, w0, 32
    end_word w3, w4, 44
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 36
    begin_word w2, w1, 36
    end_word w4, w5, 48
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 40
    begin_word w3, w2, 40
    end_word w5, w6, 52
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 44
    begin_word w4, w3, 44
    end_word w6, w7, 56
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 48
    begin_word w5, w4, 48
    end_word w7, w0, 60
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 52
    begin_word w6, w5, 52
    end_word w0, w1, 0
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 56
    begin_word w7, w6, 56
    end_word w1, w2, 4
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 60
    la      temp, sha256_round_words
    sub     temp, words_at, temp
    sltiu   temp, temp, 128
    bnez    temp, .Lwords\@
    addi    words_at, words_at, 64
    begin_word w0, w7, 60
    end_word w2, w3, 8
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w0, 0
    small_begin w1
    end_word w3, w4, 12
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 4
    small_begin w2
    end_word w4, w5, 16
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 8
    small_begin w3
    end_word w5, w6, 20
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 12
    small_begin w4
    end_word w6, w7, 24
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 16
    small_begin w5
    end_word w7, w0, 28
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 20
    small_begin w6
    end_word w0, w1, 32
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 24
    small_begin w7
    end_word w1, w2, 36
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 28
    small_begin w0
    end_word w2, w3, 40
    round s0, s1, s2, s3, s4, s5, s6, s7, differ, differ_next, w0, 32
    small_begin w1
    end_word w3, w4, 44
    round s7, s0, s1, s2, s3, s4, s5, s6, differ_next, differ, w1, 36
    small_begin w2
    end_word w4, w5, 48
    round s6, s7, s0, s1, s2, s3, s4, s5, differ, differ_next, w2, 40
    small_begin w3
    end_word w5, w6, 52
    round s5, s6, s7, s0, s1, s2, s3, s4, differ_next, differ, w3, 44
    small_begin w4
    end_word w6, w7, 56
    round s4, s5, s6, s7, s0, s1, s2, s3, differ, differ_next, w4, 48
    small_begin w5
    end_word w7, w0, 60
    round s3, s4, s5, s6, s7, s0, s1, s2, differ_next, differ, w5, 52
    round s2, s3, s4, s5, s6, s7, s0, s1, differ, differ_next, w6, 56
    round s1, s2, s3, s4, s5, s6, s7, s0, differ_next, differ, w7, 60
    ld      high, h_at
    ld      half, left_at
    addi    blocks, blocks, 64
    add_state s0, high, 0
    add_state s1, high, 4
    add_state s2, high, 8
    add_state s3, high, 12
    add_state s4, high, 16
    add_state s5, high, 20
    add_state s6, high, 24
    add_state s7, high, 28
    addi    half, half, -1
    sd      half, left_at
    bnez    half, .Lblock\@
    pop_at  SAVED_AT, FRAME, ra, ALL_SAVED
.Lnone\@:
    ret
.endm

#include "kernels/sha256_words.inc"

#endif
