/* Numbers with a point as JSON writes them. The same characters on every machine: additions,
 * multiplications and divisions of doubles alone. */
#ifndef INGOT_RUNTIME_FORMAT_FLOAT_H
#define INGOT_RUNTIME_FORMAT_FLOAT_H

#include "runtime/text/format_text.h"

/* Nine significant digits, which give every f32 back: "-1.23456789e-3". "0" for both zeros,
 * "null" for NaN and infinity. Returns buffer. */
const char *format_float(char buffer[FORMAT_NUMBER_BYTES], float x);

/* Four digits behind the point: "-0.0123"; "null" for what is not a number, or not below 10^9.
 * Returns buffer. */
const char *format_fixed(char buffer[FORMAT_NUMBER_BYTES], double x);

#endif
