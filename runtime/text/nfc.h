/* Unicode normalization form C, in one pass and without work memory. Source: Unicode
 * Standard Annex 15, and chapter 3.12 of the standard for Hangul. */
#ifndef INGOT_RUNTIME_NFC_H
#define INGOT_RUNTIME_NFC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NFC_MOST_MARKS: the most marks of a character that are sorted together; after so many marks, a
 * new sequence begins. */
enum {
    NFC_MOST_MARKS = 63,
    NFC_MOST_GROWTH = 3 /* most bytes of the result for one byte of the
                                                 * text */
};

/* Return false only if the text (n bytes) is certainly in form C. */
bool nfc_may_change(const uint8_t *text, size_t n);

/* Write the text's form C to out (room bytes). Returns the bytes written, or SIZE_MAX if room is
 * too small. `out` may begin in front of the text and overlap it: only bytes that have been read
 * are overwritten. Bytes that are not UTF-8 stay, and nothing is composed across them. */
size_t nfc_normalize(const uint8_t *text, size_t n, uint8_t *out, size_t room);

#endif
