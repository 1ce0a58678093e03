/* void hadamard_f32_rvv(float *x, size_t n, size_t block)
 *
 * a0 x, block after block, a1 n, floats left, a2 block, also bytes of a quarter. Clobbers a0, a1, a3-a7,
 * t0-t4, v0-v15; 2 KiB of stack.
 *
 * A pass works on the two lowest bits of an index (on one bit in the last pass if a block has 32, 128 or
 * 512 floats). A segment load sorts the floats by these bits, which become the highest bits of the index
 * in the store. After all passes each float is at its own index. Passes alternate between x and the
 * stack. */
#include "kernels/riscv64/asm.h"

#define vector a0
#define left a1
#define block a2
#define from a3
#define to a4
#define strides a5
#define pass_left a6   /* in fours or pairs */
#define taken a7
#define bytes t0
#define second t1
#define third t2
#define fourth t3
#define room t4        /* where `to` began */
#define ROOM 2048

/* from = the buffer that the last pass wrote, to = the other buffer. */
.macro next_pass
    mv from, room
    mv room, sp
    beq from, vector, .Lplaced\@
    mv room, vector
.Lplaced\@:
    mv to, room
.endm

func hadamard_f32_rvv, v
    addi sp, sp, -ROOM
    .cfi_adjust_cfa_offset ROOM
    beqz left, .Ldone
.Lvector:
    mv from, vector
    mv to, sp
    mv room, to
    mv strides, block
.Lpass:
    li taken, 2
    beq strides, taken, .Ltwo
    srli pass_left, block, 2
    add second, to, block
    add third, second, block
    add fourth, third, block
.Lfours:
    vsetvli taken, pass_left, e32, m2, ta, ma
    vlseg4e32.v v0, (from)
    sub pass_left, pass_left, taken
    slli bytes, taken, 2
    vfadd.vv v8, v0, v2
    vfsub.vv v10, v0, v2
    vfadd.vv v12, v4, v6
    vfsub.vv v14, v4, v6
    vfadd.vv v0, v8, v12
    vfadd.vv v2, v10, v14
    vfsub.vv v4, v8, v12
    vfsub.vv v6, v10, v14
    vse32.v v0, (to)
    vse32.v v2, (second)
    vse32.v v4, (third)
    vse32.v v6, (fourth)
    add to, to, bytes
    add second, second, bytes
    add third, third, bytes
    add fourth, fourth, bytes
    slli bytes, bytes, 2
    add from, from, bytes
    bnez pass_left, .Lfours
    next_pass
    srli strides, strides, 2
    li taken, 1
    bne strides, taken, .Lpass
    j .Lturned
.Ltwo:
    srli pass_left, block, 1
    slli second, block, 1
    add second, to, second
.Lpairs:
    vsetvli taken, pass_left, e32, m4, ta, ma
    vlseg2e32.v v0, (from)
    sub pass_left, pass_left, taken
    slli bytes, taken, 2
    vfadd.vv v8, v0, v4
    vfsub.vv v12, v0, v4
    vse32.v v8, (to)
    vse32.v v12, (second)
    add to, to, bytes
    add second, second, bytes
    slli bytes, bytes, 1
    add from, from, bytes
    bnez pass_left, .Lpairs
    next_pass
.Lturned:
    sub left, left, block
    slli second, block, 2
    add second, vector, second
    beq from, vector, .Lnext
    mv pass_left, block
.Lcopy:
    vsetvli taken, pass_left, e32, m8, ta, ma
    vle32.v v0, (from)
    sub pass_left, pass_left, taken
    slli bytes, taken, 2
    add from, from, bytes
    vse32.v v0, (vector)
    add vector, vector, bytes
    bnez pass_left, .Lcopy
.Lnext:
    mv vector, second
    bnez left, .Lvector
.Ldone:
    addi sp, sp, ROOM/2
    addi sp, sp, ROOM/2
    .cfi_adjust_cfa_offset -ROOM
    ret
endfunc
