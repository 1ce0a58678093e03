/* The order in which attention kernels take queries: three at a time, for which keys or values are
 * loaded and widened once, and then the remaining one or two. */
#ifndef INGOT_KERNELS_RISCV64_QUERIES_H
#define INGOT_KERNELS_RISCV64_QUERIES_H

/* Call \macro count[, \more], which lowers \left, until \left is 0; then go to \done. */
.macro by_threes macro, left, temp, done, more:vararg
.Lthree\@:
    li \temp, 3
    bltu \left, \temp, .Ltwo\@
    \macro 3, \more
    j .Lthree\@
.Ltwo\@:
    li \temp, 2
    bltu \left, \temp, .Lone\@
    \macro 2, \more
.Lone\@:
    beqz \left, \done
    \macro 1, \more
.endm

#endif
