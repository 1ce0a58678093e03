/* Decimal numbers as JSON writes them. The characters are the same on every machine, because
 * only additions, multiplications and divisions of doubles are used. */
#ifndef INGOT_RUNTIME_FORMAT_FLOAT_H
#define INGOT_RUNTIME_FORMAT_FLOAT_H

#include "runtime/text/format_text.h"

/* Write nine significant digits, which identify every f32: "-1.23456789e-3". "0" for both zeros,
 * "null" for NaN and infinity. Returns buffer. */
const char *format_float(char buffer[FORMAT_NUMBER_BYTES], float x);

/* Write four digits after the point: "-0.0123"; "null" for NaN, and for numbers of 10^9 or more.
 * Returns buffer. */
const char *format_fixed(char buffer[FORMAT_NUMBER_BYTES], double x);

#endif
