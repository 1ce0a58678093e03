/* Logarithms that are the same on every machine: only +, -, *, / and fma of doubles, not log() of
 * libm. */
#ifndef INGOT_RUNTIME_NATURAL_LOG_H
#define INGOT_RUNTIME_NATURAL_LOG_H

#define LN2_HI 0x1.62e42fefap-1 /* 36 bits: n * LN2_HI is exact for |n| < 2^16 */
#define LN2_LO 0x1.cf79abc9e3b3ap-40

/* Return ln x of a normal number x > 0. */
double natural_log(double x);

#endif
