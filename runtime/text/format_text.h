/* Format integers and strings into fixed buffers, without allocation, locks or floating point.
 * newlib's printf family does not guarantee this. */
#ifndef INGOT_RUNTIME_FORMAT_TEXT_H
#define INGOT_RUNTIME_FORMAT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Works like snprintf. It knows the flags - and 0, width and .precision (numbers or *), the lengths
 * h hh l ll z t, and the conversions d i u x X c s p %. An unknown conversion is copied unchanged.
 * Returns the length that the whole text has; buffer (bytes) holds the part that fits and is always
 * terminated when bytes > 0. */
__attribute__((format(printf, 3, 4))) size_t format_text(char *buffer, size_t bytes,
                                                         const char *format, ...);
/* As format_text, for one line: in the texts of %s and %c, which may be any names, characters
 * that a name must not have (shown_text.h) become U+FFFD. Only the format itself can end a line. */
__attribute__((format(printf, 3, 0))) size_t format_line_args(char *buffer, size_t bytes,
                                                              const char *format, va_list list);

__attribute__((format(printf, 3, 0))) size_t format_text_args(char *buffer, size_t bytes,
                                                              const char *format, va_list args);

enum { FORMAT_NUMBER_BYTES = 32 }; /* buffer size for every function below, with the NUL */

/* Write a number in thousandths as text with 0 to 3 decimals, rounded half up: (12345, 2) gives
 * "12.35". Returns buffer, so that it can stand in an argument list. */
const char *format_milli(char buffer[FORMAT_NUMBER_BYTES], uint64_t milli, unsigned decimals);

/* Write a / b with up to 2 decimals, rounded half up, or with 3 decimals, cut off; "-" if b is
 * 0. */
const char *format_ratio(char buffer[FORMAT_NUMBER_BYTES], uint64_t a, uint64_t b,
                         unsigned decimals);

/* Write a size for people: "512 B", "12.0 KiB", "1.46 GiB". */
const char *format_bytes(char buffer[FORMAT_NUMBER_BYTES], uint64_t bytes);

#endif
