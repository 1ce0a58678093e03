/* Bytes as text: base64 (RFC 4648, section 4), padded, without line breaks. */
#ifndef INGOT_RUNTIME_BASE64_H
#define INGOT_RUNTIME_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the number of characters for n bytes, without a NUL. */
static inline size_t base64_length(size_t n)
{
    return (n + 2) / 3 * 4;
}

/* Write the base64 text of n bytes to out (base64_length(n)). */
void base64_put(char *out, const uint8_t *bytes, size_t n);

/* Decode a text of `length` characters to *n bytes at out (most). Return false if the text is not
 * base64, or if the bytes do not fit; out may have changed. */
bool base64_get(uint8_t *out, size_t most, const char *text, size_t length, size_t *n);

#endif
