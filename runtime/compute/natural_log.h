/* Logarithms that are the same on every machine: only additions, products and fused
 * multiply-adds of doubles, without libm. */
#ifndef INGOT_RUNTIME_NATURAL_LOG_H
#define INGOT_RUNTIME_NATURAL_LOG_H

#define LN2_HI 0x1.62e42fefap-1 /* 36 bits: n * LN2_HI is exact for |n| < 2^16 */
#define LN2_LO 0x1.cf79abc9e3b3ap-40

/* ln x, x > 0 normal. */
double natural_log(double x);

#endif
